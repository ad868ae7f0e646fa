"""The ledger, and the run that agents hold."""
