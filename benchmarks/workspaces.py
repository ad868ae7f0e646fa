"""Workspaces to measure in, made by pawl itself.

Long pasts are planned by pawl too, and written without waiting for the disk.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pawl.ids import Channel, Name, Ref, parse_ref
from pawl.io.memory import forget as forget_memory
from pawl.io.strict_yaml import load
from pawl.operations.authoring.publishing import publish, published_form
from pawl.operations.governing.policies import policy_adopt
from pawl.operations.releasing.release import Options, promote, rollback
from pawl.operations.session import Session
from pawl.operations.sources import Source
from pawl.procedures.read import read_procedure
from pawl.registry.catalog import Catalog, Published
from pawl.registry.journal import Actor
from pawl.releases.planning import plan_publish
from pawl.releases.plans import AppendRecord, FreezeVersion
from pawl.workspace import Workspace

NAME = Name("shop/prompt-00000")
STAGING = Channel("staging")

_SETTINGS = "format: 1\nchannels:\n  staging: {}\n"
_POLICY = """policy: owners
owner: compliance
rules:
  - id: OWNER
    class: safety
    level: absolute
    require: has(procedure.owner) && procedure.owner != ""
    message: Every procedure has an owner who answers for it.
"""
_PROMPT = """kind: prompt
name: {name}
version: {version}
summary: Drafts an answer for a person to approve.  # read by people, not part of the digest
owner: support
labels: {{domain: orders, risk: high}}
changes: Better words.
spec:
  inputs:
    type: object
    properties:
      order_id: {{type: string, description: The order that the customer asks about.}}
      amount: {{type: number, minimum: 0}}
    required: [order_id, amount]
    additionalProperties: false
  messages:
    - role: system
      content: |
        You draft answers for a person to approve. Never promise that money has been sent.
        Answer in two short paragraphs, without greetings, in the language of the customer.
    - role: user
      content: "Write about {{{{ amount }}}} for order {{{{ order_id }}}}, version {version}."
  budget: {{tokens: 400}}
"""
_TOOL = """kind: tool
name: {name}
version: {version}
summary: Finds an order by its id.
owner: support
labels: {{domain: orders}}
changes: Better words.
spec:
  description: Finds an order by its id. Returns its state, its total and the day it was delivered, if it was.
  inputSchema:
    type: object
    properties:
      order_id: {{type: string, pattern: "^[A-Z][0-9]+$"}}
    required: [order_id]
    additionalProperties: false
  outputSchema:
    type: object
    properties:
      found: {{type: boolean}}
      state: {{enum: [open, delivered, returned]}}
      total: {{type: number, minimum: 0}}
    required: [found]
    additionalProperties: false
  annotations: {{readOnlyHint: true, openWorldHint: false}}
  effects: ["orders:read"]
"""
_PROMPT_SUITE = """suite: {suite}
about: {name}
cases:
  - id: says-the-order
    inputs: {{order_id: A1, amount: 20}}
    assert:
      - {{type: contains, value: order A1}}
      - {{type: icontains, value: never promise}}
  - id: refuses-debts
    inputs: {{order_id: A1, amount: -1}}
    assert: [{{type: rejected}}]
"""
_TOOL_SUITE = """suite: {suite}
about: {name}
cases:
  - id: takes-an-order
    call: {{order_id: A1}}
    assert: [{{type: accepted}}]
