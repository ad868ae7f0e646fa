"""The refund story: files that its author writes, and the commands that are typed between them."""
