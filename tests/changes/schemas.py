"""Random schemas, random instances of them, and changes whose direction is known: for the property tests.

Everything comes from one ``random.Random``, so a seed is enough to see a case again.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

NAMES = ("a", "b", "c", "kind")
FRESH = ("new1", "new2")
STRANGE = ("zz", "z1")
WORDS = ("", "x", "xy", "abc", "A", "1", "red", "blue")
PATTERNS = ("^x", "c$", "[0-9]", "^[a-z]*$")
NUMBERS = (0, 1, 2, 3, -1, 5, 10, 0.5, 1.5, 100)
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
Schema = Any


def dice(seed: int) -> Random:
    """Return the one source of everything that is random."""
    return Random(seed)  # noqa: S311 - nothing secret is made of it


def schema(rng: Random, depth: int = 3, *, defs: tuple[str, ...] = ()) -> Schema:
    """Return a schema; ``defs`` are names that it can refer to."""
    roll = rng.random()
    if depth <= 0 or roll < 0.08:
        return rng.choice([{}, True, {"type": rng.choice(TYPES)}, {"type": "string"}, {"type": "integer"}])
    if defs and roll < 0.2:
        return {"$ref": f"#/$defs/{rng.choice(defs)}"}
    if roll < 0.38:
        keyword = rng.choice(("anyOf", "oneOf", "anyOf", "oneOf", "allOf"))
        return {keyword: [schema(rng, depth - 1, defs=defs) for _ in range(rng.randint(1, 3))]}
    if roll < 0.5:
        values = rng.sample([*WORDS, *NUMBERS, None, True, False, {"a": 1}, [1]], rng.randint(1, 4))
        return {"enum": values} if roll < 0.46 else {"const": values[0]}
    found: dict[str, Any] = {}
    types = rng.sample(TYPES, rng.choice((1, 1, 1, 2)))
    if rng.random() < 0.9:
        found["type"] = types[0] if len(types) == 1 else types
    for name in types:
        found |= PARTS[name](rng, depth, defs)
    if rng.random() < 0.12:
        found |= condition(rng, depth, defs)
    if rng.random() < 0.1:
        found["description"] = rng.choice(WORDS)
    return found


def document(rng: Random, depth: int = 3) -> dict[str, Any]:
    """Return a schema with definitions, recursive ones among them."""
    names = ("d1", "d2") if rng.random() < 0.4 else ()
    root = schema(rng, depth, defs=names)
    root = root if isinstance(root, dict) else {}
    if names:
        root = {**root, "$defs": {name: _consuming(rng, schema(rng, 2, defs=names)) for name in names}}
    return root


def _consuming(rng: Random, found: Schema) -> Schema:
    """Return a definition that refers to others only below a property or an item, or not at all."""
    text = json.dumps(found)
    if "$ref" not in text:
        return found
    return {"type": "object", "properties": {rng.choice(NAMES): found}}


def _numbers(rng: Random, _depth: int, _defs: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if rng.random() < 0.4:
        found[rng.choice(("minimum", "exclusiveMinimum"))] = rng.choice((0, 1, 0.5, -1))
    if rng.random() < 0.4:
        found[rng.choice(("maximum", "exclusiveMaximum"))] = rng.choice((3, 5, 10, 2.5))
    if rng.random() < 0.2:
        found["multipleOf"] = rng.choice((1, 2, 0.5, 3))
    return found


def _strings(rng: Random, _depth: int, _defs: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if rng.random() < 0.4:
        found["minLength"] = rng.choice((0, 1, 2))
    if rng.random() < 0.3:
        found["maxLength"] = rng.choice((2, 3, 5))
    if rng.random() < 0.2:
        found["pattern"] = rng.choice(PATTERNS)
    return found


def _arrays(rng: Random, depth: int, defs: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if rng.random() < 0.6:
        found["items"] = rng.choice((False, schema(rng, depth - 1, defs=defs), schema(rng, depth - 1, defs=defs)))
    if rng.random() < 0.25:
        found["prefixItems"] = [schema(rng, depth - 1, defs=defs) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.3:
        found["minItems"] = rng.choice((0, 1, 2))
    if rng.random() < 0.3:
        found["maxItems"] = rng.choice((1, 2, 3))
    if rng.random() < 0.15:
        found["uniqueItems"] = rng.random() < 0.7
    return found


def _objects(rng: Random, depth: int, defs: tuple[str, ...]) -> dict[str, Any]:
    names = rng.sample(NAMES, rng.randint(0, 3))
    found: dict[str, Any] = {"properties": {name: schema(rng, depth - 1, defs=defs) for name in names}}
    if names and rng.random() < 0.6:
        found["required"] = rng.sample(names, rng.randint(0, len(names)))
    if rng.random() < 0.4:
        found["additionalProperties"] = rng.choice((False, False, True, schema(rng, depth - 1, defs=defs)))
    if rng.random() < 0.12:
        found["patternProperties"] = {rng.choice(("^z", "^[ab]")): schema(rng, depth - 1, defs=defs)}
    if rng.random() < 0.06:
        found["unevaluatedProperties"] = False
        found |= condition(rng, depth, defs) if rng.random() < 0.5 else {}
    if rng.random() < 0.1:
        found["minProperties"] = rng.choice((1, 2))
    if rng.random() < 0.1:
        found["maxProperties"] = rng.choice((1, 2, 3))
    return found


def _nothing(_rng: Random, _depth: int, _defs: tuple[str, ...]) -> dict[str, Any]:
    return {}


PARTS: dict[str, Callable[[Random, int, tuple[str, ...]], dict[str, Any]]] = {
    "null": _nothing,
    "boolean": _nothing,
    "integer": _numbers,
    "number": _numbers,
    "string": _strings,
    "array": _arrays,
    "object": _objects,
}


def condition(rng: Random, depth: int, defs: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return one keyword that is compared as a whole."""
    inner = [schema(rng, min(depth - 1, 1), defs=defs) for _ in range(3)]
    choices: list[dict[str, Any]] = [
        {"not": inner[0]},
        {"if": inner[0], "then": inner[1]},
        {"if": inner[0], "else": inner[1]},
        {"contains": inner[0]},
        {"contains": inner[0], "minContains": rng.choice((0, 2)), "maxContains": 3},
        {"propertyNames": {"maxLength": rng.choice((1, 2))}},
        {"dependentRequired": {rng.choice(NAMES): [rng.choice(NAMES)]}},
        {"dependentSchemas": {rng.choice(NAMES): inner[0]}},
        {"anyOf": inner[:2]},
        {"oneOf": inner[:2]},
        {"unevaluatedProperties": rng.choice((False, {"type": "string"}))},
        {"unevaluatedItems": False},
    ]
    return rng.choice(choices)


