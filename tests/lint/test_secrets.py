"""Secrets are found by their format, never shown, and never seen in ordinary prose, JSON and placeholders.

Every secret here is made while testing, of parts that are none.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from importlib import import_module

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from budgets import examples
from changes.corpus import CORPUS
from lint.make import codes, found, prompt, tool
from pawl.lint.secret_formats import OWN, PLUGINS, Plugin, has_keyword
from pawl.lint.secret_words import is_placeholder, looks_random
from pawl.lint.secrets import MAX_FOUND, secret_faults

RANDOM = "aB3xK9mQ2vT7nR5wY8pL4zC6jH1dF0gS9kE3uX7b"
HEX = "3f9a1c7e5b2d8046af13c9e75d2b8f60"


def _segment(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = f"{_segment({'alg': 'HS256', 'typ': 'JWT'})}.{_segment({'sub': '1', 'name': 'x'})}.{RANDOM}"
KEY = "-----BEGIN " + "RSA PRIVATE KEY-----\n" + RANDOM * 2
SECRETS = {
    "AWS Access Key": "AKIA" + "Q3EGT7YWLK2NB5ZD",
    "Azure Storage Account access key": "AccountKey=" + (RANDOM * 3)[:86] + "==",
    "Basic Auth Credentials": "postgres://orders:" + "q7Rk2vLx" + "@db.internal/orders",
    "Discord Bot Token": "MTk4" + RANDOM[:20] + "." + RANDOM[:6] + "." + RANDOM[:27],
    "GitHub Token": "ghp_" + RANDOM[:36],
    "GitHub Fine-Grained Token": "github_pat_" + (RANDOM * 2)[:76],
    "GitLab Token": "glpat-" + RANDOM[:20],
    "JSON Web Token": JWT,
    "Mailchimp Access Key": HEX + "-us12",
    "NPM tokens": "//registry.internal/:_authToken=" + "npm_" + RANDOM[:36],
    "OpenAI Token": "sk-proj-" + RANDOM[:20] + "T3Blbk" + "FJ" + RANDOM[:20],
    "Anthropic API Key": "sk-ant-" + "api03-" + RANDOM,
    "Google API Key": "AIza" + RANDOM[:35],
    "Hugging Face Token": "hf_" + RANDOM[:34],
    "Private Key": KEY,
    "PyPI Token": "pypi-" + "AgEIcHlwaS5vcmc" + (RANDOM * 2)[:72],
    "SendGrid API Key": "SG." + RANDOM[:22] + "." + (RANDOM * 2)[:43],
    "Slack Token": "xoxb-" + "2384756102-9182736450-" + RANDOM[:24],
    "Square OAuth Secret": "sq0csp-" + (RANDOM * 2)[:43],
    "Stripe Access Key": "sk_live_" + RANDOM[:24],
    "Telegram Bot Token": "8192736455:" + RANDOM[:35],
    "Twilio API Key": "SK" + HEX,
    "Secret Keyword": 'db_password = "' + "tR7-kq92vLx4" + '"',
}
ORDINARY = [
    "Answer in one short paragraph. Never ask for a password, a secret or an API key.",
    "The password: it has at least 8 characters, one digit and one capital letter.",
    "Set api_key: YOUR_API_KEY_1 and secret = <secret-value-1> before the call.",
    '{"password": "string", "api_key": "The key of the user.", "secret": "{{ secret_value_1 }}"}',
    '{"type": "object", "properties": {"password": {"type": "string", "minLength": 12}}}',
    "Connect to postgres://user:password@localhost/db or https://USER:PASS@host.example",
    "https://{{ user }}:{{ password }}@host and https://$USER:$PASS@host",
    "Use the token ghp_" + "x" * 36 + " as an example, or AKIAIOSFODNN7" + "EXAMPLE.",
    "A file that begins with BEGIN RSA PRIVATE KEY is a private key; never print one.",
    "The secret: to be brief. Key: value. Pass: 3 of 4. The key = the order's number A1-2026-03.",
    "secret_name: orders-db-2, key: support/refund-draft@1.10.0, pwd: /srv/www/orders2",
    "commit 3f9a1c7e5b2d8046af13c9e75d2b8f6012345678, sha256:" + HEX * 2,
    "data:image/png;base64," + base64.b64encode(bytes(range(200))).decode(),
    "Call a.b.c at 12:30, see https://host:8080/x@y, ask orders@example.invalid; order 1234567890:A1.",
    "eyJ is how a token begins; eyJhbGciOi.eyJzdWIi are two broken ones.",
    "SKU SK1, task TASK_ASK, ACCESS, ASIAN markets, AKIA alone, us-east-1.",
    "passphrase = correct horse battery staple",
    "password: 12345678, password: aaaaaaaaaaaa1B, password: Abcdefgh",
]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_found_wherever_it_stands(kind: str) -> None:
    text = SECRETS[kind]
    middle = f"Be brief.\n\nUse {text} for it.\nSay so."
    for procedure in (
        prompt(("user", text)),
        prompt(("user", middle)),
        tool(description=middle),
        tool(schema={"properties": {"a": {"type": "string", "description": "x", "examples": [text]}}}),
        prompt(("user", "x"), model={"name": "any", "nested": [{"deep": text}]}),
    ):
        faults = [fault for fault in found(procedure) if fault.code == "prompt-secret"]
        assert [fault.severity for fault in faults] == ["error"]
        assert kind in faults[0].message


def test_the_line_inside_a_text_is_told() -> None:
    (fault,) = found(prompt(("user", f"Be brief.\n\nUse {SECRETS['GitHub Token']}.")))
    assert fault.at == ("spec", "messages", 0, "content")
    assert "in its line 3: GitHub Token" in fault.message


@pytest.mark.parametrize("kind", SECRETS)
def test_a_finding_never_shows_the_secret(kind: str) -> None:
    text = SECRETS[kind]
    for document in ({"a": f"Use {text}."}, {text: "x"}, {"a": {"b": [text]}}):
        shown = "".join(f"{fault}" for fault in secret_faults(document))
        assert shown
        assert not any(piece in shown for piece in re.findall(r"[A-Za-z0-9]{8,}", text) if piece.lower() != "password")


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_holds_no_secret(text: str) -> None:
    assert list(secret_faults({"spec": {"messages": [{"content": text}]}})) == []


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        ({"password": "tR7-kq92vLx4"}, 1),
        ({"properties": {"password": {"default": "tR7-kq92vLx4"}}}, 1),
        ({"properties": {"password": {"examples": ["tR7-kq92vLx4"]}}}, 1),
        ({"password": "string"}, 0),
        ({"secret_name": "orders-db-2"}, 0),
        ({"properties": {"password": {"description": "At-least8Characters"}}}, 0),
        ({"key": "support/refund-draft"}, 0),
    ],
)
def test_the_name_beside_a_value_counts(document: dict[str, object], wanted: int) -> None:
    assert len(list(secret_faults(document))) == wanted


def test_a_second_name_on_one_line_is_looked_at_too() -> None:
    text = '{"password": "string", "secret": "", "api_key": "' + "tR7kq92vLx4Qz" + '"}'
    assert codes(prompt(("user", text))) == ["prompt-secret"]


def test_a_secret_in_a_very_long_line_is_found() -> None:
    for before in (0, 399, 401, 1_990, 2_000, 3_333):
        for kind in ("GitHub Token", "Secret Keyword", "JSON Web Token"):
            text = "y " * (before // 2) + SECRETS[kind] + " z" * 3_000
            assert any(kind in fault.message for fault in secret_faults({"a": text})), (before, kind)


def test_findings_are_bounded() -> None:
    every = {str(index): f"ghp_{RANDOM[:34]}{index:02}" for index in range(40)}
    assert len(list(secret_faults(every))) == MAX_FOUND


def test_a_token_that_decodes_to_anything_is_no_crash() -> None:
    deep = base64.urlsafe_b64encode(b"[" * 1_400).decode().rstrip("=")
    assert list(secret_faults({"a": f"eyJ{deep}.eyJ{deep}.x"})) == []
    begins = base64.urlsafe_b64encode(b'{"a":' * 280).decode().rstrip("=")
    assert list(secret_faults({"a": f"{begins}.{begins}.x"})) == []


def detector(plugin: Plugin) -> object:
    return getattr(import_module(f"detect_secrets.plugins.{plugin.module}"), plugin.detector)()


PATTERNS = [
    (plugin, regex)
    for plugin in PLUGINS
    for regex in detector(plugin).denylist  # type: ignore[attr-defined]
]


@pytest.mark.parametrize(("plugin", "regex"), PATTERNS, ids=lambda item: getattr(item, "module", "-"))
@examples(8)
@given(data=st.data())
def test_marks_lose_nothing_that_a_plugin_would_find(
    plugin: Plugin, regex: re.Pattern[str], data: st.DataObject
) -> None:
    """Whatever a pattern of a plug-in matches has a mark of it, so no text is passed over that it would speak of."""
    text = data.draw(st.from_regex(regex))
    assume(regex.search(text))
    assert plugin.marked(text, text.casefold())


KEYWORDS = import_module("detect_secrets.plugins.keyword")


@pytest.mark.parametrize("name", ["FOLLOWED_BY_COLON_REGEX", "FOLLOWED_BY_EQUAL_SIGNS_REGEX"])
@examples(50)
@given(data=st.data())
def test_marks_of_keywords_lose_nothing(name: str, data: st.DataObject) -> None:
    word = data.draw(
        st.sampled_from(["api_key", "ApiKey", "DB_PASS", "passwd", "pwd", "Secret", "contraseña", "key_pass"])
    )
    sign = ":" if "COLON" in name else data.draw(st.sampled_from(["=", "==", "!=", "==="]))
    text = f"{data.draw(st.text())}{word}_x'{data.draw(st.sampled_from(['', ' ', '  ']))}{sign} {data.draw(st.text())}"
    if getattr(KEYWORDS, name).search(text):
        assert has_keyword(text.casefold())


@given(st.sampled_from(sorted(OWN)))
def test_own_formats_hold_their_mark(kind: str) -> None:
    mark, pattern = OWN[kind]
    assert pattern.pattern.replace("(?<!\\w)", "").startswith(mark)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("tR7-kq92vLx4", True),
        ("Summer2026", True),
        ("hunter22", False),
        ("a sentence of 4 Words", False),
        ("short1A", False),
    ],
)
def test_what_looks_random(value: str, wanted: bool) -> None:
    assert looks_random(value) is wanted


@pytest.mark.parametrize(
    "value", ["<password>", "{{ x }}", "YOUR-KEY", "xxxxxxxx", "aaaaaaaa", "abcdefgh", "…", "$PASSWORD"]
)
def test_what_is_a_placeholder(value: str) -> None:
    assert is_placeholder(value)


def test_clean_procedures_do_not_load_the_library() -> None:
    code = (
        "from pawl.lint.secrets import secret_faults\n"
        "assert not list(secret_faults({'a': 'Refund the order, see https://host/a; the key is A1.'}))\n"
        "import sys\nassert not {'detect_secrets', 'requests'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_no_network_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    assert {kind for kind in SECRETS if not list(secret_faults({"a": SECRETS[kind]}))} == set()


@pytest.mark.skipif(CORPUS is None, reason="needs the corpus of real files")
def test_real_prompts_skills_and_tool_lists_hold_no_secret() -> None:
    assert CORPUS is not None
    files = [path for room in ("prompts", "skills", "policies", "tool-lists") for path in (CORPUS / room).rglob("*")]
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file()}
    assert texts
    assert [path for path, text in texts.items() if list(secret_faults({"a": text}))] == []
