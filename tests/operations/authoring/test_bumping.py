"""Version numbers are held against what changed: in check, in publish, and by what bump sets."""

from __future__ import annotations

import pytest

from support import Shop

FILE = "procedures/shop/find.yaml"
TOOL = """\
kind: tool
name: shop/find  # the catalogue
version: {version}   # kept by bump
summary: Finds articles.
owner: shop
spec:
  description: {text}
  inputSchema:
    type: object
    properties: {{{properties}}}
    required: [word]
  effects: []
"""
WORD = "word: {type: string}"
PAGE = f"{WORD}, page: {{type: integer}}"
NEEDED = "word: {type: string}"
CHANGES = {
    "patch": ("Finds articles by a word.", WORD),
    "minor": ("Finds.", PAGE),
    "major": ("Finds.", "word: {type: string, maxLength: 9}"),
}
"""What is changed against the first version, by the bump that it requires."""


@pytest.fixture
def tools(plain_shop: Shop) -> Shop:
    plain_shop.reach(_published)
    return plain_shop


def _published(shop: Shop) -> None:
    shop.adopt()
    _write(shop, "1.2.0", "Finds.", WORD)
    shop.pawl("publish", "shop/find")


def _write(shop: Shop, version: str, text: str, properties: str) -> None:
    shop.write(FILE, TOOL.format(version=version, text=text, properties=properties))


def _publish(shop: Shop, version: str, text: str, properties: str, code: int = 0) -> list[str]:
    _write(shop, version, text, properties)
    return shop.codes(shop.pawl("publish", "shop/find", code=code))


@pytest.mark.parametrize(
    ("change", "version", "smallest"),
    [
        ("patch", "1.2.1", None),
        ("patch", "1.3.0", None),
        ("minor", "1.2.1", "1.3.0"),
        ("minor", "1.3.0", None),
        ("minor", "2.0.0", None),
        ("minor", "1.2.1rc1", "1.3.0"),
        ("minor", "1.3.0a1", None),
        ("major", "1.2.1", "2.0.0"),
        ("major", "1.9.0", "2.0.0"),
        ("major", "2.0.0rc2", None),
        ("major", "2.0.0", None),
        ("major", "3.1.4", None),
    ],
)
def test_a_number_that_promises_too_little_is_refused(
    tools: Shop, change: str, version: str, smallest: str | None
) -> None:
    text, properties = CHANGES[change]
    _write(tools, version, text, properties)
    before = tools.files()
    code = 1 if smallest else 0
    checked, published = tools.pawl("check", code=code), tools.pawl("publish", "shop/find", code=code)
    found = [problem for problem in checked["problems"] if problem["code"] == "bump-too-small"]
    assert tools.codes(published) == ["bump-too-small"] * code
    assert len(found) == code
    if smallest:
        (problem,) = found
        assert (FILE, 3, 10) == (problem["path"], problem["line"], problem["column"])
        assert f"the lowest version is {smallest}" in problem["message"]
        assert before == tools.files()
        assert tools.pawl("bump", "shop/find")["to"] == smallest
        assert tools.read(FILE) == TOOL.format(version=smallest, text=text, properties=properties)
        tools.pawl("publish", "shop/find")
    assert tools.pawl("bump", "shop/find")["status"] == "unchanged"


def test_first_versions_need_nothing(plain_shop: Shop) -> None:
    assert _publish(plain_shop, "0.0.1rc1", "Finds.", WORD) == []
    assert _publish(plain_shop, "0.0.1", "Finds.", PAGE) == []


def test_what_breaks_a_zero_version_is_one(plain_shop: Shop) -> None:
    _publish(plain_shop, "0.3.0", "Finds.", PAGE)
    assert _publish(plain_shop, "0.4.0", "Finds.", WORD, code=1) == ["bump-too-small"]
    assert plain_shop.pawl("bump", "shop/find")["to"] == "1.0.0"


def test_between_pre_releases_of_one_version_nothing_is_required(tools: Shop) -> None:
    assert _publish(tools, "1.3.0rc1", "Finds.", PAGE) == []
    assert _publish(tools, "1.3.0rc2", "Finds.", WORD) == []
    assert _publish(tools, "1.3.0rc3", *CHANGES["major"], code=1) == ["bump-too-small"]


def test_a_pre_release_of_what_is_out_comes_too_late(tools: Shop) -> None:
    assert _publish(tools, "1.2.0rc1", "Finds other articles.", WORD, code=1) == ["version-not-higher"]
    assert tools.pawl("bump", "shop/find")["to"] == "1.2.1"


def test_a_late_version_must_lead_on_to_those_that_are_out(tools: Shop) -> None:
    """A range from the late one up reaches the later one, which must keep its promises."""
    _publish(tools, "1.4.0", "Finds.", f"{PAGE}, limit: {{type: integer}}")
    assert _publish(tools, "1.3.0", "Finds.", PAGE) == []
    assert _publish(tools, "1.2.1", "Finds all.", WORD) == []
    colour = f"{WORD}, colour: {{type: string}}"
    _write(tools, "1.3.1", "Finds.", f"{PAGE}, colour: {{type: string}}")
    answer = tools.pawl("publish", "shop/find", code=1)
    assert "comes before 1.4.0, which is out already" in str(answer["problems"])
    _write(tools, "1.2.2", "Finds.", colour)  # a minor change as a patch, and 1.3.0 has no colour
    answer = tools.pawl("publish", "shop/find", code=1)
    assert tools.codes(answer) == ["bump-too-small"] * 2
    assert tools.pawl("bump", "shop/find")["to"] == "2.0.0"


def test_a_backport_below_everything_needs_nothing(plain_shop: Shop) -> None:
    _publish(plain_shop, "2.0.0", "Finds.", WORD)
    assert _publish(plain_shop, "1.9.0", *CHANGES["major"]) == []


def test_a_revoked_version_is_no_base(tools: Shop) -> None:
    _publish(tools, "2.0.0", *CHANGES["major"])
    tools.pawl("revoke", "shop/find@2.0.0", "--reason", "wrong")
    assert _publish(tools, "2.0.1", "Finds by a word.", WORD) == []  # major to 2.0.0, patch to 1.2.0


def test_a_yanked_version_is_a_base(tools: Shop) -> None:
    _publish(tools, "1.3.0", "Finds.", PAGE)
    tools.pawl("yank", "shop/find@1.3.0", "--reason", "slow")
    assert _publish(tools, "1.3.1", "Finds.", WORD, code=1) == ["bump-too-small"]  # page is gone for its callers


def test_bump_passes_numbers_that_are_taken(tools: Shop) -> None:
    _publish(tools, "2.0.0", *CHANGES["major"])
    tools.pawl("revoke", "shop/find@2.0.0", "--reason", "wrong")
    _write(tools, "1.2.1", "Finds.", "word: {type: string, maxLength: 10}")
    assert tools.pawl("bump", "shop/find")["to"] == "2.0.1"
    assert _publish(tools, "2.0.1", "Finds.", "word: {type: string, maxLength: 10}") == []


def test_bump_of_what_was_never_published_stays(plain_shop: Shop) -> None:
    _write(plain_shop, "0.1.0", "Finds.", WORD)
    assert plain_shop.pawl("bump", "shop/find")["status"] == "unchanged"
    assert plain_shop.pawl("bump", "shop/find", "--part", "major")["status"] == "unchanged"
