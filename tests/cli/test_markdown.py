"""The summary for a pull request: what it says, that nothing in files can forge it, and that it fits a comment."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.reports_data import change, channel, data, problem, report, row, suite, tally
from pawl.cli.markdown import MAX_COMMENT, code, markdown, prose
from pawl.operations.session import Report
from support import Shop, in_process

CASES = "6 cases: 5 passed, 1 failed, 0 errored, 0 skipped, 0 inconclusive."
PLACE = "`procedures/support/refund.yaml:3`"
WHY = r"rule `REF-1`: every refund checks eligibility (no step calls it)"
REASON = r"calls without \`reason\` are refused"


def test_everything_is_there() -> None:
    user = {"channel": "staging", "kind": "workflow", "ref": "a@1.0.0", "requires": ">=1,<2", "through": []}
    changes = [
        change(),
        change(code="message-text", level="patch", breaks=[], path="/spec/messages/0/content", old="a b", new="a c"),
    ]
    shown = markdown(
        "check",
        report(
            problem(severity="warning", code="owner-missing", message="owner is not given", hint=None),
            problem(),
            changes=[row(changes=changes, used_by=[{**user, "still_met": False}])],
        ),
    )
    assert shown.splitlines() == [
        "### pawl check: failed (exit 1)",
        "",
        f"{CASES} 1 error, 1 warning. Compared with `origin/main` (`111111111111`).",
        "",
        "#### Changes",
        "",
        "| procedure | from | to | required | enough |",
        "|---|---|---|---|---|",
        "| `support/refund` | `1.0.0` | `1.1.0` | major | **no**, the lowest is `2.0.0` |",
        "",
        "#### Suites",
        "",
        "| suite | about | outcome | passed | failed | errored | skipped | inconclusive | total |",
        "|---|---|---|---|---|---|---|---|---|",
        "| `refund` | `support/refund@1.1.0` | **failed** | 2 | 1 | 0 | 0 | 0 | 3 |",
        "| `draft` | `support/draft@1.1.0` | passed | 3 | 0 | 0 | 0 | 0 | 3 |",
        "",
        "#### Policy",
        "",
        "| channel | policy | verdict | of | because |",
        "|---|---|---|---|---|",
        f"| `production` | 2 | **refused** (exit 3) | `support/refund@1.1.0` | {WHY} `rule-failed` |",
        "",
        "#### What promotion would need",
        "",
        "- `production`: publish support/refund@1.1.0: pawl publish",
        "",
        "#### Problems",
        "",
        "|  | where | what | code |",
        "|---|---|---|---|",
        f"| **error** | {PLACE} | it promises too little<br>next: pawl bump support/refund | `bump-too-small` |",
        f"| warning | {PLACE} | owner is not given | `owner-missing` |",
        "",
        "<details>",
        "<summary><code>support/refund</code>: major, 2 changes</summary>",
        "",
        f"- **major** `property-required` `/spec/inputs/required`: {REASON} (breaks callers)",
        f"- **patch** `message-text` `/spec/messages/0/content`: {REASON}",
        "",
        "`/spec/messages/0/content`",
        "",
        "```diff",
        "@@ line 1",
        "- a [-b-]",
        "+ a {+c+}",
        "```",
        "",
        "- used by `a@1.0.0` on `staging`, requires `>=1,<2`, **which the new version is outside of**",
        "",
        "</details>",
    ]


NOTHING = Report(status="passed", data=data(suites=[], changes=[], channels=[]))


@pytest.mark.parametrize(
    ("given_report", "title"),
    [
        (report(passed=True, suites=[suite(passed=1)]), "passed"),
        (report(problem()), "failed (exit 1)"),
        (NOTHING, "nothing was tested, which is no pass"),
        (Report(status="unchanged", data={"tally": tally()}), "nothing was tested, which is no pass"),
        (Report(status="failed", exit_code=6, problems=(problem(),)), "failed (exit 6)"),
        (report(problem(), suites=[]), "failed (exit 1)"),
    ],
)
def test_nothing_tested_is_never_a_pass(given_report: Report, title: str) -> None:
    shown = markdown("check", given_report)
    assert shown.startswith(f"### pawl check: {title}\n")
    untested = not given_report.data.get("tally", {}).get("total")
    assert ("**Nothing was tested, and nothing is no pass.**" in shown) == untested


@pytest.mark.parametrize(
    ("more", "cells"),
    [
        ({"state": "added", "from": None, "required": "none", "enough": True}, "new | `1.1.0` | none | yes"),
        ({"state": "removed", "to": None, "required": "none", "enough": True}, "`1.0.0` | removed | none |"),
        ({"enough": None}, "`1.0.0` | `1.1.0` | major |"),
        ({"enough": True, "required": "patch"}, "`1.0.0` | `1.1.0` | patch | yes"),
        ({"smallest": None}, "`1.0.0` | `1.1.0` | major | **no**"),
    ],
)  # fmt: skip
def test_rows_of_changes(more: dict[str, Any], cells: str) -> None:
    assert f"| `support/refund` | {cells}" in markdown("check", report(changes=[row(**more)]))


HOSTILE = (
    "@everyone",
    "cc:@ada",
    "#123 and o/r#5",
    "GH-77",
    "https://evil.example/x",
    "www.evil.example",
    "</details><h1>passed</h1>",
    "<img src=x onerror=alert(1)>",
    "| a | b |\n|---|---|",
    "a\\|b",
    "\\",
    "`` ` ```",
    "**passed**",
    "[x](https://evil.example)",
    "![x](y)",
    "$x^2$",
    "a\n\n### pawl check: passed",
    "```\n# out",
    "\x1b[31m\u202e",
    "&lt;b&gt; &#64;ada",
    " ",
    "~~gone~~ __init__",
)


def everywhere(text: str) -> Report:
    """Return a report that holds a text in every place that comes from files."""
    finding = {"status": "failed", "code": "rule-failed", "rule": text, "message": text, "differs": text}
    user = {"channel": text, "kind": "workflow", "ref": text, "requires": text, "through": [], "still_met": False}
    return report(
        problem(message=text, path=text, hint=text, rule=text),
        base={"ref": text, "commit": "1" * 40},
        suites=[{**suite(failed=1), "suite": text, "about": text}],
        channels=[channel(channel=text, refs=[text], findings=[finding], needs=[text])],
        changes=[
            row(
                name=text,
                changes=[
                    change(path=text, reason=text),
                    change(code="message-text", path=text, reason=text, old=text, new=f"{text}\n{text} x"),
                ],
                used_by=[user],
            )
        ],
    )


def structure(text: str) -> list[str]:
    """Return the kinds of everything in a page as Markdown reads it; texts, and what only they can make, left out."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False}).enable("table")
    return [
        inner.type + inner.tag + (inner.content if inner.type.startswith("html") else "")
        for token in parser.parse(text)
        for inner in (token.children if token.type == "inline" else [token])
        if inner.type != "text"
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_changes_what_the_page_is_made_of(text: str) -> None:
    found = [kind for kind in structure(markdown("check", everywhere(text))) if "summary" not in kind]
    plain = [kind for kind in structure(markdown("check", everywhere("plain"))) if "summary" not in kind]
    if not text.strip():  # what is empty is said in words and not in a code span
        found, plain = ([kind for kind in kinds if kind != "code_inlinecode"] for kinds in (found, plain))
    assert found == plain


@given(st.text(alphabet="a1@#|`\\<>&*_[]()~$:/-.wWgG \n\t{}!\"'", min_size=1, max_size=40))
def test_random_texts_change_nothing_either(text: str) -> None:
    test_no_text_changes_what_the_page_is_made_of(text)


@given(st.text(alphabet="a1@#_ -/.:gGhHwW\n", max_size=30))
def test_prose_mentions_nobody_and_links_nothing(text: str) -> None:
    shown = prose(text).replace("\\", "").replace("&#8203;", "\u200b")
    assert not re.search(r"(^|[^A-Za-z0-9])@[a-z0-9]", shown)
    assert not re.search(r"#[0-9]", shown)
    assert not re.search(r"(?i)\bgh-[0-9]|://|\bwww\.", shown)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a@1.0.0", "`a@1.0.0`"),
        ("`", "`` ` ``"),
        ("a``b`", "``` a``b` ```"),
        ("a\nb", "`a\\nb`"),
        ("", "(nothing)"),
        (" x", "`  x `"),
    ],
)
def test_code_spans(text: str, expected: str) -> None:
    assert code(text) == expected


