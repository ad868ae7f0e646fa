"""One answer on version numbers, whoever is asked: check, diff, publish and bump."""

from __future__ import annotations

from typing import Any

import pytest

from support import Shop, git, in_process

NAME = "shop/find"
FILE = f"procedures/{NAME}.yaml"
TOP = "999999999.0.0"
TOOL = """\
kind: tool
name: shop/find
version: {version}
summary: Finds articles.
owner: shop
spec:
  description: Finds.
  inputSchema: {{type: object, properties: {{{properties}}}, required: [word]}}
  effects: []
"""
WORD = "word: {type: string}"
SHORT = "word: {type: string, maxLength: 9}"
PAGE = f"{WORD}, page: {{type: integer}}"
LIMIT = f"{PAGE}, limit: {{type: integer}}"
COLOUR = f"{WORD}, colour: {{type: string}}"


def put(shop: Shop, version: str, properties: str = WORD) -> None:
    shop.write(FILE, TOOL.format(version=version, properties=properties))


def published(shop: Shop, *versions: tuple[str, str]) -> None:
    for version, properties in versions:
        put(shop, version, properties)
        shop.pawl("publish", NAME)


def row_of(answer: dict[str, Any]) -> dict[str, Any]:
    (row,) = [row for row in answer["changes"] if row["name"] == NAME]
    return dict(row)


