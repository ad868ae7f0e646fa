"""Formats that others use: importers, pure; what cannot be kept is refused by name or listed, never dropped."""
