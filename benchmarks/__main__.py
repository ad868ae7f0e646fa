"""``python -m benchmarks NAME [-o text|json] [--rounds N]``; ``python -m benchmarks list``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from benchmarks.harness import LEAST_ROUNDS, Disagreement, as_dict, as_text, measure
from benchmarks.listing import BENCHMARKS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark, or list them; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ratios of pawl to its floors.")
    parser.add_argument("name", choices=[*BENCHMARKS, "list"], metavar="NAME", help=f"{', '.join(BENCHMARKS)}, or list")
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
    parser.add_argument("--rounds", type=int, default=LEAST_ROUNDS, help=f"{LEAST_ROUNDS} at least")
    parser.add_argument("--tiny", action="store_true", help="sizes for a smoke test; the ratios say nothing")
    options = parser.parse_args(arguments)
    if options.rounds < LEAST_ROUNDS and not options.tiny:
        parser.error(f"--rounds: {LEAST_ROUNDS} at least, fewer say nothing")
    if options.name == "list":
        print(_list(options.output))
        return 0
    rounds = max(options.rounds, 1)
    try:
        outcomes = measure(BENCHMARKS[options.name], rounds=rounds, tiny=options.tiny)
    except Disagreement as error:
        parser.exit(1, f"benchmarks: {error}\n")
    if options.output == "json":
        print(json.dumps(as_dict(options.name, outcomes, rounds=rounds), indent=2))
    else:
        print(as_text(options.name, outcomes, rounds=rounds))
    return 0


def _list(output: str) -> str:
    if output == "json":
        rows = {name: {"about": item.about, "floor": item.floor} for name, item in BENCHMARKS.items()}
        return json.dumps({"benchmarks": rows}, indent=2)
    width = max(map(len, BENCHMARKS))
    return "\n".join(
        f"{name.ljust(width)}  {item.about}\n{' ' * width}  floor: {item.floor}" for name, item in BENCHMARKS.items()
    )


if __name__ == "__main__":
    raise SystemExit(main())
