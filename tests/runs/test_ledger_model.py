"""The ledger against the plainest model of one: lists in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pawl.errors import ConflictError, InvalidError, NotFoundError
from pawl.ids import Name, Ref, Version
from pawl.runs.ledger import Ledger
from pawl.runs.rows import RunStart, Use

NAMES = ("a", "b")
VERSIONS = ("1.0.0", "1.1.0")
ids = st.sampled_from(["r1", "r2", "r3"])
seconds = st.integers(0, 9)
pins = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VERSIONS))
acts = st.lists(
    st.one_of(
        st.tuples(st.just("start"), ids, seconds, pins),
        st.tuples(st.just("use"), ids, seconds, st.tuples(st.sampled_from(NAMES), st.sampled_from(VERSIONS))),
        st.tuples(st.just("end"), ids, seconds, st.sampled_from(["ok", "error"])),
    ),
    max_size=14,
)
window = st.one_of(st.none(), seconds)


class Model:
    """What a ledger says, without one."""

    def __init__(self) -> None:
        self.pins: dict[str, dict[str, str]] = {}
        self.started: dict[str, int] = {}
        self.uses: dict[str, list[tuple[int, str, str]]] = {}
        self.ended: dict[str, tuple[int, str]] = {}

    def act(self, act: str, run: str, at: int, what: object) -> str:
        if (act == "start") == (run in self.started):
            return "conflict" if act == "start" else "unknown"
        if act == "start":
            assert isinstance(what, dict)
            self.started[run], self.pins[run], self.uses[run] = at, what, []
        elif act == "end":
            assert isinstance(what, str)
            if self.ended.setdefault(run, (at, what))[1] != what:
                return "conflict"
        else:
            assert isinstance(what, tuple)
            if run in self.ended or self.pins[run].get(what[0]) != what[1]:
                return "conflict" if run in self.ended else "invalid"
            self.uses[run].append((at, *what))
        return "done"

    def affected(self, name: str, version: str, since: int, until: int) -> tuple[set[str], set[str]]:
        used = {
            run
            for run, uses in self.uses.items()
            if any(since <= at < until and (name, version) == what for at, *pair in uses for what in [tuple(pair)])
        }
        having = {run for run, pins in self.pins.items() if pins.get(name) == version}
        under_way = {run for run in having if self.started[run] < until and self.ended.get(run, (99, ""))[0] >= since}
        return used, under_way - used


def moment(second: int) -> str:
    return f"2026-03-01T00:00:0{second}Z"


def told(ledger: Ledger, act: str, run: str, at: int, what: object) -> str:
    try:
        if act == "start":
            assert isinstance(what, dict)
            pinned = {name: {"version": version, "digest": "d", "kind": "tool"} for name, version in what.items()}
            ledger.start(
                RunStart(
                    run_id=run,
                    channel="c",
                    serial=1,
                    snapshot="s",
                    policy=None,
                    pins=pinned,
                    agent="a",
                    session=None,
                    started_at=moment(at),
                )
            )
        elif act == "use":
            assert isinstance(what, tuple)
            ledger.use(run, Use(at=moment(at), kind="tool", name=what[0], version=what[1], digest="d"))
        else:
            ledger.end(run, str(what), moment(at))
    except NotFoundError:
        return "unknown"
    except ConflictError:
        return "conflict"
    except InvalidError:
        return "invalid"
    return "done"


@given(acts, st.sampled_from(NAMES), st.sampled_from(VERSIONS), window, window)
def test_the_ledger_says_what_the_model_says(
    told_acts: list[tuple[str, str, int, object]], name: str, version: str, since: int | None, until: int | None
) -> None:
    model = Model()
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "runs.db") as ledger:
        for act in told_acts:
            assert model.act(*act) == told(ledger, *act)
        rows = {run.run_id: run for run in ledger.runs()}
        assert {run: (moment(at), model.ended.get(run, (0, None))[1]) for run, at in model.started.items()} == {
            run: (row.started_at, row.outcome) for run, row in rows.items()
        }
        for run, uses in model.uses.items():
            assert uses == [(int(use.at[-2]), use.name, use.version) for use in ledger.uses(run)]
        found = ledger.affected(
            Ref(Name(name), Version(version)),
            since=None if since is None else moment(since),
            until=None if until is None else moment(until),
        )
        expected = model.affected(name, version, -1 if since is None else since, 99 if until is None else until)
        assert expected == ({run.run_id for run in found.used}, {run.run_id for run in found.pinned_only})
