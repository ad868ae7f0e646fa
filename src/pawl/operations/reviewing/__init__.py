"""What a reviewer and CI are told: differences, bumps, lint, suites, and what channels would say."""
