"""Looking without changing anything: status, audit, history, versions, and whether all of it fits."""
