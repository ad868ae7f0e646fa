"""The floor of ``test``: a plain Python process that reads the same YAML with libyaml and does the same checks.

``python cases_by_hand.py PROCEDURE SUITE...`` prints how many cases passed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
from ruamel.yaml import YAML


def main(procedure: str, *suites: str) -> int:
    """Render the prompt for every case, hold it against the assertions, and return how many passed."""
    yaml = YAML(typ="safe", pure=False)
    spec = yaml.load(Path(procedure).read_text(encoding="utf-8"))["spec"]
    validator = jsonschema_rs.Draft202012Validator(spec["inputs"])
    passed = 0
    for suite in suites:
        for case in yaml.load(Path(suite).read_text(encoding="utf-8"))["cases"]:
            if validator.is_valid(case["inputs"]):
                text = "\n".join(_filled(message["content"], case["inputs"]) for message in spec["messages"])
                passed += all(_holds(assertion, text) for assertion in case["assert"])
    return passed


def _filled(text: str, inputs: dict[str, Any]) -> str:
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: str(inputs[found[1]]), text)


def _holds(assertion: dict[str, str], text: str) -> bool:
    if assertion["type"] == "icontains":
        return assertion["value"].lower() in text.lower()
    return assertion["value"] in text


if __name__ == "__main__":
    print(f"{main(*sys.argv[1:])} passed")
