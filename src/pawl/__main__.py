"""``python -m pawl``."""

from pawl.cli.main import run

run()
