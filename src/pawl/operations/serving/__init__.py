"""What agents and their runs are given."""
