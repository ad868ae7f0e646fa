"""Examples of what is found in schemas: a head with the code, why it matters, what has it, what has not."""

from __future__ import annotations

SCHEMAS = """
=== schema-root-composition tool
A model's arguments are one object, and most vendors want to see its properties at once. One tool with a composition at
its root makes some hosts drop the whole server.
---
inputSchema:
  type: object
  properties: {id: {type: string}, email: {type: string}}
  anyOf: [{required: [id]}, {required: [email]}]
  additionalProperties: false
---
inputSchema:
  type: object
  properties:
    by: {type: string, enum: [id, email], description: What value is.}
    value: {type: string}
  required: [by, value]
  additionalProperties: false
=== schema-open-object tool
An object that does not say that it is closed takes any field that a model invents. Strict modes want every object
closed.
---
inputSchema:
  type: object
  properties: {id: {type: string}}
  required: [id]
---
inputSchema:
  type: object
  properties: {id: {type: string}}
  required: [id]
  additionalProperties: false
=== schema-closed-object tool
Gemini's declarations often do not take the keyword, so its exporter leaves it out and lists the loss. Nothing is to be
done in the file: a closed object is better for all others.
---
inputSchema:
  type: object
  properties: {id: {type: string}}
  additionalProperties: false
---
inputSchema:
  type: object
  properties: {id: {type: string}}
=== schema-optional-property tool
OpenAI's strict mode requires every property, so its exporter makes an optional one required and nullable. Nothing is to
be done in the file.
---
inputSchema:
  type: object
  properties: {note: {type: string}}
  additionalProperties: false
---
inputSchema:
  type: object
  properties: {note: {type: string}}
  required: [note]
  additionalProperties: false
=== schema-ref tool
Gemini's declarations have no references, so its exporter writes the schema out. Nothing is to be done in the file.
---
inputSchema:
  type: object
  properties: {address: {$ref: "#/$defs/address"}}
  $defs: {address: {type: string}}
---
inputSchema:
  type: object
  properties: {address: {type: string}}
=== schema-ref-cycle tool
Whoever expands references never ends with a schema that contains itself, and some vendors expand all of them.
---
inputSchema:
  type: object
  properties: {tree: {$ref: "#/$defs/tree"}}
  $defs:
    tree:
      type: object
      properties: {children: {type: array, items: {$ref: "#/$defs/tree"}}}
---
inputSchema:
  type: object
  properties:
    nodes:
      type: array
      description: Every node, with the id of the one above it.
      items: {type: object, properties: {id: {type: string}, parent: {type: string}}}
=== schema-depth tool
Vendors bound the levels of a schema; limits of 5 and of 10 are reported. Deep arguments are also where models make most
of their errors.
---
inputSchema:
  type: object
  properties:
    a: {type: object, properties: {b: {type: object, properties: {c: {type: object, properties: {d: {type: object,
      properties: {e: {type: object, properties: {f: {type: string}}}}}}}}}}}
---
inputSchema:
  type: object
  properties: {f: {type: string}}
=== schema-type-array tool
A list of types is not read by some vendors; [T, "null"] is what exporters can rewrite.
---
inputSchema:
  type: object
  properties: {id: {type: [string, integer]}}
---
inputSchema:
  type: object
  properties: {id: {type: string}}
=== schema-boolean tool
true and false are schemas in the standard, and not for every vendor. They also tell a model nothing.
---
inputSchema:
  type: object
  properties: {payload: true}
---
inputSchema:
  type: object
  properties: {payload: {type: string, description: The payload as JSON.}}
=== schema-oneof tool
Few vendors read oneOf. Where at most one branch can hold, anyOf means the same and is read by most.
---
inputSchema:
  type: object
  properties: {amount: {oneOf: [{type: number, minimum: 1}, {type: number, maximum: 9}]}}
---
inputSchema:
  type: object
  properties: {amount: {anyOf: [{type: number}, {type: string}]}}
=== schema-allof tool
Few vendors merge schemas; what one branch says is then lost.
---
inputSchema:
  type: object
  properties: {amount: {allOf: [{type: number}, {minimum: 1}]}}
---
inputSchema:
  type: object
  properties: {amount: {type: number, minimum: 1}}
=== schema-keyword tool
These keywords describe what a model's decoder cannot be held to, so vendors refuse them, and those that take them do
not enforce them. pawl does, on each call.
---
inputSchema:
  type: object
  properties: {pair: {type: array, prefixItems: [{type: string}, {type: number}]}}
---
inputSchema:
  type: object
  properties: {unit: {type: string}, amount: {type: number}}
=== schema-const tool
Some vendors do not read const, and then the model does not know the value. An enum of one says the same.
---
inputSchema:
  type: object
  properties: {kind: {type: string, const: refund}}
---
inputSchema:
  type: object
  properties: {kind: {type: string, enum: [refund]}}
=== schema-default tool
Some vendors refuse or drop default, and none fills it in. Say in the description what happens without the argument.
---
inputSchema:
  type: object
  properties: {limit: {type: integer, default: 10}}
---
inputSchema:
  type: object
  properties: {limit: {type: integer, description: At most so many; 10 without it.}}
=== schema-bound tool
Some vendors do not read exclusive bounds, so a model does not know of them.
---
inputSchema:
  type: object
  properties: {amount: {type: integer, exclusiveMinimum: 0}}
---
inputSchema:
  type: object
  properties: {amount: {type: integer, minimum: 1}}
=== schema-property-name tool
Vendors check the names of arguments: a letter or _ first, then at most 63 of letters, digits, _ and -; Gemini takes no
- either. A tool with another name is refused as a whole.
---
inputSchema:
  type: object
  properties: {"order id": {type: string}}
---
inputSchema:
  type: object
  properties: {order_id: {type: string}}
"""