"""


def make(root: Path, *, procedures: int = 1, suites: bool = True) -> Workspace:
    """Return a workspace with an adopted policy, prompts, tools and a suite of each; nothing is published."""
    workspace = Workspace(root)
    _write(workspace.settings_file, _SETTINGS)
    _write(workspace.policies / "owners.yaml", _POLICY)
    policy_adopt(session(workspace), "the first policy", again=False)  # before there is much to read
    for number in range(procedures):
        write_procedure(workspace, number)
        if suites:
            _write_suite(workspace, name_of(number))
    return workspace


def made_live(root: Path, *, procedures: int, suites: bool = True) -> Workspace:
    """Return a workspace whose procedures are all published, by one record.

    They are pinned on staging by another one, unless they have no suites, without which nothing is.
    """
    workspace = make(root, procedures=procedures, suites=suites)
    texts = (_text(name_of(number), "1.0.0") for number in range(procedures))
    _carry_out(workspace, workspace.catalog(), [_version(text) for text in texts])
    if suites:
        promote_to_staging(workspace, *(f"{name_of(number)}@1.0.0" for number in range(procedures)))
    return workspace


def write_procedure(workspace: Workspace, number: int, version: str = "1.0.0") -> None:
    """Write one procedure into the work tree; every third is a tool, the rest are prompts."""
    name = name_of(number)
    _write(workspace.procedure_file(name), _text(name, version))


def name_of(number: int) -> Name:
    return Name(f"shop/{'tool' if number % 3 == 2 else 'prompt'}-{number:05d}")


def _write_suite(workspace: Workspace, name: Name) -> None:
    suite = name.rpartition("/")[2]
    text = _TOOL_SUITE if "/tool-" in name else _PROMPT_SUITE
    _write(workspace.conformance / f"{suite}.yaml", text.format(name=name, suite=suite))


def _text(name: Name, version: str) -> str:
    return (_TOOL if "/tool-" in name else _PROMPT).format(name=name, version=version)


def session(workspace: Workspace, *, commit: bool = False) -> Session:
    """Return a session as a command would open it."""
    now = datetime.now(UTC).replace(microsecond=0)
    return Session(workspace=workspace, actor=Actor(name="Ada", email="ada@example.invalid"), now=now, commit=commit)


def publish_all(workspace: Workspace, *, commit: bool = False) -> tuple[str, ...]:
    """Publish what the work tree holds and return the files that were written."""
    return tuple(_done(publish(session(workspace, commit=commit), ())).data["files"])


def promote_to_staging(workspace: Workspace, *refs: str, commit: bool = False) -> tuple[str, ...]:
    """Promote versions, which runs their suites, and return the files that were written."""
    chosen = [parse_ref(ref) for ref in refs]
    report = promote(session(workspace, commit=commit), chosen, STAGING, Options(reason="a release"))
    return tuple(_done(report).data["files"])


def roll_back_on_staging(workspace: Workspace, name: Name, *, commit: bool = False) -> tuple[str, ...]:
    """Roll a name back to the version before, and return the files that were written."""
    report = rollback(session(workspace, commit=commit), [(name, None)], STAGING, Options(reason="errors went up"))
    return tuple(_done(report).data["files"])


def add_past(workspace: Workspace, versions: int) -> None:
    """Publish ``versions`` earlier versions of the first prompt, 0.0.1 and on, each under a record of its own."""
    catalog = workspace.catalog()
    for number in range(1, versions + 1):
        catalog = _carry_out(workspace, catalog, [_version(_text(NAME, f"0.0.{number}"))])


def _version(text: str) -> tuple[Published, bytes]:
    data = text.encode()
    return published_form(Source(value=read_procedure(load(data)), path="", data=data)), data


def _carry_out(workspace: Workspace, catalog: Catalog, versions: list[tuple[Published, bytes]]) -> Catalog:
    """Write what pawl plans for publishing ``versions``; return the catalog with its new head, and nothing else new."""
    for step in plan_publish(catalog, versions, session(workspace).stamp("an earlier version")).steps:
        if isinstance(step, FreezeVersion):
            _write(workspace.frozen_file(step.ref), step.data.decode())
        elif isinstance(step, AppendRecord):
            _write(workspace.record_file(step.record.journal, step.record.serial), step.record.data.decode())
            catalog = replace(catalog, head=step.record.head)
    return catalog


def forget(workspace: Workspace) -> None:
    """Take away what pawl remembers between commands; open handles keep what they have."""
    for path in workspace.private.glob("*"):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix == ".db" and path != workspace.ledger_file:
            forget_memory(path)


def contents(workspace: Workspace, files: tuple[str, ...]) -> dict[str, bytes]:
    """Return files by their names within the workspace."""
    return {name: (workspace.root / name).read_bytes() for name in files}


def ref(version: str) -> str:
    """Return a version of the first prompt."""
    return str(Ref(NAME, parse_ref(f"{NAME}@{version}").version))


def _done(report: Any) -> Any:
    assert report.exit_code == 0, report.problems
    return report


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
