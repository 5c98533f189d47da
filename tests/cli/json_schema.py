"""As much of JSON Schema as `swarmkv schema` uses, so that the tests need no package for it."""

import json
import re

NUMBER = (int, float)
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
# What says nothing about a value.
NOTES = {"$schema", "title", "description"}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, NUMBER) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def equal(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def members_accepted(schema, value):
    """properties, patternProperties and additionalProperties of an object."""
    for key, member in value.items():
        known = False
        if key in schema.get("properties", {}):
            known = True
            if not accepts(schema["properties"][key], member):
                return False
        for pattern, rule in schema.get("patternProperties", {}).items():
            if re.search(pattern, key):
                known = True
                if not accepts(rule, member):
                    return False
        if not known and not accepts(schema.get("additionalProperties", True), member):
            return False
    return True


# keyword -> (the type it speaks of, does the value follow it)
RULES = {
    "const": (None, lambda rule, value, _: equal(rule, value)),
    "enum": (None, lambda rule, value, _: any(equal(each, value) for each in rule)),
    "type": (None, lambda rule, value, _: any(
        is_type(value, name) for name in ([rule] if isinstance(rule, str) else rule))),
    "anyOf": (None, lambda rule, value, _: any(accepts(each, value) for each in rule)),
    "allOf": (None, lambda rule, value, _: all(accepts(each, value) for each in rule)),
    "not": (None, lambda rule, value, _: not accepts(rule, value)),
    "minimum": (NUMBER, lambda rule, value, _: value >= rule),
    "maximum": (NUMBER, lambda rule, value, _: value <= rule),
    "exclusiveMinimum": (NUMBER, lambda rule, value, _: value > rule),
    "exclusiveMaximum": (NUMBER, lambda rule, value, _: value < rule),
    "minLength": (str, lambda rule, value, _: len(value) >= rule),
    "pattern": (str, lambda rule, value, _: re.search(rule, value) is not None),
    "items": (list, lambda rule, value, _: all(accepts(rule, each) for each in value)),
    "uniqueItems": (list, lambda rule, value, _: len({json.dumps(v) for v in value}) == len(value)),
    "required": (dict, lambda rule, value, _: all(key in value for key in rule)),
    "minProperties": (dict, lambda rule, value, _: len(value) >= rule),
    "propertyNames": (dict, lambda rule, value, _: all(accepts(rule, key) for key in value)),
    "properties": (dict, lambda rule, value, schema: members_accepted(schema, value)),
    "patternProperties": (dict, lambda rule, value, schema: members_accepted(schema, value)),
    "additionalProperties": (dict, lambda rule, value, schema: members_accepted(schema, value)),
}


def accepts(schema, value):
    if isinstance(schema, bool):
        return schema
    for keyword, rule in schema.items():
        if keyword in NOTES:
            continue
        of_type, follows = RULES[keyword]  # a keyword that is not known here must not pass unseen
        if of_type is not None and (not isinstance(value, of_type) or isinstance(value, bool)):
            continue
        if not follows(rule, value, schema):
            return False
    return True
