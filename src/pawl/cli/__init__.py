"""The command line: one module per verb, which parses, calls one function and shows the result."""
