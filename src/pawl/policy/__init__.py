"""Rules, their expressions, the one evaluator, and verdicts."""
