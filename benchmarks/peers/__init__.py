"""Peers: what people would use instead, each in a virtual environment of its own."""
