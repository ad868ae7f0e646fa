"""``python -m benchmarks NAME [-o text|json] [--rounds N] [--peers]``, and all, list, peers, ratchet, table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from benchmarks.harness import LEAST_ROUNDS, Disagreement, Scale, measure
from benchmarks.listing import BENCHMARKS, IN_RATCHET
from benchmarks.peers.install import install
from benchmarks.ratchet import bounds, held, set_bounds
from benchmarks.results import run_all, table, write_table
from benchmarks.showing import as_dict, as_text

_OTHERS = {
    "all": "run every benchmark, each in a process of its own",
    "list": "say what there is",
    "peers": "install the peers below .benchmarks/peers/",
    "ratchet": "small contests against the floor alone; 1 where a ratio is beyond its bound",
    "table": "the newest results as Markdown",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; return the exit code."""
    options = _parse(arguments)
    match options.name:
        case "list":
            return _list(options.output)
        case "peers":
            return _peers()
        case "all":
            return _all(options)
        case "ratchet":
            return _ratchet(write=options.write)
        case "table":
            return _table(write=options.write)
        case _:
            return _one(options)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Ratios of pawl to its floors, and to peers.",
        epilog="; ".join(f"{name}: {about}" for name, about in _OTHERS.items()),
    )
    names = [*BENCHMARKS, *_OTHERS]
    parser.add_argument("name", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
    parser.add_argument("--rounds", type=int, default=LEAST_ROUNDS, help=f"{LEAST_ROUNDS} at least")
    parser.add_argument("--peers", action="store_true", help="with the peers that are installed")
    parser.add_argument("--save", action="store_true", help="all: keep the results in benchmarks/results/")
    parser.add_argument("--write", action="store_true", help="table: into README.md; ratchet: bounds from now")
    parser.add_argument("--tiny", action="store_true", help="sizes for a smoke test; the ratios say nothing")
    parser.add_argument("--quick", action="store_true", help="the sizes of the ratchet")
    options = parser.parse_args(arguments)
    if options.rounds < LEAST_ROUNDS and not options.tiny:
        parser.error(f"--rounds: {LEAST_ROUNDS} at least, fewer say nothing")
    return options


def _one(options: argparse.Namespace) -> int:
    rounds = max(options.rounds, 1)
    scale: Scale = "tiny" if options.tiny else "quick" if options.quick else "full"
    try:
        outcomes, peers = measure(BENCHMARKS[options.name], rounds=rounds, scale=scale, peers=options.peers)
    except Disagreement as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    document = as_dict(options.name, outcomes, rounds=rounds, peers=peers)
    print(json.dumps(document, indent=2) if options.output == "json" else as_text(document))
    return 0


def _all(options: argparse.Namespace) -> int:
    words = ["--rounds", str(options.rounds)]
    words += [f"--{word}" for word in ("peers", "tiny", "quick") if getattr(options, word)]
    failed, outcomes = {}, []
    for name, outcome in run_all(iter(BENCHMARKS), words=words, save=options.save):
        if isinstance(outcome, str):
            failed[name] = outcome
            print(f"{name} failed: {outcome}", file=sys.stderr, flush=True)
        else:
            outcomes.append(outcome)
            if options.output == "text":
                print(as_text(outcome) + "\n", flush=True)
    if options.output == "json":
        print(json.dumps({"benchmarks": outcomes, "failed": failed}, indent=2))
    return 1 if failed else 0


def _list(output: str) -> int:
    if output == "json":
        rows = {name: {"about": item.about, "floor": item.floor} for name, item in BENCHMARKS.items()}
        print(json.dumps({"benchmarks": rows}, indent=2))
        return 0
    width = max(map(len, BENCHMARKS))
    for name, item in BENCHMARKS.items():
        print(f"{name.ljust(width)}  {item.about}\n{' ' * width}  floor: {item.floor}")
    return 0


def _peers() -> int:
    for peer, said in install():
        print(f"{peer}: {said}", flush=True)
    return 0


def _ratchet(*, write: bool) -> int:
    if write:
        set_bounds(BENCHMARKS, IN_RATCHET)
        return 0
    broken = 0
    for name, contest, ratio, bound, holds in held(BENCHMARKS, bounds()):
        broken += not holds
        print(f"{'ok    ' if holds else 'BROKEN'}  {ratio:8.3g}  bound {bound:<8g}  {name}: {contest}", flush=True)
    return 1 if broken else 0


def _table(*, write: bool) -> int:
    order = tuple(BENCHMARKS)
    if write:
        write_table(order)
    else:
        print(table(order))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
