"""What the YAML parser complains about, in words that say what to do."""

from __future__ import annotations

from typing import Any

from pawl.io.text import LocatedFault

_QUOTE = "put the text in quotes"
_TAB = ("tab-indent", "a tab is used as indentation: use spaces", None)
_COLON = (
    "unquoted-colon",
    "this colon starts a mapping where none can stand: quote the text around it, or mend the indentation",
    _QUOTE,
)
_KNOWN: dict[str, tuple[str, str, str | None]] = {
    "mapping values are not allowed in this context": _COLON,
    "found unexpected ':'": _COLON,
    "found a tab character that violates indentation": _TAB,
    "found a tab character where an indentation space is expected": _TAB,
    "found undefined tag handle": ("tag", "tags are refused: the type follows from how a value is written", None),
    "could not find expected ':'": ("yaml-syntax", "this is no `key: value` line", None),
    "did not find expected key": (
        "yaml-syntax",
        "a key of the mapping was expected here: look at the indentation and the quotes of this line",
        None,
    ),
    "did not find expected ',' or ']'": ("yaml-syntax", "a , or ] was expected here", None),
    "did not find expected ',' or '}'": ("yaml-syntax", "a , or } was expected here", None),
    "did not find expected '-' indicator": ("yaml-syntax", "an item of the list (- ) was expected here", None),
    "block sequence entries are not allowed in this context": (
        "yaml-syntax",
        "a list item (- ) cannot stand here: begin the list on a line of its own",
        None,
    ),
    "did not find expected <document start>": ("yaml-syntax", "there is text after the end of the document", None),
    "found unknown escape character": (
        "yaml-syntax",
        "this escape is unknown to YAML: double the backslash or use single quotes",
        None,
    ),
    "found invalid Unicode character escape code": (
        "yaml-syntax",
        "this escape is no character: surrogates are refused, write the character itself or \\U and 8 digits",
        None,
    ),
}
_FROM_CONTEXT = frozenset({"could not find expected ':'", "found unexpected end of stream"})
"""Problems that the parser sees late: the place to look at is where the thing began."""


def syntax_fault(error: Any, text: str) -> LocatedFault:
    """Return the fault for an exception of the parser over ``text``."""
    problem = str(getattr(error, "problem", None) or error).partition("\n")[0]
    mark = getattr(error, "problem_mark", None)
    opened = getattr(error, "context_mark", None)
    if problem in _FROM_CONTEXT and opened is not None:
        mark = opened
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    code, message, hint = _explain(problem, _character(text, line, column))
    if problem.startswith("did not find expected ',' or") and opened is not None and opened.line + 1 != line:
        message += f" (opened on line {opened.line + 1}, column {opened.column + 1})"
    return LocatedFault(code=code, message=message, line=line, column=column, hint=hint)


def _explain(problem: str, character: str) -> tuple[str, str, str | None]:
    if problem == "found character that cannot start any token":
        if character == "\t":
            return _TAB
        return "yaml-syntax", f"unquoted text cannot begin with {character or 'this character'}", _QUOTE
    if problem == "found unexpected end of stream":
        return "yaml-syntax", "the quoted text that begins here is never closed", None
    return _KNOWN.get(problem) or ("yaml-syntax", f"this is no YAML: {problem[:200]}", None)


def _character(text: str, line: int, column: int) -> str:
    lines = text.split("\n", line)
    return lines[line - 1][column - 1 : column] if len(lines) >= line else ""
