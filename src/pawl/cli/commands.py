"""Every command by name, known without importing any."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "init": ("init", "Make a workspace that passes check."),
        "new": ("new", "Write a procedure, a suite or a policy to start from."),
        "demo": ("demo", "Tell the refund story in a temporary workspace."),
        "check": ("check", "What CI runs on a pull request: read, validate, lint, versions, suites, policy."),
        "test": ("test", "Run conformance suites only; store nothing."),
        "diff": ("diff", "What changed between two versions, or the work tree and the newest version."),
        "publish": ("publish", "Freeze new versions, all under one record."),
        "bump": ("bump", "Set a procedure's version in its file, keeping comments."),
        "import": ("import_", "Bring procedures in from another format."),
        "schema": ("schema", "Print the JSON Schema of a kind of file, for editors."),
        "completion": ("completion", "Print the script that completes pawl in bash, zsh or fish."),
        "promote": ("promote", "Gate exact versions and pin them on a channel, all or none."),
        "rollback": ("rollback", "Go back to the newest earlier version that passes today's policy."),
        "fix-forward": ("fix_forward", "Open a new version with old content, marked where today's rules object."),
        "remove": ("remove", "Take pins off a channel."),
        "targets": ("targets", "Every earlier version with its verdict as of now."),
        "why": ("why", "The whole verdict on one version: every check and rule, with reasons."),
        "drill": ("drill", "Run today's suites on the ways back of a channel, and store what they come to."),
        "audit": ("audit", "What is live against today's policy, and which pins have no way back."),
        "halt": ("halts", "Stop serving a procedure on a channel."),
        "resume": ("halts", "Serve a halted procedure again."),
        "reject": ("reject", "Keep a version's content off a channel."),
        "unreject": ("unreject", "Let rejected or rolled-back content come back."),
        "freeze": ("freeze", "Let a channel stand still until an end."),
        "unfreeze": ("freeze", "Let a channel move again."),
        "approve": ("approve", "Say yes to exact versions, or to a waiver."),
        "waive": ("waive", "Ask for an exception from one rule, for a time."),
        "deprecate": ("withdrawals", "Warn of a version, everywhere."),
        "yank": ("withdrawals", "Allow no new pins of a version."),
        "revoke": ("withdrawals", "Refuse a version even where it is pinned; final."),
        "restore": ("withdrawals", "Take a deprecation or a yank back."),
        "policy": ("policy", "Show, test, plan and adopt policy."),
        "status": ("status", "Every channel's pins and what somebody should know of them."),
        "list": ("list_", "Published procedures."),
        "show": ("show", "One published version, or all versions of a name."),
        "history": ("history", "Every attempt on a channel, refused ones too."),
        "verify": ("verify", "Recompute every digest and chain."),
        "snapshot": ("snapshot", "The one file that agents load."),
        "resolve": ("resolve", "Which version a channel serves under a name."),
        "render": ("render", "A prompt's messages, as an agent would get them."),
        "run": ("run", "Start a run, use procedures in it, end it."),
        "runs": ("runs", "Look into the ledger of runs."),
    }
)
"""Command -> the module of ``pawl.cli`` that holds it, and its line in the overview."""
