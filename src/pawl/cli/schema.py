"""pawl schema."""

from __future__ import annotations

import json
import sys

import click

from pawl.operations.schemas import SCHEMAS


@click.command("schema")
@click.argument("kind", type=click.Choice(sorted(SCHEMAS)))
def command(kind: str) -> None:
    """Print the JSON Schema of a kind of file, or of a command's JSON output, for editors and tests."""
    sys.stdout.write(json.dumps(SCHEMAS[kind](), indent=2) + "\n")
