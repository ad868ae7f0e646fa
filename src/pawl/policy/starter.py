"""Policies to start from. A new workspace gets what a careful team would keep, each rule with its own examples.

What protects people is safety and holds for rollbacks too; what helps them work is readiness and never holds one up.
"""

from __future__ import annotations

DEFAULT_POLICY_TEXT = """\
# The rules of this workspace. Edit them, try them with `pawl policy test`, see what they would change with
# `pawl policy plan`; they are in force once they are adopted: pawl policy adopt --reason "..."
policy: default
owner: maintainers                # who answers for these rules
rules:
  - id: TOOL-EFFECTS
    class: safety                 # safety: holds for promote, rollback, audit. readiness: for promote only
    level: waivable               # advisory warns, waivable can be waived for a time, absolute cannot
    applies: {kinds: [tool]}
    # As in MCP, a tool is destructive unless it says readOnlyHint: true or destructiveHint: false.
    require: >-
      (has(procedure.spec.effects) && size(procedure.spec.effects) > 0)
      || (has(procedure.spec.annotations) && has(procedure.spec.annotations.readOnlyHint)
          && procedure.spec.annotations.readOnlyHint == true)
      || (has(procedure.spec.annotations) && has(procedure.spec.annotations.destructiveHint)
          && procedure.spec.annotations.destructiveHint == false)
    message: "A tool that may destroy something lists what it touches under spec.effects, such as orders:write."
    tests:
      - {name: destructive by default, procedure: {spec: {effects: null}}, expect: denied}
      - {name: an empty list of effects, procedure: {spec: {effects: []}}, expect: denied}
      - {name: other hints do not count, procedure: {spec: {annotations: {idempotentHint: true}}}, expect: denied}
      - {name: effects are listed, procedure: {spec: {effects: ["orders:write"]}}, expect: allowed}
      - {name: reads only, procedure: {spec: {annotations: {readOnlyHint: true}}}, expect: allowed}
      - {name: destroys nothing, procedure: {spec: {annotations: {destructiveHint: false}}}, expect: allowed}

  - id: TOOL-RISK
    class: readiness
    level: waivable
    applies: {kinds: [tool]}
    require: >-
      (has(procedure.labels) && has(procedure.labels.risk) && procedure.labels.risk.matches("^(low|medium|high)$"))
      || (has(procedure.spec.annotations) && has(procedure.spec.annotations.readOnlyHint)
          && procedure.spec.annotations.readOnlyHint == true)
      || (has(procedure.spec.annotations) && has(procedure.spec.annotations.destructiveHint)
          && procedure.spec.annotations.destructiveHint == false)
    message: "A tool that may destroy something says how bad that would be: labels: {risk: low}, medium or high."
    tests:
      - {name: nobody thought of it, procedure: {labels: null}, expect: denied}
      - {name: a word of one's own, procedure: {labels: {risk: some}}, expect: denied}
      - {name: other labels do not count, procedure: {labels: {domain: refunds}}, expect: denied}
      - {name: told, procedure: {labels: {risk: high}}, expect: allowed}
      - {name: reads only, procedure: {spec: {annotations: {readOnlyHint: true}}}, expect: allowed}
      - {name: destroys nothing, procedure: {spec: {annotations: {destructiveHint: false}}}, expect: allowed}

  - id: WORKFLOW-BUDGET
    class: safety
    level: absolute
    applies: {kinds: [workflow]}
    require: >-
      has(procedure.spec.budget) && has(procedure.spec.budget.max_steps) && procedure.spec.budget.max_steps <= 100
    message: A workflow ends by itself, after 100 steps at most (spec.budget.max_steps).
    tests:
      - {name: no budget, procedure: {spec: {budget: null}}, expect: denied}
      - {name: a budget of something else, procedure: {spec: {budget: {tokens: 1000}}}, expect: denied}
      - {name: too many steps, procedure: {spec: {budget: {max_steps: 101}}}, expect: denied}
      - {name: bounded, procedure: {spec: {budget: {max_steps: 100}}}, expect: allowed}

  - id: PROMPT-INPUTS
    class: readiness
    level: waivable
    applies: {kinds: [prompt]}
    require: >-
      has(procedure.spec.inputs) || (has(procedure.spec.template) && procedure.spec.template == "none")
    message: "A prompt declares its inputs (spec.inputs), or says that it has none (template: none)."
    tests:
      - {name: undeclared, procedure: {spec: {inputs: null}}, expect: denied}
      - {name: declared, procedure: {spec: {inputs: {type: object}}}, expect: allowed}
      - {name: literal text, procedure: {spec: {inputs: null, template: none}}, expect: allowed}

  - id: OWNER
    class: readiness
    level: waivable
    require: has(procedure.owner) && procedure.owner.matches("[^ ]")
    message: Every procedure has an owner, whom people can ask.
    tests:
      - {name: nobody, procedure: {owner: null}, expect: denied}
      - {name: an empty name, procedure: {owner: ""}, expect: denied}
      - {name: somebody, procedure: {owner: payments}, expect: allowed}

  - id: SUMMARY
    class: readiness
    level: advisory
    require: has(procedure.summary) && procedure.summary.matches("[^ ]")
    message: A summary tells in a sentence what the procedure does.
    tests:
      - {name: none, procedure: {summary: null}, expect: denied}
      - {name: a sentence, procedure: {summary: Drafts a refund for a person to approve.}, expect: allowed}

  - id: CHANGES
    class: readiness
    level: advisory
    require: has(procedure.changes) && procedure.changes.matches("[^ ]")
    message: A version says what it changes (changes), for whoever reads the history.
    tests:
      - {name: silent, procedure: {changes: null}, expect: denied}
      - {name: says it, procedure: {changes: First version.}, expect: allowed}

  - id: FRESH-RESULTS
    class: readiness
    level: waivable
    evidence: {max_age: P30D}
    message: Suites have passed within the last 30 days; promoting runs again what is older.
    tests:
      - {name: never run, procedure: {}, expect: denied}
      - {name: a month ago, procedure: {}, given: {evidence: {example: P30D}}, expect: denied}
      - {name: one of two is old, procedure: {}, given: {evidence: {first: P1D, second: P90D}}, expect: denied}
      - {name: last week, procedure: {}, given: {evidence: {example: P7D}}, expect: allowed}

  - id: DEPRECATED
    class: safety
    level: advisory
    withdrawn: {refuse: [deprecated]}
    message: Nothing deprecated is in it; plan the move to another version.
    tests:
      - {name: itself, procedure: {}, given: {withdrawn: {example@1.0.0: deprecated}}, expect: denied}
      - {name: something that it requires, procedure: {}, given: {withdrawn: {other@1.0.0: deprecated}}, expect: denied}
      - {name: nothing is, procedure: {}, expect: allowed}

  - id: NO-PRERELEASE
    class: readiness
    level: waivable
    applies: {channels: [production]}
    require: '!procedure.version.matches("(a|b|rc)[0-9]+$")'
    message: Production gets finished versions; pre-releases stay on the channels before it.
    tests:
      - {name: a candidate, procedure: {version: 1.2.0rc1}, expect: denied}
      - {name: a finished version, procedure: {version: 1.2.0}, expect: allowed}
      - {name: a candidate on staging, procedure: {version: 1.2.0rc1}, channel: staging, expect: allowed}

# To be switched on where the team is larger than one. List the people in registry/registry.yaml first
# (people: {ben@example.invalid: [risk]}): nobody approves what they made or ask for themselves.
#
#  - id: SECOND-PAIR-OF-EYES
#    class: readiness
#    level: waivable
#    applies: {channels: [production], labels: {risk: high}}
#    approvals: {count: 1, roles: [risk]}
#    message: Somebody who answers for risk has approved what is risky, before it reaches production.
#    tests:
#      - {name: nobody, procedure: {labels: {risk: high}}, given: {approvals: []}, expect: denied}
#      - name: a colleague without the role
#        procedure: {labels: {risk: high}}
#        given: {approvals: [{by: cat@example.invalid, roles: [release]}]}
#        expect: denied
#      - name: who asks for it
#        procedure: {labels: {risk: high}}
#        actor: {email: ben@example.invalid}
#        given: {approvals: [{by: ben@example.invalid, roles: [risk]}]}
#        expect: denied
#      - name: somebody else
#        procedure: {labels: {risk: high}}
#        given: {approvals: [{by: ben@example.invalid, roles: [risk]}]}
#        expect: allowed
#
#  - id: SOAK
#    class: readiness
#    level: waivable
#    applies: {channels: [production]}
#    soak: {channel: staging, at_least: PT24H}
#    message: A version was live on staging for a day before it reaches production.
#    tests:
#      - {name: never there, procedure: {}, given: {live: {}}, expect: denied}
#      - {name: for an hour, procedure: {}, given: {live: {staging: PT1H}}, expect: denied}
#      - {name: for a day, procedure: {}, given: {live: {staging: PT24H}}, expect: allowed}
"""

NEW_POLICY_TEXT = """\
policy: "NAME"
owner: your-team
rules:
  - id: RULE-1
    class: safety                 # safety: promote, rollback and audit. readiness: promote only
    level: absolute               # advisory warns, waivable can be waived for a time, absolute cannot
    applies: {kinds: [workflow]}  # also: names, channels, actions, labels
    require: has(procedure.spec.budget) && procedure.spec.budget.max_steps <= 20
    message: A workflow ends by itself after 20 steps at most.
    tests:
      - {name: bounded, procedure: {kind: workflow, spec: {budget: {max_steps: 8}}}, expect: allowed}
      - {name: unbounded, procedure: {kind: workflow, spec: {budget: null}}, expect: denied}
"""


def policy_starter(name: str) -> str:
    """Return the text of a policy source to start from; its name is the last segment of ``name``.

    The rule's id comes from the name, for ids are there once in all policies of a workspace.
    """
    word = name.rpartition("/")[2]
    return NEW_POLICY_TEXT.replace("NAME", word).replace("RULE", word.upper())
