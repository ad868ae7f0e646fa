"""What commands and the Python API do: read the workspace once, let the deciders decide, write the outcome."""
