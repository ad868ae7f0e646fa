"""Which formats of secrets are looked for, and the marks without which a text holds none of them.

- From detect-secrets: the plug-ins whose pattern has a mark of its own, a prefix, a host or a header. Left out are
  entropy (prose, digests and base64 are full of it), public addresses (no secrets), Artifactory (a prefix that words in
  capitals have), and Cloudant, IBM and SoftLayer, whose marks are words like ``key`` before a run of letters.
- Of our own: keys of vendors of models, which detect-secrets does not know.
- Marks are what every match of a plug-in holds. Looking for them is cheap, and detect-secrets is slow to load.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Marked: TypeAlias = Callable[[str, str], bool]
"""Whether a text, given also with its case folded, may hold what a format looks like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A plug-in of detect-secrets: its class in ``detect_secrets.plugins.<module>``."""

    module: str
    detector: str
    marked: Marked


def _has(*marks: str) -> Marked:
    if len(marks) == 1:
        (mark,) = marks
        return lambda text, _folded: mark in text
    return lambda text, _folded: any(mark in text for mark in marks)


def _matches(pattern: str, *, after: str) -> Marked:
    compiled = re.compile(pattern)
    return lambda text, folded: after in folded and compiled.search(text) is not None


def _aws(text: str, folded: str) -> bool:
    return any(mark in text for mark in ("AKIA", "ABIA", "ACCA", "ASIA", "A3T")) or "aws" in folded


def _slack(_text: str, folded: str) -> bool:
    return "xox" in folded or "hooks.slack.com/services/" in folded


_GITLAB = ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "GR1348941", "glcbt-", "glimt-", "glptt-", "glagent-")
PLUGINS: tuple[Plugin, ...] = (
    Plugin(module="aws", detector="AWSKeyDetector", marked=_aws),
    Plugin(module="azure_storage_key", detector="AzureStorageKeyDetector", marked=_has("AccountKey=")),
    Plugin(module="basic_auth", detector="BasicAuthDetector", marked=_matches(r":[^\s/@:]+@", after="://")),
    Plugin(module="discord", detector="DiscordBotTokenDetector", marked=_matches(r"\.[a-zA-Z\d_-]{6}\.", after=".")),
    Plugin(module="github_token", detector="GitHubTokenDetector", marked=_has("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    Plugin(module="gitlab_token", detector="GitLabTokenDetector", marked=_has(*_GITLAB, "gloas-")),
    Plugin(module="jwt", detector="JwtTokenDetector", marked=_has("eyJ")),
    Plugin(module="mailchimp", detector="MailchimpDetector", marked=_has("-us")),
    Plugin(module="npm", detector="NpmDetector", marked=_has(":_authToken=")),
    Plugin(module="openai", detector="OpenAIDetector", marked=_has("T3BlbkFJ")),
    Plugin(module="private_key", detector="PrivateKeyDetector", marked=_has("PRIVATE KEY", "PuTTY-User-Key-File-2")),
    Plugin(module="pypi_token", detector="PypiTokenDetector", marked=_has("pypi-AgE")),
    Plugin(module="sendgrid", detector="SendGridDetector", marked=_has("SG.")),
    Plugin(module="slack", detector="SlackDetector", marked=_slack),
    Plugin(module="square_oauth", detector="SquareOAuthDetector", marked=_has("sq0csp-")),
    Plugin(module="stripe", detector="StripeDetector", marked=_has("k_live_")),
    Plugin(module="telegram_token", detector="TelegramBotTokenDetector", marked=_matches(r":(?<=\d{8}:)", after=":")),
    Plugin(module="twilio", detector="TwilioKeyDetector", marked=_has("AC", "SK")),
)
OWN: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "Anthropic API Key": ("sk-ant-", re.compile(r"sk-ant-[A-Za-z0-9_-]{32,200}")),
    "GitHub Fine-Grained Token": ("github_pat_", re.compile(r"github_pat_[A-Za-z0-9_]{60,100}")),
    "Google API Key": ("AIza", re.compile(r"AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])")),
    "Hugging Face Token": ("hf_", re.compile(r"(?<!\w)hf_[A-Za-z0-9]{34}(?!\w)")),
}
"""Kind -> its mark, and its pattern."""
_KEYWORD = re.compile(r"(?:key|pass|pwd|secret|contrase)\w*[\]'\"]{0,2}\s*[:=!]")
STEMS = ("key", "pass", "pwd", "secret", "contrase")
"""One of these is in every word that detect-secrets takes for the name of a secret."""


def has_keyword(folded: str) -> bool:
    """Return whether a text may give a value to the name of a secret."""
    if ":" not in folded and "=" not in folded:
        return False
    for stem in STEMS:
        at = folded.find(stem)
        while at >= 0:
            if _KEYWORD.match(folded, at):
                return True
            at = folded.find(stem, at + len(stem))
    return False


def may_hold_secret(text: str, folded: str) -> bool:
    """Return whether any format could be in a text; where this says no, nothing else needs to look."""
    return (
        has_keyword(folded)
        or any(mark in text for mark, _ in OWN.values())
        or any(plugin.marked(text, folded) for plugin in PLUGINS)
    )
