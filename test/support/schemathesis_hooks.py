# What Schemathesis cannot know: cursors, the words of filters, sorts and lists, and which refusals no schema can tell.
import json
import os
import random
import uuid

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

# The codes of refusals that a schema can express, and the exceptions among them.
REFUSALS = json.loads(os.environ["FUZZ_REFUSALS"])
BEYOND = REFUSALS["beyond"]

WORDS = {
    "text": ["a", "Film 3", r"one\;two"],
    "number": ["7", "1999"],
    "date": ["2024-05-01", "now-30d", "2024-05-01T10:00:00Z"],
    "boolean": ["true", "false"],
    "enum": ["movie"],
    "person": ["somebody"],
    "tag": ["Drama"],
    "duration": ["60000"],
    "language": ["en", "pt-BR"],
    "bytes": ["1024"],
}


MEASURED = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "between", "exists"]
NAMED = ["eq", "ne", "in", "nin", "contains", "starts", "exists"]
CHOSEN = ["eq", "ne", "in", "nin", "exists"]
OPERATORS = {
    **dict.fromkeys(["number", "duration", "bytes"], MEASURED),
    **dict.fromkeys(["text", "person", "tag"], NAMED),
    **dict.fromkeys(["enum", "language"], CHOSEN),
    "date": ["eq", "ne", "gt", "gte", "lt", "lte", "between", "exists"],
    "boolean": ["eq", "ne"],
}


def condition(fields, chance):
    name = chance.choice(sorted(fields))
    field = fields[name]
    operator = chance.choice(field.get("operators", OPERATORS[field["kind"]]))
    values = field.get("values") or WORDS[field["kind"]]
    many = {"between": 2, "in": 2, "nin": 1}.get(operator, 1)
    words = ["true"] if operator == "exists" else [chance.choice(values) for _ in range(many)]
    return f"{name}:{operator}:{','.join(words)}"


# Words of lists that have only a shape.
SHAPED = {
    **{"fields": "title", "keys": "server.name", "externalIds": "imdb:tt0000001"},
    **dict.fromkeys(["type", "types", "kinds"], "movie"),
}
FACETS = "GET /libraries/{id}/facets"


def word(name, schema, chance):
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if schema.get("format") == "uuid":
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))
    return schema.get("const", SHAPED.get(name, "x"))


def listed(name, told, chance):
    most = min(told["maxItems"], 3)
    return ",".join(word(name, told["items"], chance) for _ in range(chance.randint(1, most)))


def ordered(names, chance):
    return ",".join(chance.choice(["", "-"]) + name for name in chance.sample(names, min(len(names), chance.randint(1, 3))))


def resolved(schema, root):
    while isinstance(schema, dict) and (name := schema.get("$ref")):
        schema = root["components"]["schemas"][name.rsplit("/", 1)[1]]
    return schema if isinstance(schema, dict) else {}


def sorted_body(value, schema, root):
    """The value with words of its schema in place of each sort that is a text of any letters."""
    schema = resolved(schema, root)
    if isinstance(value, str) and (names := schema.get("x-sort")):
        return ordered(names, random.Random(value))
    if not isinstance(value, dict):
        return value
    members = schema.get("properties", {})
    return {name: sorted_body(member, members[name], root) if name in members else member for name, member in value.items()}


def body_schema(case, root):
    method = root["paths"][case.operation.path][case.operation.method.lower()]
    return method["requestBody"]["content"].get(case.media_type, {}).get("schema", {})


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if isinstance(case.body, dict):
        root = case.operation.schema.raw_schema
        case.body = sorted_body(case.body, body_schema(case, root), root)
    if not case.query:
        return
    case.query.pop("cursor", None)  # signed, for one list: none that is made up is one
    for parameter in case.operation.query:
        name, schema = parameter.definition["name"], parameter.definition.get("schema", {})
        if name not in case.query:
            continue
        chance = random.Random(str(case.query[name]))
        if name == "externalId":  # its pattern names NUL as \\0, which Schemathesis cannot read
            case.query[name] = SHAPED["externalIds"]
        elif fields := schema.get("x-filter"):
            case.query[name] = ";".join(condition(fields, chance) for _ in range(chance.randint(1, 3)))
        elif names := schema.get("x-sort"):
            case.query[name] = ordered(names, chance)
        elif name == "bbox":
            case.query[name] = "5,45.5,15,55"
        elif told := schema.get("x-list"):
            facets = name == "fields" and case.operation.label == FACETS
            case.query[name] = "genre" if facets else listed(name, told, chance)


def is_beyond(issue):
    code, path = issue["code"], [str(part) for part in issue["path"]]
    if code not in REFUSALS["expressible"]:
        return True
    whole = "/" + "/".join(path)
    names = [code, f"{code}@{path[-1] if path else ''}", f"{code}: {issue['message']}"]
    return any(name in BEYOND for name in names) or any(whole.startswith(one) for one in BEYOND if one.startswith("/"))


def refused(case, response):
    """Whether the answer is a refusal that no schema can tell."""
    if response.status_code == 413 and case.method == "GET":
        return True  # an address over the limit of the server
    # OpenAPI sends a list of a form as parts of one name; ours is one part of JSON, which it cannot say. Bytes may be of no kind.
    if case.media_type == "multipart/form-data" and response.status_code in (400, 415):
        return True
    if response.status_code == 415:  # a film without a picture
        return response.json().get("error", {}).get("code") == "MEDIA_NOT_PLAYABLE"
    if response.status_code == 423:  # a storage that cannot be read now
        return True
    if response.status_code != 400:
        return False
    issues = response.json().get("error", {}).get("details", {}).get("issues", [])
    return len(issues) > 0 and all(is_beyond(issue) for issue in issues)


@schemathesis.check
def what_is_described_is_taken(ctx, response, case):
    beyond = refused(case, response)
    if case.meta and case.meta.generation.mode.is_positive:
        with open(os.environ["FUZZ_TOLD"], "a") as told:
            told.write(f"{'refused' if beyond else 'taken'} {case.operation.label}\n")
    return None if beyond else positive_data_acceptance(ctx, response, case)
