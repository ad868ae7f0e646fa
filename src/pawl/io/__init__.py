"""Strict YAML and JSON, atomic files and locks, Git: the only doors to the outside."""
