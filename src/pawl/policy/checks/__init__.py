"""What the evaluator asks of every situation, beside and by way of the rules."""
