"""Sets at the command line: what promote and rollback take along, the reasons, and conflicts that people can read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pawl.releases import choosing
from support import FIRST, SECOND, Shop, in_process

PROMPT = """\
kind: prompt
name: {name}
version: {version}
summary: A prompt.
owner: payments
requires: {requires}
changes: Another text.
spec:
  inputs: {{type: object, properties: {{}}, additionalProperties: false}}
  messages: [{{role: user, content: "{name} {version}"}}]
"""
SUITE = """\
suite: {suite}
about: {name}
cases:
  - {{id: speaks, inputs: {{}}, assert: [{{type: contains, value: "{name}"}}]}}
"""


def publish(shop: Shop, *refs: str, **wanted: str) -> None:
    """Publish prompts, all of which require the same; a suite comes with each."""
    requires = json.dumps({f"mail/{name}": specifier for name, specifier in wanted.items()})
    for ref in refs:
        name, _, version = ref.partition("@")
        shop.write(f"procedures/{name}.yaml", PROMPT.format(name=name, version=version, requires=requires))
        suite = name.replace("/", "-")
        shop.write(f"conformance/{suite}.yaml", SUITE.format(name=name, suite=suite))
    shop.pawl("publish", *(ref.partition("@")[0] for ref in refs))


def notes(shop: Shop, answer: dict[str, Any], code: str, severity: str = "note") -> list[str]:
    rows = [problem for problem in answer["problems"] if problem["code"] == code]
    assert {row["severity"] for row in rows} <= {severity, "error"}
    return [row["message"] for row in rows if row["severity"] == severity]


def moved(answer: dict[str, Any]) -> list[str]:
    return [f"{row['name']} {row['from']} {row['to']}" for row in answer["moves"]]


@pytest.fixture
def mail(plain_shop: Shop) -> Shop:
    """A letter that requires a footer, and a reminder that does too, all at version 1 on both channels."""
    shop = plain_shop
    shop.adopt()
    publish(shop, "mail/footer@1.0.0")
    publish(shop, "mail/letter@1.0.0", "mail/reminder@1.0.0", footer=">=1,<2")
    shop.everywhere("mail/footer@1.0.0", "mail/letter@1.0.0", "mail/reminder@1.0.0")
    return shop


def second(shop: Shop) -> None:
    """Publish version 2 of all three."""
    publish(shop, "mail/footer@2.0.0")
    publish(shop, "mail/letter@2.0.0", "mail/reminder@2.0.0", footer=">=2,<3")


WORDS = ("--reason", "the set", "--with-requirements")
LETTER = ("promote", "mail/letter@2.0.0", "--to", "staging", *WORDS)


def test_a_promotion_takes_along_what_must_move_and_says_why(mail: Shop) -> None:
    second(mail)
    tried = mail.pawl(*LETTER, "--dry-run")
    done = mail.pawl(*LETTER)
    assert moved(done) == [
        "mail/letter 1.0.0 2.0.0",
        "mail/footer 1.0.0 2.0.0",
        "mail/reminder 1.0.0 2.0.0",
    ]
    assert notes(mail, done, "consistent-set") == [
        "mail/footer 1.0.0 -> 2.0.0 because mail/letter@2.0.0 requires >=2,<3",
        (
            "mail/reminder 1.0.0 -> 2.0.0 because mail/reminder@1.0.0 requires mail/footer >=1,<2, "
            "and mail/footer@2.0.0 moves, which follows from mail/letter@2.0.0"
        ),
    ]
    assert (tried["status"], tried["moves"], tried["problems"]) == ("would", done["moves"], done["problems"])


def test_a_set_that_may_not_be_the_smallest_says_so(mail: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    second(mail)
    monkeypatch.setattr(choosing, "MAX_TRIES", 0)
    done = mail.pawl(*LETTER)
    assert notes(mail, done, "consistent-set")[-1] == "a smaller set may exist: the search for it gave up"


def test_the_reasons_are_there_in_text(mail: Shop) -> None:
    second(mail)
    shown = in_process("-C", str(mail.root), *LETTER)
    assert shown.code == 0
    expected = "note: mail/footer 1.0.0 -> 2.0.0 because mail/letter@2.0.0 requires >=2,<3 [consistent-set]"
    assert expected in shown.out


def test_without_being_asked_to_the_set_and_its_reasons_are_only_said(mail: Shop) -> None:
    second(mail)
    refused = mail.promote("mail/letter@2.0.0", to="staging", code=3)
    assert set(mail.codes(refused)) == {"requirement-unmet"}
    said = notes(mail, refused, "consistent-set")
    command = 'pawl promote mail/letter@2.0.0 mail/footer@2.0.0 mail/reminder@2.0.0 --to staging --reason "..."'
    assert said[0] == f"this set moves together: {command}"
    assert len(said) == 3
    mail.pawl(*command.replace('"..."', "together").split()[1:])


def test_a_promotion_for_which_there_is_no_set_is_refused_with_the_conflict(mail: Shop) -> None:
    publish(mail, "mail/footer@2.0.0")
    publish(mail, "mail/letter@2.0.0", footer=">=2,<3")
    tried = mail.pawl(*LETTER, "--dry-run", code=3)
    refused = mail.pawl(*LETTER, code=3)
    assert mail.codes(refused) == ["no-consistent-set"]
    first = refused["problems"][0]
    assert first["message"] == "no set of versions on staging holds together with mail/letter@2.0.0"
    assert first["hint"].startswith("publish a version of mail/reminder that goes with what moves, or take it off: ")
    assert notes(mail, refused, "no-consistent-set", "warning") == [
        "of mail/reminder there is 1.0.0 (requires mail/footer >=1,<2)",
        "mail/reminder@1.0.0 requires mail/footer >=1,<2, and is pinned",
        "mail/letter@2.0.0 requires mail/footer >=2,<3, and was asked for",
        "of mail/footer there is 2.0.0 (outside >=1,<2); 1.0.0 (outside >=2,<3)",
    ]
    assert (tried["status"], tried["problems"]) == ("would-refuse", refused["problems"])
    row = mail.pawl("history", "staging")["records"][-1]
    assert (row["action"], row["serial"]) == ("refused", refused["serial"])
    assert refused["serial"] == 2
    mail.pawl("remove", "mail/reminder", "--channel", "staging", "--reason", "as the hint says")
    assert len(moved(mail.pawl(*LETTER))) == 2


BARRED = [
    # what befell the footer that fits, why it is not taken, what the hint says
    (("yank", "mail/footer@2.0.0"), "2.0.0 (yanked)", "pawl restore mail/footer@2.0.0"),
    (("reject", "mail/footer@2.0.0", "--channel", "staging"), "2.0.0 (rejected on staging)", "pawl unreject mail/"),
]


@pytest.mark.parametrize(("words", "why", "hint"), BARRED, ids=["yanked", "rejected"])
def test_a_version_that_would_be_refused_is_not_taken(mail: Shop, words: tuple[str, ...], why: str, hint: str) -> None:
    second(mail)
    mail.pawl(*words, "--reason", "it shouts")
    refused = mail.pawl(*LETTER, code=3)
    assert mail.codes(refused) == ["no-consistent-set"]
    assert f"of mail/footer there is {why}; 1.0.0 (outside >=2,<3)" in str(refused["problems"])
    assert hint in refused["problems"][0]["hint"]


def test_what_was_never_live_on_the_channel_before_is_not_taken(mail: Shop) -> None:
    second(mail)
    words = ("promote", "mail/letter@2.0.0", "--to", "production", *WORDS)
    refused = mail.pawl(*words, code=3)
    assert "2.0.0 (never live on staging)" in str(refused["problems"])
    assert refused["problems"][0]["hint"].startswith("promote it there first: pawl promote mail/")
    mail.pawl(*LETTER)
    assert len(moved(mail.pawl(*words))) == 3


def test_a_pre_release_comes_along_only_where_it_is_asked_for(mail: Shop) -> None:
    publish(mail, "mail/footer@2.0.0rc1")
    publish(mail, "mail/letter@2.0.0", "mail/reminder@2.0.0", footer=">=2.0.0rc1,<3")
    refused = mail.pawl(*LETTER, code=3)
    assert "2.0.0rc1 (a pre-release)" in str(refused["problems"])
    assert refused["problems"][0]["hint"].startswith("ask for mail/footer@2.0.0rc1 too")
    done = mail.pawl(*LETTER[:2], "mail/footer@2.0.0rc1", *LETTER[2:])
    assert len(moved(done)) == 3


def test_a_rollback_takes_along_what_was_live_and_says_why(mail: Shop) -> None:
    second(mail)
    mail.pawl(*LETTER)
    words = ("rollback", "mail/letter", "--channel", "staging", *WORDS)
    tried = mail.pawl(*words, "--dry-run")
    done = mail.pawl(*words)
    assert moved(done) == [
        "mail/letter 2.0.0 1.0.0",
        "mail/footer 2.0.0 1.0.0",
        "mail/reminder 2.0.0 1.0.0",
    ]
    assert notes(mail, done, "consistent-set")[0] == (
        "mail/footer 2.0.0 -> 1.0.0 because mail/letter@1.0.0 requires >=1,<2"
    )
    assert tried["problems"] == done["problems"]


def test_a_rollback_for_which_there_is_no_set_is_refused_with_the_conflict(mail: Shop) -> None:
    second(mail)
    publish(mail, "mail/note@1.0.0", footer=">=2,<3")
    mail.pawl(*LETTER)
    mail.promote("mail/note@1.0.0", to="staging")
    words = ("rollback", "mail/letter", "--to", "1.0.0", "--channel", "staging", *WORDS)
    refused = mail.pawl(*words, code=3)
    assert mail.codes(refused) == ["no-consistent-set"]
    assert refused["problems"][0]["message"] == ("no set of versions on staging holds together with mail/letter@1.0.0")
    assert "of mail/note there is 1.0.0 (requires mail/footer >=2,<3)" in str(refused["problems"])
    assert "pawl remove mail/note --channel staging" in refused["problems"][0]["hint"]
    shown = in_process("-C", str(mail.root), *words)
    assert (shown.code, len(shown.out.splitlines()) <= 14) == (3, True)
    mail.pawl("remove", "mail/note", "--channel", "staging", "--reason", "as the hint says")
    assert len(moved(mail.pawl(*words))) == 3


def test_a_rollback_takes_along_what_may_come_back_and_says_what_was_never_live(mail: Shop) -> None:
    second(mail)
    publish(mail, "mail/footer@1.5.0")
    mail.pawl(*LETTER)
    back = ("rollback", "mail/letter", "--to", "1.0.0", "--channel", "staging", *WORDS)
    mail.pawl("yank", "mail/footer@1.0.0", "--reason", "it shouts")
    refused = mail.pawl(*back, code=3)
    expected = "of mail/footer there is 1.0.0 (yanked); 2.0.0 (outside >=1,<2); 1.5.0 (never live on staging)"
    assert expected in str(refused["problems"])
    assert refused["problems"][0]["hint"].startswith("pawl restore mail/footer@1.0.0")
    mail.pawl("restore", "mail/footer@1.0.0", "--reason", "as the hint says")
    assert "mail/footer 2.0.0 1.0.0" in moved(mail.pawl(*back))


def test_asking_for_a_set_that_holds_writes_nothing(released: Shop) -> None:
    before = released.files()
    same = released.pawl("promote", *FIRST, "--to", "staging", "--reason", "r", "--with-requirements")
    assert (same["status"], before) == ("unchanged", released.files())
    released.second()
    released.pawl("publish")
    done = released.pawl("promote", SECOND[0], "--to", "staging", "--reason", "r", "--with-requirements")
    assert notes(released, done, "consistent-set") == [
        "support/check-eligibility (new) -> 1.0.0 because support/refund@2.0.0 requires >=1,<2"
    ]
