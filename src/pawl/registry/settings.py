"""registry.yaml: the channels of a workspace and where its parts are found.

Only ``branch``, ``python_path``, ``lint`` and ``policy`` take effect as written; channel settings and people are inert
until a policy is adopted, which freezes them. What ``policy`` says holds for adopting, and no rule in force is touched
by it. Values of what was found valid (``settings_shape``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pawl.errors import Faulty
from pawl.ids import Channel
from pawl.lint.settings import LintSettings, lint_settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings:
    """One channel. ``after``: only versions that are or were live on that channel may enter."""

    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """What adopting a policy needs."""

    require_tests: bool = False
    """Whether a rule without an example that it denies is refused, not only warned of."""
    require_grace: bool = False
    """Whether a rule that something live breaks is adopted only with an effective_on to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What registry/registry.yaml says. ``document`` is the parsed file, which nobody changes."""

    document: Mapping[str, Any] = field(repr=False)
    branch: str | None
    """The only Git branch that journals are written on, if it is set."""
    channels: Mapping[str, ChannelSettings]
    people: Mapping[str, tuple[str, ...]]
    """E-mail address -> roles."""
    python_path: tuple[str, ...]
    """Folders inside the workspace from which implementations of tools are imported."""
    lint: LintSettings
    policy: PolicySettings

    def after(self) -> Mapping[Channel, Channel | None]:
        """Return each channel with the one that comes before it."""
        return MappingProxyType(
            {Channel(name): Channel(item.after) if item.after else None for name, item in self.channels.items()}
        )


def read_settings(document: Any) -> Settings:
    """Return the settings in a parsed registry.yaml or raise ``Faulty`` with every fault."""
    from pawl.registry.settings_shape import settings_faults  # noqa: PLC0415 - pydantic; what was found valid goes without

    if faults := settings_faults(document):
        raise Faulty(faults)
    return settings_of(document)


def settings_of(document: Mapping[str, Any]) -> Settings:
    """Return the settings in a document that was found valid."""
    return Settings(
        document=document,
        branch=document.get("branch"),
        channels={name: ChannelSettings(**row) for name, row in document["channels"].items()},
        people={who: tuple(roles) for who, roles in document.get("people", {}).items()},
        python_path=tuple(document.get("python_path", ())),
        lint=lint_settings_of(document.get("lint", {})),
        policy=PolicySettings(**document.get("policy", {})),
    )
