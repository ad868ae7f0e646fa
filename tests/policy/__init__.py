"""Tests of pawl.policy."""
