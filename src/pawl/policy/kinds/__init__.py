"""What a rule can demand, a module for each kind, and the table of all of them."""
