"""The long form: ``python -m tests.hostile --inputs 1000000 --jobs 2``; ``--again TARGET:SEED:INDEX`` for one input."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.engine import run_all, table, told
from hostile.table import input_of
from hostile.targets import TARGETS, plan_of


def main() -> int:
    """Run and return 1 where anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000, help="how many in all, shared out over the targets")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", default=[], choices=sorted(TARGETS))
    parser.add_argument("--again", metavar="TARGET:SEED:INDEX", help="make one input again and feed it")
    given = parser.parse_args()
    if given.again:
        name, seed, index = given.again.split(":")
        data = input_of(TARGETS[name], int(seed), int(index))
        sys.stdout.write(f"{data!r}\n")
        sys.stdout.write(f"taken: {TARGETS[name].call(data)}\n")
        return 0
    tallies = run_all(plan_of(given.inputs, tuple(given.target)), seed=given.seed, jobs=given.jobs)
    findings = [finding for row in tallies for finding in row.findings]
    sys.stdout.write(table(tallies, given.seed) + "\n")
    sys.stdout.writelines(f"\n{told(finding)}\n" for finding in findings)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
