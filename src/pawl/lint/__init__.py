"""Lint: what reads well and will still fail or disappoint where it is used: at a vendor, in a host, before a model."""
