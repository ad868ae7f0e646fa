"""A tool moves under a workflow that is pinned: the release is refused where the workflow no longer fits it."""

from __future__ import annotations

import pytest

from support import SECOND, Shop

TOOL, FLOW = "procedures/support/check-eligibility.yaml", "procedures/support/refund.yaml"
SUITE = """\
suite: {name}
about: support/check-eligibility
versions: "{versions}"
cases:
  - {{id: a-call, call: {call}, assert: [{{type: accepted}}]}}
"""


@pytest.fixture
def served(plain_shop: Shop) -> Shop:
    """Version 2 of the story everywhere; its workflow takes the tool's next major version as well."""
    plain_shop.release_first()
    plain_shop.reach(_served)
    return plain_shop


def _served(shop: Shop) -> None:
    shop.second()
    shop.edit(FLOW, ('support/check-eligibility: ">=1,<2"', 'support/check-eligibility: ">=1,<3"'))
    shop.write("conformance/check-eligibility.yaml", SUITE.format(name="one", versions="<2", call="{order_id: A1}"))
    shop.pawl("publish")
    shop.everywhere(*SECOND)


def new_tool(shop: Shop, version: str = "2.0.0") -> str:
    """Publish a version of the tool that requires a unit, with its suite."""
    shop.edit(
        TOOL,
        ("version: 1.0.0", f"version: {version}"),
        ("minLength: 1}\n", "minLength: 1}\n      unit: {type: string}\n"),
        ("required: [order_id]", "required: [order_id, unit]"),
    )
    suite = SUITE.format(name="two", versions=">=2", call="{order_id: A1, unit: piece}")
    shop.write("conformance/check-eligibility-2.yaml", suite)
    shop.pawl("publish", "support/check-eligibility")
    return f"support/check-eligibility@{version}"


def new_flow(shop: Shop) -> str:
    """Publish a version of the workflow that gives the unit."""
    shop.edit(
        FLOW,
        ("version: 2.0.0", "version: 2.1.0"),
        ('with: {order_id: "${{ inputs.order_id }}"}', 'with: {order_id: "${{ inputs.order_id }}", unit: piece}'),
        ('support/check-eligibility: ">=1,<3"', 'support/check-eligibility: ">=2,<3"'),
    )
    shop.pawl("publish", "support/refund")
    return "support/refund@2.1.0"


def test_a_tool_that_wants_more_than_a_pinned_workflow_gives(served: Shop) -> None:
    ref = new_tool(served)
    answer = served.promote(ref, to="staging", code=3)
    (problem,) = [problem for problem in answer["problems"] if problem["code"] == "call-incomplete"]
    assert problem["message"] == (
        f"support/refund@2.0.0: the step eligibility gives {ref} no unit, which it requires: the call is refused"
    )
    assert "move versions of support/refund and support/check-eligibility together" in problem["hint"]
    (finding,) = [item for item in answer["verdict"]["findings"] if item["check"] == "fit" and "exit_code" in item]
    assert (finding["status"], finding["exit_code"], finding["subject"]) == ("failed", 3, "support/refund@2.0.0")
    assert served.version("support/check-eligibility", "staging") == "1.0.0"


def test_both_together_pass_and_go_back_together(served: Shop) -> None:
    both = (new_tool(served), new_flow(served))
    answer = served.promote(*both, to="staging")
    checks = [(item["status"], item["subject"]) for item in answer["verdict"]["findings"] if item["check"] == "fit"]
    assert ("passed", "support/refund@2.1.0") not in checks  # the tool takes no empty order, the workflow any
    assert {status for status, _ in checks} == {"warning"}
    assert served.pawl("audit", "--channel", "staging")["exit_code"] == 0
    served.rollback("support/refund@2.0.0", "support/check-eligibility@1.0.0", channel="staging")
    refused = served.rollback("support/check-eligibility@2.0.0", channel="staging", code=3)
    assert "call-incomplete" in served.codes(refused)  # each was live here, never beside the other


def test_a_smaller_version_can_do_it_too(served: Shop) -> None:
    """An open schema may declare a name that callers gave already: a minor change, and it does not fit them."""
    shop = served
    shop.edit(
        TOOL,
        ("version: 1.0.0", "version: 1.1.0"),
        ("    additionalProperties: false\n  outputSchema", "  outputSchema"),
    )
    shop.pawl("publish", "support/check-eligibility")
    shop.edit(FLOW, ("version: 2.0.0", "version: 2.1.0"), ('with: {order_id: "${{ inputs.order_id }}"}', WITH_UNIT))
    shop.edit(FLOW, ('check-eligibility: ">=1,<3"', 'check-eligibility: ">=1.1,<3"'))
    shop.pawl("publish", "support/refund")
    shop.promote("support/check-eligibility@1.1.0", "support/refund@2.1.0", to="staging")
    shop.edit(
        TOOL, ("version: 1.1.0", "version: 1.2.0"), ("minLength: 1}\n", "minLength: 1}\n      unit: {type: number}\n")
    )
    shop.pawl("publish", "support/check-eligibility")
    answer = shop.promote("support/check-eligibility@1.2.0", to="staging", code=3)
    assert shop.codes(answer) == ["call-misfit"]
    assert "support/refund@2.1.0: the step eligibility calls support/check-eligibility@1.2.0" in str(answer["problems"])


WITH_UNIT = 'with: {order_id: "${{ inputs.order_id }}", unit: piece}'


def test_a_suite_fails_where_the_walk_makes_a_call_that_is_refused(served: Shop) -> None:
    """Also before anything is published: what the work tree holds is what is required."""
    shop = served
    shop.edit(TOOL, ("minLength: 1}", "minLength: 3}"))
    answer = shop.pawl("test", "support/refund", code=1)
    assert "step eligibility calls support/check-eligibility@1.0.0, which refuses it: order_id" in str(
        answer["problems"]
    )


def test_serving_asks_nothing_of_it(served: Shop) -> None:
    answer = served.pawl("resolve", "support/refund", "--channel", "production")
    assert answer["version"] == "2.0.0"
    assert served.codes(answer, "warning") == []
