"""Assertions: what a case expects, by type, and judging one against what was observed.

What an assertion looks at:

- ``accepted`` and ``rejected``: whether the inputs, the call or the recorded answer were taken. They have no value.
- ``outcome``, ``path``, ``trajectory:*``: how a workflow ended, the exact steps it took, the calls it made.
- all others look at the *subject*: the recorded ``answer`` of a prompt case, the result of a tool, the output of a
  workflow, or else the rendered messages of a prompt, their contents joined by one newline. ``role:`` keeps the
  messages of one role and ``message:`` then picks one by its place, from 0, or from -1 backwards. ``equals`` with a
  list looks at those messages as ``[{role, content}, ...]``. A text assertion sees a string as it is, and anything else
  as RFC 8785 JSON.

``not-`` turns a yes into a no and a no into a yes, and nothing else: where there is no subject, both forms fail, and
where the judge cannot tell, both are errored. Types that need a model, a person or foreign code are known and never
run: they are inconclusive, which is no pass. The names are promptfoo's where it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from pawl.conformance import matching, trajectory, values
from pawl.conformance.outcomes import Outcome
from pawl.conformance.plain import ABSENT, is_list, show

LooksAt: TypeAlias = Literal["verdict", "subject", "outcome", "path", "calls"]
NEGATION = "not-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One line of ``assert:``; ``type`` is without ``not-``."""

    type: str
    negated: bool = False
    value: Any = ABSENT
    threshold: float | None = None
    role: str | None = None
    message: int | None = None

    @property
    def name(self) -> str:
        """The type as written."""
        return NEGATION + self.type if self.negated else self.type

    def __str__(self) -> str:
        where = "".join(f" of {key} {chosen}" for key, chosen in self._selection())
        return self.name + where + ("" if self.value is ABSENT else f" {show(self.value, 80)}")

    def _selection(self) -> list[tuple[str, Any]]:
        chosen = (("role", self.role), ("message", self.message))
        return [(key, value) for key, value in chosen if value is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What a case showed. ``subject`` is absent where there is nothing to look at, and ``missing`` says why."""

    accepted: bool
    refusals: tuple[str, ...] = ()
    """Why it was not accepted."""
    subject: Any = ABSENT
    missing: str = "there is nothing to look at"
    messages: tuple[Mapping[str, Any], ...] | None = None
    """Rendered messages, where they are the subject."""
    outcome: str | None = None
    path: tuple[str, ...] | None = None
    calls: Sequence[trajectory.Made] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What became of one assertion; a reason wherever it is no pass."""

    outcome: Outcome
    reason: str | None = None


PASSED = Checked(outcome="passed")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionType:
    """One entry of ``ASSERTIONS``: what it looks at, what its value must be, and its predicate.

    The predicate takes what is wanted (with a threshold, the pair of both) and what was seen, and returns None where it
    holds, else why not.
    """

    looks_at: LooksAt
    value: Callable[[Any], str | None]
    holds: Callable[[Any, Any], str | None]
    takes_threshold: bool = False
    has_schema: bool = False


def _subject(
    value: Callable[[Any], str | None], holds: Callable[[Any, Any], str | None], *, has_schema: bool = False
) -> AssertionType:
    return AssertionType(looks_at="subject", value=value, holds=holds, has_schema=has_schema)


def _calls(value: Callable[[Any], str | None], holds: Callable[[Any, Any], str | None]) -> AssertionType:
    return AssertionType(looks_at="calls", value=value, holds=holds)


def _accepted(_: Any, seen: Observed) -> str | None:
    return None if seen.accepted else f"is refused: {'; '.join(seen.refusals)}"


def _rejected(_: Any, seen: Observed) -> str | None:
    return "is accepted" if seen.accepted else None


def _outcome(wanted: str, seen: str) -> str | None:
    return None if wanted == seen else f"ends as {show(seen)}"


def _path(wanted: Sequence[str], seen: tuple[str, ...]) -> str | None:
    return None if tuple(wanted) == seen else f"goes {' > '.join(seen[:64])}"


ASSERTIONS: Mapping[str, AssertionType] = MappingProxyType(
    {
        "accepted": AssertionType(looks_at="verdict", value=values.none, holds=_accepted),
        "rejected": AssertionType(looks_at="verdict", value=values.none, holds=_rejected),
        "outcome": AssertionType(looks_at="outcome", value=values.text, holds=_outcome),
        "path": AssertionType(looks_at="path", value=values.texts, holds=_path),
        "equals": _subject(values.given, matching.equals),
        "contains": _subject(values.text, matching.contains),
        "icontains": _subject(values.text, matching.icontains),
        "contains-all": _subject(values.texts, matching.all_of(matching.contains)),
        "contains-any": _subject(values.texts, matching.any_of(matching.contains)),
        "icontains-all": _subject(values.texts, matching.all_of(matching.icontains)),
        "icontains-any": _subject(values.texts, matching.any_of(matching.icontains)),
        "starts-with": _subject(values.text, matching.starts_with),
        "regex": _subject(values.pattern, matching.matches),
        "is-json": _subject(values.schema, matching.is_json, has_schema=True),
        "contains-json": _subject(values.schema, matching.contains_json, has_schema=True),
        "levenshtein": AssertionType(
            looks_at="subject", value=values.any_text, holds=matching.levenshtein, takes_threshold=True
        ),
        "word-count": _subject(values.count, matching.word_count),
        "trajectory:tool-used": _calls(values.text_or_texts, trajectory.tool_used),
        "trajectory:tool-sequence": _calls(values.sequence, trajectory.tool_sequence),
        "trajectory:tool-args-match": _calls(values.arguments, trajectory.tool_args_match),
        "trajectory:step-count": _calls(values.count, trajectory.step_count),
    }
)

_MODEL = "it needs a model to judge"
_PERSON = "it needs a person to judge"
_MEASURED = "it needs a measured model call"
_CODE = "pawl runs no code that stands in a suite"
_UNBUILT = "pawl does not judge this type"
NOT_RUN: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "similar", "llm-rubric", "g-eval", "factuality", "model-graded-closedqa", "model-graded-factuality",
                "answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "moderation",
                "classifier", "select-best",
            ),
            _MODEL,
        ),
        "human": _PERSON,
        **dict.fromkeys(("latency", "cost"), _MEASURED),
        **dict.fromkeys(("javascript", "python", "ruby", "webhook"), _CODE),
        **dict.fromkeys(
            ("is-xml", "contains-xml", "is-valid-function-call", "is-valid-openai-tools-call", "tool-call-f1"), _UNBUILT
        ),
    }
)  # fmt: skip
"""Types that are known and give ``inconclusive``, each with why."""