def codes_of(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return code and severity of what is said of the number."""
    wanted = {"bump-too-small", "version-not-higher", "version-reused", "version-below-published"}
    return [(row["code"], row["severity"]) for row in answer["problems"] if row["code"] in wanted]


ONE = [("1.0.0", WORD)]
TWO = [("1.0.0", WORD), ("1.2.0", PAGE)]
SAID: list[tuple[str, list[tuple[str, str]], str, str, str | None, bool, list[str]]] = [
    # what it is, what is published, the number and content in the file, the lowest number, whether it is enough, codes
    ("a later one is out and lacks what is new", TWO, "1.1.0", COLOUR, "2.0.0", False, ["bump-too-small"]),
    ("a later one is out and has it", [*ONE, ("1.4.0", LIMIT)], "1.2.0", PAGE, "1.1.0", True, []),
    ("only a later one is out", [("1.2.0", WORD)], "1.1.0", PAGE, "1.3.0", False, ["bump-too-small", "below"]),
    ("too little", ONE, "1.0.1", PAGE, "1.1.0", False, ["bump-too-small"]),
    ("enough", ONE, "1.7.0", PAGE, "1.1.0", True, []),
    ("the lowest is taken", [*ONE, ("2.0.0", PAGE)], "1.0.1", SHORT, "3.0.0", False, ["bump-too-small"]),
    ("a pre-release of what is out", TWO, "1.2.0rc1", LIMIT, "1.3.0", False, ["version-not-higher"]),
    ("a pre-release", TWO, "1.3.0rc1", LIMIT, "1.3.0", True, []),
    ("below everything", [("2.0.0", WORD)], "0.9.0", SHORT, None, True, ["below"]),
    ("the top of the range", [(TOP, WORD)], "999999999.0.1", SHORT, None, False, ["bump-too-small"]),
    ("the top of one part", [("1.999999999.0", WORD)], "1.999999999.1", PAGE, "2.0.0", False, ["bump-too-small"]),
]


@pytest.mark.parametrize(
    ("out", "version", "content", "smallest", "enough", "codes"), [case[1:] for case in SAID], ids=[c[0] for c in SAID]
)
def test_everybody_says_the_same(
    plain_shop: Shop,
    out: list[tuple[str, str]],
    version: str,
    content: str,
    smallest: str | None,
    enough: bool,
    codes: list[str],
) -> None:
    published(plain_shop, *out)
    put(plain_shop, version, content)
    code = 0 if enough else 1
    checked = plain_shop.pawl("check", code=code)
    one = plain_shop.pawl("diff", NAME)
    (of_all,) = [row for row in plain_shop.pawl("diff")["procedures"] if row["name"] == NAME]
    numbers = [(row["required"], row["smallest"], row["enough"]) for row in (one, of_all)]
    row = row_of(checked)
    assert numbers == [(one["required"], smallest, enough)] * 2
    assert (row["smallest"], row["enough"]) == (smallest, enough)
    assert one["required"] == row["required"] != "none"
    told = [code.replace("version-below-published", "below") for code, _ in codes_of(checked)]
    assert told == codes
    if not enough and smallest:
        (problem, *_) = [row for row in checked["problems"] if row["code"] == codes[0]]
        command = problem["hint"].split("pawl ")[1].split(" sets")[0].split()
        assert f"the lowest right version is {smallest}: pawl bump {NAME}" in problem["hint"]
        assert plain_shop.pawl(*command)["to"] == smallest
        assert codes_of(plain_shop.pawl("check")) == []
    assert plain_shop.pawl("publish", NAME, code=code if smallest is None else 0)["status"] != "unchanged"


def test_below_everything_is_told_and_done(plain_shop: Shop) -> None:
    published(plain_shop, ("1.0.0", WORD))
    put(plain_shop, "0.9.0", SHORT)
    for words in (("check",), ("diff", NAME), ("diff",), ("publish", "--dry-run"), ("publish",)):
        answer = plain_shop.pawl(*words)
        (problem,) = [row for row in answer["problems"] if row["code"] == "version-below-published"]
        assert (problem["severity"], problem["path"], problem["line"]) == ("warning", FILE, 3)
        assert f"pawl bump {NAME} --to 2.0.0" in problem["hint"]
    assert plain_shop.codes(plain_shop.pawl("check"), "warning").count("version-below-published") == 0
    put(plain_shop, "0.9.1", SHORT)
    assert codes_of(plain_shop.pawl("check")) == []  # it follows 0.9.0


def test_at_the_top_of_the_range_everybody_says_so(plain_shop: Shop) -> None:
    published(plain_shop, (TOP, WORD))
    put(plain_shop, "999999999.0.1", SHORT)
    plain_shop.write("procedures/broken.yaml", "kind: tool\nkind: tool\n")
    checked = plain_shop.pawl("check", code=1)
    assert plain_shop.codes(checked) == ["duplicate-key", "bump-too-small"]
    assert "no number is left, since none is above 999999999" in str(checked["problems"])
    (plain_shop.root / "procedures/broken.yaml").unlink()
    assert plain_shop.codes(plain_shop.pawl("publish", code=1)) == ["bump-too-small"]
    before = plain_shop.read(FILE)
    for words in ((), ("--part", "major")):
        assert plain_shop.codes(plain_shop.pawl("bump", NAME, *words, code=1)) == ["bump-too-small"]
    assert before == plain_shop.read(FILE)
    text = in_process("-C", str(plain_shop.root), "diff", NAME).out
    assert "required: major, and no higher number is left: 999999999.0.1 is too low" in text


def test_no_old_content_comes_back_where_no_number_is_left_for_it(plain_shop: Shop) -> None:
    plain_shop.adopt()
    published(plain_shop, ("999999998.0.0", SHORT), (TOP, PAGE))
    before = plain_shop.read(FILE)
    answer = plain_shop.pawl("fix-forward", f"{NAME}@999999998.0.0", code=1)
    assert (plain_shop.codes(answer), plain_shop.read(FILE)) == (["bump-too-small"], before)


@pytest.mark.parametrize("version", ["999999999999.0.0", "1.0.1rc99999999999999999"])
def test_a_number_that_is_too_long_is_told_how_long_it_can_be(plain_shop: Shop, version: str) -> None:
    put(plain_shop, version)
    assert "at most 9 digits" in str(plain_shop.pawl("check", code=1)["problems"])
    put(plain_shop, "1.0.0")
    assert "at most 9 digits" in str(plain_shop.pawl("bump", NAME, "--to", version, code=2)["problems"])


@pytest.mark.parametrize(
    ("words", "set_to", "told"),
    [
        (("--to", "1.2.5"), "1.2.5", ["bump-too-small"]),
        (("--part", "minor"), "1.3.0", ["bump-too-small"]),
        (("--to", "1.1.0"), "1.1.0", ["version-below-published"]),
        (("--to", "0.5.0"), "0.5.0", ["version-below-published"]),
        (("--to", "1.2.0rc1"), "1.2.0rc1", ["version-not-higher"]),
        (("--to", "1.2.1"), "1.2.1", ["bump-too-small"]),
        (("--to", "2.0.0"), "2.0.0", []),
        (("--part", "major"), "2.0.0", []),
        (("--to", "7.0.0rc1"), "7.0.0rc1", []),
    ],
)
def test_a_number_that_was_asked_for_is_set_and_doubted(
    plain_shop: Shop, words: tuple[str, ...], set_to: str, told: list[str]
) -> None:
    published(plain_shop, ("1.2.0", WORD))
    put(plain_shop, "1.2.1", SHORT)
    answer = plain_shop.pawl("bump", NAME, *words)
    assert (answer["to"], codes_of(answer)) == (set_to, [(code, "warning") for code in told])
    assert f"version: {set_to}\n" in plain_shop.read(FILE)
    assert all("2.0.0" in problem["hint"] for problem in answer["problems"])
    assert all(problem["line"] == 3 for problem in answer["problems"])


def test_what_stays_is_said_to_stay(plain_shop: Shop) -> None:
    put(plain_shop, "1.0.1")
    ended = in_process("-C", str(plain_shop.root), "bump", NAME)
    assert (ended.code, ended.out) == (0, f"{FILE}: 1.0.1 stays\nunchanged\n")


@pytest.mark.parametrize(
    ("out", "version", "content", "smallest"),
    [
        ([("1.0.0", WORD)], "1.0.0", PAGE, "1.1.0"),
        ([("1.0.0", WORD)], "1.0.0", SHORT, "2.0.0"),
        ([("1.0.0", WORD), ("2.0.0", SHORT)], "1.0.0", PAGE, "1.1.0"),
        ([("1.0.0rc1", WORD)], "1.0.0rc1", SHORT, "1.0.0"),
    ],
)
def test_a_number_that_is_taken_leads_to_the_lowest_right_one(
    plain_shop: Shop, out: list[tuple[str, str]], version: str, content: str, smallest: str
) -> None:
    published(plain_shop, *out)
    put(plain_shop, version, content)
    row = plain_shop.pawl("diff", NAME)
    assert (row["smallest"], row["enough"]) == (smallest, False)
    (problem,) = [row for row in plain_shop.pawl("check", code=1)["problems"] if row["code"] == "version-reused"]
    assert f"the lowest right version is {smallest}: pawl bump {NAME}" in problem["hint"]
    command = problem["hint"].split("pawl ")[1].split(" sets")[0].split()
    assert plain_shop.pawl(*command)["to"] == smallest
    plain_shop.pawl("publish", NAME)


def test_a_number_that_is_taken_here_and_at_the_base_is_told_once(shop: Shop) -> None:
    """Both published it on their own, so their records differ."""
    git(shop.root, "checkout", "-q", "-b", "work")
    published(shop, ("1.0.0", WORD))
    git(shop.root, "checkout", "-q", "main")
    shop.pawl("publish", "support/refund-draft")
    published(shop, ("1.0.0", WORD))
    git(shop.root, "checkout", "-q", "work")
    put(shop, "1.0.0", PAGE)
    answer = shop.pawl("check", "--base", "main", code=1)
    assert codes_of(answer) == [("version-reused", "error")]


def test_the_number_is_judged_by_what_is_published_whatever_the_base_is(shop: Shop) -> None:
    published(shop, ("1.0.0", WORD))
    put(shop, "1.1.0", PAGE)
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "-m", "draft")
    put(shop, "1.1.0", LIMIT)
    row = shop.pawl("diff", NAME, "--base", "HEAD")
    assert (row["smallest"], row["enough"]) == ("1.1.0", True)
    put(shop, "1.1.0", SHORT)
    row = shop.pawl("diff", NAME, "--base", "HEAD")
    assert (row["smallest"], row["enough"]) == ("2.0.0", False)
