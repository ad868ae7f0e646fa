"""What must hold of a GitHub workflow that people copy, beyond GitHub's schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}\Z")
_WRITES = {"contents", "packages", "id-token", "actions", "deployments", "checks", "statuses", "issues"}
"""What no job of a checker has to write."""


def lint(workflow: Any) -> Iterator[str]:
    """Yield every fault in words."""
    triggers = workflow["on"]
    if {"pull_request_target", "workflow_run"} & set(triggers):
        yield "a trigger hands secrets to a stranger's branch"
    if workflow.get("permissions") != {}:
        yield "permissions are given to the whole workflow, not job by job"
    for name, job in workflow["jobs"].items():
        yield from (f"{name}: {fault}" for fault in job_faults(job))


def job_faults(job: Any) -> Iterator[str]:
    """Yield the faults of one job."""
    permissions = job.get("permissions")
    if not isinstance(permissions, dict) or not permissions:
        yield "it has no permissions of its own"
    else:
        writes = {what for what, how in permissions.items() if how == "write"}
        if writes & _WRITES:
            yield f"it may write {', '.join(sorted(writes & _WRITES))}"
        if writes and any("actions/checkout" in step.get("uses", "") for step in job["steps"]):
            yield "it reads the branch and has a token that writes"
    for step in job["steps"]:
        if "uses" in step and not _PINNED.match(step["uses"]):
            yield f"{step['uses']} is not pinned to a commit"
        if "${{" in step.get("run", ""):
            yield "a script has a value pasted in"
        if "actions/checkout" in step.get("uses", "") and step.get("with", {}).get("persist-credentials") is not False:
            yield "the checkout leaves credentials behind"