@pytest.mark.parametrize("text", ["x", "@#`|\\<" * 20])
def test_a_crowd_of_everything_fits_into_a_comment(text: str) -> None:
    """Each part keeps its place however large the others are, and says what it leaves out."""
    texts = [change(code="message-text", path=text, old=text * 9, new=(text + "\n") * 99, reason=text)] * 5
    crowd = report(
        *[problem(message=text, path=f"{text}-{number}", severity="warning") for number in range(300)],
        problem(message="the one error", path=text),
        changes=[row(name=f"{text}-{number}", changes=[*[change(path=text)] * 90, *texts]) for number in range(60)],
        suites=[suite(f"{text}{number}", failed=1) for number in range(300)],
        channels=[channel(channel=text, needs=[text] * 90) for _ in range(90)],
    )
    shown = markdown("check", crowd)
    assert len(shown) <= MAX_COMMENT
    for heading in ("Changes", "Suites", "Policy", "What promotion would need", "Problems"):
        assert f"#### {heading}\n" in shown
    assert "the one error" in shown
    assert re.search(r"… and \d+ more problems", shown)
    assert re.search(r"\d+ sections did not fit into this comment", shown)
    assert shown.count("<details>") == shown.count("</details>")


def test_problems_are_fifty_at_most_errors_first() -> None:
    found = [problem(severity="warning", message=f"w{number}") for number in range(60)]
    shown = markdown("check", report(*found, problem(message="e1")))
    assert shown.count("| warning |") == 49
    assert shown.index("e1") < shown.index("w0")
    assert "… and 11 more problems" in shown


def test_of_a_real_run(shop: Shop) -> None:
    target = shop.root / "summary.md"
    assert in_process("-C", str(shop.root), "test", "-o", f"markdown={target}").code == 0
    shown = target.read_text(encoding="utf-8")
    assert shown.startswith("### pawl test: passed\n")
    assert "| `refund-draft` | `support/refund-draft@1.0.0` | passed |" in shown
