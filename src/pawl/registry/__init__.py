"""Published versions, closures, channels and the snapshot: state as a fold over hash-chained journals."""
