"""Suites, assertions, runners and evidence."""
