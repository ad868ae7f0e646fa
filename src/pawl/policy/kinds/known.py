"""The kinds of rules: the key of a rule that says what it demands, with the one module that knows it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pawl.policy.context import RuleKind
from pawl.policy.kinds.approvals import KIND as APPROVALS
from pawl.policy.kinds.bump import KIND as BUMP
from pawl.policy.kinds.evidence import KIND as EVIDENCE
from pawl.policy.kinds.freeze import KIND as FREEZE
from pawl.policy.kinds.require import KIND as REQUIRE
from pawl.policy.kinds.soak import KIND as SOAK
from pawl.policy.kinds.withdrawn import KIND as WITHDRAWN

RULE_KINDS: Mapping[str, RuleKind] = MappingProxyType(
    {
        "require": REQUIRE,
        "evidence": EVIDENCE,
        "approvals": APPROVALS,
        "soak": SOAK,
        "freeze": FREEZE,
        "bump": BUMP,
        "withdrawn": WITHDRAWN,
    }
)