def split(name: str) -> tuple[str, bool]:
    """Return a type without ``not-``, and whether it had one."""
    bare = name.removeprefix(NEGATION)
    return bare, bare != name


def check(assertion: Assertion, observed: Observed) -> Checked:
    """Judge one assertion. Its type and value were checked when the suite was read."""
    if (why := NOT_RUN.get(assertion.type)) is not None:
        return Checked(outcome="inconclusive", reason=f"{assertion.name}: {why}")
    kind = ASSERTIONS[assertion.type]
    try:
        seen, missing = _seen(assertion, kind, observed)
        if missing is not None:
            return Checked(outcome="failed", reason=f"{assertion}: {missing}")
        why_not = kind.holds(_wanted(kind, assertion), seen)
    except matching.Undecided as error:
        return Checked(outcome="errored", reason=f"{assertion}: {error}")
    if (why_not is None) != assertion.negated:
        return PASSED
    return Checked(outcome="failed", reason=f"{assertion}: it {why_not or 'holds'}")


def _wanted(kind: AssertionType, assertion: Assertion) -> Any:
    if kind.takes_threshold:
        return assertion.value, assertion.threshold
    return None if assertion.value is ABSENT else assertion.value


def _seen(assertion: Assertion, kind: AssertionType, observed: Observed) -> tuple[Any, str | None]:
    if kind.looks_at == "verdict":
        return observed, None
    if not observed.accepted:
        return ABSENT, f"there is nothing to look at, it is refused: {'; '.join(observed.refusals)}"
    if kind.looks_at != "subject":
        found = {"outcome": observed.outcome, "path": observed.path, "calls": observed.calls}[kind.looks_at]
        return found, "only a workflow has one" if found is None else None
    if observed.messages is not None:
        return _of_messages(assertion, observed.messages)
    if assertion.role is not None or assertion.message is not None:
        return ABSENT, "role and message choose among rendered messages, and there are none"
    return observed.subject, observed.missing if observed.subject is ABSENT else None


def _of_messages(assertion: Assertion, messages: Sequence[Mapping[str, Any]]) -> tuple[Any, str | None]:
    chosen = [message for message in messages if assertion.role in (None, message["role"])]
    if assertion.message is not None:
        chosen = chosen[assertion.message :][:1] if -len(chosen) <= assertion.message else []
    if not chosen:
        return ABSENT, f"none of the {len(messages)} messages is chosen"
    if assertion.type == "equals" and is_list(assertion.value):
        return [{"role": message["role"], "content": message["content"]} for message in chosen], None
    return "\n".join(matching.text(message["content"]) for message in chosen), None