def instance(rng: Random, found: Schema, root: Any, depth: int = 6) -> Any:
    """Return a value that probably holds under a schema."""
    if not isinstance(found, dict) or depth <= 0 or rng.random() < 0.04:
        return anything(rng, min(depth, 2))
    for key in ("enum", "const"):
        if key in found and rng.random() < 0.95:
            return rng.choice(found[key]) if key == "enum" else found[key]
    if "$ref" in found:
        here = root
        for part in found["$ref"].split("/")[1:]:
            here = here[part]
        return instance(rng, here, root, depth - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in found:
            chosen = rng.choice(found[key])
            made = instance(rng, chosen, root, depth - 1)
            rest = {name: value for name, value in found.items() if name != key}
            others = [part for part in found[key] if part is not chosen] if key == "allOf" else []
            for other in (rest, *others):
                more = instance(rng, other, root, depth - 1)
                made = {**made, **more} if isinstance(made, dict) and isinstance(more, dict) else made
                if not isinstance(made, type(more)) and rng.random() < 0.5 and other:
                    made = more
            return made
    types = found.get("type") or _guess(found)
    name = rng.choice(types) if isinstance(types, list) else types
    return MADE[name](rng, found, root, depth)


def _guess(found: dict[str, Any]) -> list[str]:
    if "properties" in found or "required" in found or "additionalProperties" in found:
        return ["object"]
    if "items" in found or "prefixItems" in found:
        return ["array"]
    return list(TYPES)


def anything(rng: Random, depth: int = 2) -> Any:
    """Return any value at all."""
    roll = rng.random()
    if depth > 0 and roll < 0.2:
        names = rng.sample((*NAMES, *STRANGE), rng.randint(0, 3))
        return {name: anything(rng, depth - 1) for name in names}
    if depth > 0 and roll < 0.35:
        return [anything(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return rng.choice([*WORDS, *NUMBERS, None, True, False])


def _number(rng: Random, found: dict[str, Any], _root: Any, _depth: int) -> Any:
    edges = [found[key] for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") if key in found]
    near = [edge + by for edge in edges for by in (0, 1, -1, 0.5)]
    value = rng.choice([*near, *NUMBERS])
    return int(value) if float(value).is_integer() else value


def _integer(rng: Random, found: dict[str, Any], root: Any, depth: int) -> Any:
    return int(_number(rng, found, root, depth))


def _string(rng: Random, found: dict[str, Any], _root: Any, _depth: int) -> Any:
    lengths = [found[key] for key in ("minLength", "maxLength") if key in found]
    texts = [letter * length for length in lengths for letter in "x1A"]
    formats = {"date-time": "2026-01-01T00:00:00Z"}
    return rng.choice([*WORDS, *texts, *([formats[found["format"]]] if found.get("format") in formats else [])])


def _array(rng: Random, found: dict[str, Any], root: Any, depth: int) -> Any:
    fixed = found.get("prefixItems", [])
    length = rng.randint(0, 3) if rng.random() < 0.7 else found.get("minItems", 0)
    items = found.get("items", True)
    if items is False:
        length = min(length, len(fixed))
    made = [instance(rng, fixed[at] if at < len(fixed) else items, root, depth - 1) for at in range(length)]
    if "contains" in found and rng.random() < 0.7:
        made.append(instance(rng, found["contains"], root, depth - 1))
    return made


def _object(rng: Random, found: dict[str, Any], root: Any, depth: int) -> Any:
    properties = found.get("properties", {})
    names = [name for name in properties if name in found.get("required", []) or rng.random() < 0.5]
    made = {name: instance(rng, properties[name], root, depth - 1) for name in names if name not in FRESH}
    for name in found.get("required", []):
        if name not in made and name not in FRESH:
            made[name] = anything(rng, 1)
    rest = found.get("additionalProperties", True)
    if rest is not False and rng.random() < 0.35:
        made[rng.choice((*STRANGE, *NAMES))] = instance(rng, rest, root, depth - 1)
    return made


MADE: dict[str, Callable[[Random, dict[str, Any], Any, int], Any]] = {
    "null": lambda _rng, _found, _root, _depth: None,
    "boolean": lambda rng, _found, _root, _depth: rng.random() < 0.5,
    "integer": _integer,
    "number": _number,
    "string": _string,
    "array": _array,
    "object": _object,
}


def nodes(root: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping that is a schema where accepting less is accepting less as a whole."""
    waiting = [root]
    while waiting:
        here = waiting.pop()
        if not isinstance(here, dict):
            continue
        yield here
        for key in ("properties", "patternProperties", "$defs"):
            waiting.extend(here.get(key, {}).values())
        for key in ("anyOf", "allOf", "prefixItems"):
            waiting.extend(here.get(key, []))
        waiting.extend(here[key] for key in ("items", "additionalProperties") if key in here)


def narrowed(rng: Random, root: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that accepts at most what ``root`` does."""
    found = copy.deepcopy(root)
    here = rng.choice(list(nodes(found)))
    choices: list[dict[str, Any]] = [
        {"allOf": [*here.get("allOf", []), schema(rng, 0)]},
        {"minLength": here.get("minLength", 0) + 1},
        {"maxLength": min(here.get("maxLength", 9), 9) - 1},
        {"minItems": here.get("minItems", 0) + 1},
        {"maxItems": max(0, min(here.get("maxItems", 4), 4) - 1)},
        {"minimum": max(here.get("minimum", -5), -5) + 1},
        {"maximum": min(here.get("maximum", 50), 50) - 1},
        {"required": sorted({*here.get("required", []), rng.choice(NAMES)})},
        {"minProperties": here.get("minProperties", 0) + 1},
    ]
    if "not" not in here:
        choices.append({"not": schema(rng, 0)})
    if "type" not in here:
        choices.append({"type": rng.choice(TYPES)})
    elif isinstance(here["type"], list):
        choices.append({"type": here["type"][0]})
    if len(here.get("enum", [])) > 1:
        choices += [{"enum": here["enum"][1:]}] * 4
    if "additionalProperties" not in here and "unevaluatedProperties" not in here:
        choices += [{"additionalProperties": rng.choice((False, {"type": "string"}))}] * 2
    if "pattern" not in here:
        choices.append({"pattern": rng.choice(PATTERNS)})
    here.update(rng.choice(choices))
    return found


def respelled(rng: Random, root: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the same meaning, written in another way."""
    found = copy.deepcopy(root)
    for _ in range(rng.randint(1, 3)):
        here = rng.choice(list(nodes(found)))
        rng.choice(RESPELLINGS)(rng, here, found)
    return found


def _shuffle(rng: Random, here: dict[str, Any], _root: dict[str, Any]) -> None:
    keys = list(here)
    rng.shuffle(keys)
    for key in keys:
        here[key] = here.pop(key)


def _enum(rng: Random, here: dict[str, Any], _root: dict[str, Any]) -> None:
    if "enum" in here:
        rng.shuffle(here["enum"])
    elif "const" in here:
        here["enum"] = [here.pop("const")]


def _all_of(_rng: Random, here: dict[str, Any], root: dict[str, Any]) -> None:
    if "allOf" in here or "$ref" in here or "unevaluated" in json.dumps(root):
        return  # unevaluated keywords look at how their siblings are written: there a difference is undecided
    whole = ("properties", "patternProperties", "additionalProperties", "items", "prefixItems")
    pairs = ("if", "then", "else", "contains", "minContains", "maxContains")
    moved = {key: here.pop(key) for key in list(here) if key not in (*whole, *pairs, "$defs")}
    here["allOf"] = [{key: value} for key, value in moved.items()] or [{}]


def _defaults(rng: Random, here: dict[str, Any], _root: dict[str, Any]) -> None:
    if "unevaluatedProperties" in here:
        return
    for key, value in (("required", []), ("minLength", 0), ("uniqueItems", False), ("minItems", 0)):
        if rng.random() < 0.4:
            here.setdefault(key, value)


def _types(_rng: Random, here: dict[str, Any], _root: dict[str, Any]) -> None:
    types = here.get("type")
    if isinstance(types, str):
        here["type"] = [types]
    elif isinstance(types, list) and set(here) <= {"type", "description"}:
        del here["type"]
        here["anyOf"] = [{"type": name} for name in types]


def _defined(rng: Random, here: dict[str, Any], root: dict[str, Any]) -> None:
    if here is root or "$ref" in here:
        return
    name = f"moved{rng.randint(0, 999)}"
    root.setdefault("$defs", {})[name] = dict(here)
    here.clear()
    here["$ref"] = f"#/$defs/{name}"


def _renamed(_rng: Random, _here: dict[str, Any], root: dict[str, Any]) -> None:
    text = json.dumps(root)
    if "d1" in root.get("$defs", {}):
        text = text.replace('"#/$defs/d1"', '"#/$defs/other"').replace('"d1":', '"other":')
        root.clear()
        root.update(json.loads(text))


RESPELLINGS = (_shuffle, _enum, _all_of, _defaults, _types, _defined, _renamed)
