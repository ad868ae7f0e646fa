"""What people make: procedures, suites, version numbers, imports, and freezing them as versions."""
