"""Benchmarks of pawl against what the same work costs without it; ``python -m benchmarks list``."""
