"""Examples of what is found in prompts: a head with the code, why it matters, what has it, what has not."""

from __future__ import annotations

PROMPTS = """
=== prompt-placeholder-unknown prompt
Under template: simple only {{ NAME }} of a declared input is replaced. Anything else goes to the model as it is
written, which is right for examples and wrong for a misspelt name.
---
inputs: {type: object, properties: {order: {type: string}}, required: [order]}
messages: [{role: user, content: "Refund {{ order }} for {{ customer }}."}]
---
inputs:
  type: object
  properties: {order: {type: string}, customer: {type: string}}
  required: [order, customer]
messages: [{role: user, content: "Refund {{ order }} for {{ customer }}."}]
=== prompt-input-unused prompt
Callers have to give what nobody reads, or the place where it was used is gone.
---
inputs: {type: object, properties: {order: {type: string}}, required: [order]}
messages: [{role: user, content: Refund the order.}]
---
inputs: {type: object, properties: {order: {type: string}}, required: [order]}
messages: [{role: user, content: "Refund {{ order }}."}]
=== prompt-role-order prompt
Some models take system messages only before all others.
---
messages: [{role: user, content: Refund it.}, {role: system, content: Be brief.}]
---
messages: [{role: system, content: Be brief.}, {role: user, content: Refund it.}]
=== prompt-secret prompt
A published version is frozen, kept in Git, copied to every agent and sent to vendors. A secret in it has to be replaced
where it was issued; taking it out of the file is not enough.
---
messages: [{role: system, content: 'Call the API with password = "tR7-kq92vLx4".'}]
---
inputs: {type: object, properties: {password: {type: string}}, required: [password]}
messages: [{role: system, content: 'Call the API with password = "{{ password }}".'}]
=== prompt-budget prompt
If the fixed text is over the budget, every rendering is. The count is an estimate, the UTF-8 bytes by three.
---
messages: [{role: user, content: "Say in one word whether the order can be refunded."}]
budget: {tokens: 5}
---
messages: [{role: user, content: "Say in one word whether the order can be refunded."}]
budget: {tokens: 50}
=== prompt-blank-part prompt
Some models refuse a request with an empty message. The same is looked for in each rendered case.
---
messages: [{role: system, content: " "}, {role: user, content: Refund it.}]
---
messages: [{role: user, content: Refund it.}]
=== prompt-trailing-space prompt
Anthropic refuses a request whose last message is the assistant's and ends in white space. A block that is written with
| ends in a newline. The same is looked for in each rendered case.
---
messages:
  - {role: user, content: Refund it.}
  - role: assistant
    content: |
      Dear customer,
---
messages:
  - {role: user, content: Refund it.}
  - role: assistant
    content: |-
      Dear customer,
=== prompt-trailing-blank prompt
Blanks at the end of a line are part of the prompt, and many editors take them away on saving: the text changes, and the
digest with it, and nobody sees where.
---
messages: [{role: user, content: "Refund it. \\nBe brief."}]
---
messages: [{role: user, content: "Refund it.\\nBe brief."}]
"""
