"""The part of JSON Schema that the API's OpenAPI document uses. An unknown keyword is an error, so that none is
silently ignored."""
import re

NOTES = {"description", "default", "examples"}
DATE_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
}


class Schemas:
    """The schemas of one document. They may contain references into it."""

    def __init__(self, document):
        self.document = document

    def resolved(self, schema):
        while "$ref" in schema:
            place = self.document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                place = place[part]
            schema = place
        return schema

    def problems(self, value, schema, path="$"):
        """A list of what is wrong with the value, empty if it is valid."""
        found = []
        schema = self.resolved(schema)
        for keyword, wanted in schema.items():
            if keyword in NOTES:
                continue
            check = getattr(self, f"check_{keyword}", None)
            if check is None:
                raise NotImplementedError(f"the keyword {keyword} at {path}; teach it to {__file__}")
            found += check(value, wanted, path, schema)
        return found

    def check_type(self, value, wanted, path, _):
        names = [wanted] if isinstance(wanted, str) else wanted
        return [] if any(TYPES[name](value) for name in names) else [f"{path}: {value!r} is no {wanted}"]

    def check_enum(self, value, wanted, path, _):
        return [] if value in wanted else [f"{path}: {value!r} is none of {wanted}"]

    def check_pattern(self, value, wanted, path, _):
        return [] if not isinstance(value, str) or re.search(wanted, value) else [f"{path}: {value!r} is not like {wanted}"]

    def check_format(self, value, wanted, path, _):
        assert wanted == "date-time", wanted
        return [] if not isinstance(value, str) or DATE_TIME.match(value) else [f"{path}: {value!r} is no time"]

    def check_required(self, value, wanted, path, _):
        return [f"{path}: there is no {name}" for name in wanted if isinstance(value, dict) and name not in value]

    def check_properties(self, value, wanted, path, _):
        return [problem for name, schema in wanted.items() if isinstance(value, dict) and name in value
                for problem in self.problems(value[name], schema, f"{path}.{name}")]

    def check_additionalProperties(self, value, wanted, path, schema):
        others = [name for name in value if name not in schema.get("properties", {})] if isinstance(value, dict) else []
        if wanted is False:
            return [f"{path}: {name} is not in the document" for name in others]
        return [problem for name in others for problem in self.problems(value[name], wanted, f"{path}.{name}")]

    def check_items(self, value, wanted, path, _):
        return [problem for index, item in enumerate(value if isinstance(value, list) else [])
                for problem in self.problems(item, wanted, f"{path}[{index}]")]

    def check_oneOf(self, value, wanted, path, _):
        tried = [self.problems(value, schema, path) for schema in wanted]
        return [] if sum(not problems for problems in tried) == 1 else [f"{path}: not one of {len(wanted)}: {tried}"]

    def check_anyOf(self, value, wanted, path, _):
        tried = [self.problems(value, schema, path) for schema in wanted]
        return [] if [] in tried else [f"{path}: none of {len(wanted)}: {tried}"]

    def check_allOf(self, value, wanted, path, _):
        return [problem for schema in wanted for problem in self.problems(value, schema, path)]

    def check_minItems(self, value, wanted, path, _):
        return self.bound(value, list, wanted, path, lambda: len(value) >= wanted)

    def check_maxItems(self, value, wanted, path, _):
        return self.bound(value, list, wanted, path, lambda: len(value) <= wanted)

    def check_minProperties(self, value, wanted, path, _):
        return self.bound(value, dict, wanted, path, lambda: len(value) >= wanted)

    def check_minLength(self, value, wanted, path, _):
        return self.bound(value, str, wanted, path, lambda: len(value) >= wanted)

    def check_maxLength(self, value, wanted, path, _):
        return self.bound(value, str, wanted, path, lambda: len(value) <= wanted)

    def check_minimum(self, value, wanted, path, _):
        return self.bound(value, int, wanted, path, lambda: value >= wanted)

    def check_maximum(self, value, wanted, path, _):
        return self.bound(value, int, wanted, path, lambda: value <= wanted)

    @staticmethod
    def bound(value, kind, wanted, path, holds):
        return [] if not isinstance(value, kind) or holds() else [f"{path}: {str(value)[:40]} is beyond {wanted}"]
