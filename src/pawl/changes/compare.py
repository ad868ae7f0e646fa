"""Comparing two versions of a procedure: every change, and the bump that they require together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pawl.changes.document_rules import Report
from pawl.changes.every import compare_every
from pawl.changes.prompts import compare_prompts
from pawl.changes.tools import compare_tools
from pawl.changes.values import ABSENT, Comparison, Level, highest, same, sort_key
from pawl.changes.workflows import EffectsOf, compare_workflows

Document: TypeAlias = Mapping[str, Any]
Comparer: TypeAlias = Callable[[Report, Document, Document, EffectsOf | None], None]


def _tools(report: Report, old: Document, new: Document, _: EffectsOf | None) -> None:
    compare_tools(report, old["spec"], new["spec"])


def _prompts(report: Report, old: Document, new: Document, _: EffectsOf | None) -> None:
    compare_prompts(report, old["spec"], new["spec"])


def _workflows(report: Report, old: Document, new: Document, effects_of: EffectsOf | None) -> None:
    compare_workflows(report, old, new, effects_of=effects_of)


COMPARERS: Mapping[str, Comparer] = {"tool": _tools, "prompt": _prompts, "workflow": _workflows}


def compare(old: Document, new: Document, *, effects_of: EffectsOf | None = None) -> Comparison:
    """Compare two documents that were read and found valid.

    ``effects_of`` says what a required procedure touches, at the newest published version that a specifier allows;
    without it, and where it returns None, every effect is possible. ``Faulty`` for a schema that is none.
    """
    if same(old, new):
        return Comparison(required="none", changes=())
    report = Report()
    if old["kind"] != new["kind"]:
        report.add("kind-changed", ("kind",), old=old["kind"], new=new["kind"])
    elif old["kind"] in COMPARERS:
        compare_every(report, old, new)
        COMPARERS[old["kind"]](report, old, new, effects_of)
    else:
        report.add("undecided", ("spec",), name="spec", old=ABSENT, new=ABSENT)
    least: Level = "patch"
    required = highest((least, *(change.level for change in report.found)))
    return Comparison(required=required, changes=tuple(sorted(report.found, key=sort_key)))
