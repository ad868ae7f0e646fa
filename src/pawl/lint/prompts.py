"""What disappoints in a prompt: text that some models refuse, text that nobody sees, text that changes by itself.

What can be told from the file alone is told for the file; ``rendered_faults`` tells the rest of each rendered case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pawl.lint.literal import blank_lines_of, literal_of
from pawl.problems import Fault, Place
from pawl.procedures.procedure import Procedure
from pawl.procedures.tokens import Counter
from pawl.procedures.words import listed

_BLANK = "a message of blanks only: some models refuse the whole request"
_TRAILING = "the last message is the assistant's and ends in white space: Anthropic refuses it"
_LOOKUP = re.compile(r"\{\{[ \t]*([^\W\d][\w-]*)[ \t]*[.\[|]")
_BLOCK = re.compile(r"\{%-?[ \t]*(?:if|elif|for [\w, ]{1,200} in)[ \t]+(?:not[ \t]+)?([^\W\d][\w-]*)")
_MESSAGES: Place = ("spec", "messages")
_BUDGET: Place = ("spec", "budget", "tokens")


def prompt_faults(prompt: Procedure, counters: Sequence[Counter]) -> Iterator[Fault]:
    """Yield what is found in the file of a prompt, beside what reading already warns of."""
    spec = prompt.spec
    kind = spec.get("template", "simple")
    declared = frozenset((spec.get("inputs") or {}).get("properties") or {})
    always: list[str] = []
    last = len(spec["messages"]) - 1
    for index, message in enumerate(spec["messages"]):
        content, at = message["content"], (*_MESSAGES, index, "content")
        fixed = literal_of(content, kind=kind, declared=declared)
        always.append(fixed.always)
        trailing = index == last and message["role"] == "assistant" and fixed.ends_blank
        if fixed.blank:
            yield Fault(code="prompt-blank-part", message=_BLANK, at=at, hint="take the message out")
        elif trailing:
            hint = "write the content with |- or in quotes"
            yield Fault(code="prompt-trailing-space", message=_TRAILING, at=at, hint=hint)
        if not fixed.blank:
            yield from _trailing_blanks(content.rstrip() if trailing else content, at)
        if kind == "simple":
            yield from _foreign_syntax(content, declared, at)
    for count in _over_budget(spec, always, counters):
        message = f"the fixed text alone has {count}: no input fits"
        yield Fault(code="prompt-budget", message=message, at=_BUDGET)


def rendered_faults(
    messages: Sequence[Mapping[str, str]], spec: Mapping[str, Any], counters: Sequence[Counter] = ()
) -> tuple[Fault, ...]:
    """Return what is wrong with messages as they were rendered, with places in the prompt's document.

    ``counters`` are those that rendering itself does not hold the budget by.
    """
    texts = [message["content"] for message in messages]
    over = _over_budget(spec, texts, counters)
    found = [Fault(code="prompt-budget", message=f"the messages have {count}", at=_BUDGET) for count in over]
    for index, message in enumerate(messages):
        at = (*_MESSAGES, index, "content")
        if not message["content"].strip():
            found.append(Fault(code="prompt-blank-part", message=_BLANK, at=at))
        elif index == len(messages) - 1 and message["role"] == "assistant" and message["content"][-1].isspace():
            found.append(Fault(code="prompt-trailing-space", message=_TRAILING, at=at))
    return tuple(found)


def _trailing_blanks(content: str, at: Place) -> Iterator[Fault]:
    lines = list(blank_lines_of(content))
    if lines:
        which = f"line {lines[0]}" if len(lines) == 1 else f"lines {listed(map(str, lines), most=6)}"
        message = f"{which} of this text end{'s' if len(lines) == 1 else ''} in blanks: an editor that takes them away"
        message += " changes the prompt unseen"
        yield Fault(code="prompt-trailing-blank", message=message, at=at, severity="warning")


def _foreign_syntax(content: str, declared: frozenset[str], at: Place) -> Iterator[Fault]:
    """``{{ order.id }}`` and ``{% if order %}`` of a declared input stay as they are, which nobody means."""
    names = [match.group(1) for pattern in (_LOOKUP, _BLOCK) for match in pattern.finditer(content)]
    for name in sorted(declared.intersection(names)):
        message = f"the input {name} stands in what template: simple does not read, and stays as it is"
        hint = "write {{ NAME }} alone, or say template: jinja2"
        yield Fault(code="prompt-placeholder-unknown", message=message, at=at, severity="warning", hint=hint)


def _over_budget(spec: Mapping[str, Any], texts: Sequence[str], counters: Sequence[Counter]) -> Iterator[str]:
    """Yield in words by how much texts are over the budget, by the first counter that finds them so."""
    most = (spec.get("budget") or {}).get("tokens")
    if most is None:
        return
    for counter in counters:
        count = counter.total(texts)
        if count.tokens > most:
            how = "estimated" if count.method == "estimate" else f"counted with {count.encoding}"
            yield f"{count.tokens} tokens ({how}), and the budget is {most}"
            return
