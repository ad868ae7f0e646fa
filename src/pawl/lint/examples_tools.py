"""Examples of what is found in tools and in heads: a head with the code, why it matters, what has it, what has not."""

from __future__ import annotations

TOOLS = """
=== tool-name tool
Vendors take 64 of letters, digits, _ and -, and hosts put prefixes before a name (lint.prefixes), so a name that is
right alone can be too long where it is used. Gemini wants a letter or _ first.
---
name: orders.check
---
name: orders_check
=== tool-description-long tool
OpenAI refuses a longer description, and some hosts cut at 2,048 characters without a word: what a model should know is
then missing.
---
description: "Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order.
  Checks an order. Checks an order. Checks an order. Checks an order. Checks an order. Checks an order."
---
description: Checks an order. Say more in the descriptions of the arguments.
=== tool-argument-undescribed tool
A model fills an argument by its name and its description; without the second it guesses.
---
inputSchema:
  type: object
  properties: {since: {type: string}}
---
inputSchema:
  type: object
  properties: {since: {type: string, description: "The first day, such as 2026-03-01."}}
=== tool-count closure
Vendors bound how many tools a request may have, at 128 or less, and models choose worse from about 40 on. A workflow's
closure is what an agent holds at once.
---
# forty-one tools or more that one workflow requires
---
# no more than forty
=== tool-name-clash closure
Models and hosts see the exported name only, and some do not look at its case: of two tools with one name the wrong one
is called.
---
shop/find: {description: Finds an order.}
stock/find: {description: Finds an article.}
---
shop/find: {description: Finds an order.}
stock/find: {description: Finds an article., name: find_article}
=== mcp-header tool
A client that finds an x-mcp-header it cannot send drops the tool. It has to be a token, to differ from the others by
more than case, to stand on a string, integer or boolean that properties alone lead to, and to carry no secret: proxies
and logs see headers.
---
inputSchema:
  type: object
  properties: {region: {type: object, x-mcp-header: Region}}
---
inputSchema:
  type: object
  properties: {region: {type: string, x-mcp-header: Region}}
=== tool-output-closed tool
Hosts validate what comes back. A field that a closed schema does not list is refused by every host that has the old
version, so adding one is a major change.
---
outputSchema:
  type: object
  properties: {found: {type: boolean}}
  additionalProperties: false
---
outputSchema:
  type: object
  properties: {found: {type: boolean}}
=== summary-missing tool
The summary is what people read in lists and reviews.
---
summary: ""
---
summary: Checks whether an order can be refunded.
=== owner-missing tool
Somebody has to be asked when it fails.
---
labels: {domain: orders}
---
owner: payments
=== requires-unused workflow
What is required is pinned, tested and released together; what no step uses only makes that harder.
---
requires: {orders/check: ">=1,<2"}
spec:
  steps: [{id: done, end: {outcome: done}}]
---
requires: {}
spec:
  steps: [{id: done, end: {outcome: done}}]
=== workflow-unreachable workflow
A step that no walk comes to is an edit that was not finished.
---
spec:
  steps:
    - {id: done, end: {outcome: done}}
    - {id: denied, end: {outcome: denied}}
---
spec:
  steps:
    - {id: done, end: {outcome: done}}
=== workflow-input-unused workflow
Callers give an input that changes nothing, and believe that it does. Use it, or take it out.
---
requires: {orders/check: ">=1,<2"}
spec:
  inputs: {type: object, properties: {id: {type: string}, note: {type: string}}, required: [id]}
  steps:
    - {id: check, tool: orders/check, with: {id: "${{ inputs.id }}"}, then: done}
    - {id: done, end: {outcome: done}}
---
requires: {orders/check: ">=1,<2"}
spec:
  inputs: {type: object, properties: {id: {type: string}}, required: [id]}
  steps:
    - {id: check, tool: orders/check, with: {id: "${{ inputs.id }}"}, then: done}
    - {id: done, end: {outcome: done}}
=== workflow-unguarded workflow
A walk stops where it reads an input that was not given. Ask with has(), give a default, or require it.
---
requires: {orders/check: ">=1,<2"}
spec:
  inputs: {type: object, properties: {note: {type: string}}}
  steps:
    - {id: check, tool: orders/check, with: {note: "${{ inputs.note }}"}, then: done}
    - {id: done, end: {outcome: done}}
---
requires: {orders/check: ">=1,<2"}
spec:
  inputs: {type: object, properties: {note: {type: string, default: ""}}}
  steps:
    - {id: check, tool: orders/check, with: {note: "${{ inputs.note }}"}, then: done}
    - {id: done, end: {outcome: done}}
"""
