"""What changed between two versions of a procedure, and the bump that it requires."""
