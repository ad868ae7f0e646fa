"""Moving pins: judging, promoting, rolling back, the ways back, and why a verdict is what it is."""
