"""Plans as data, and applying a plan."""
