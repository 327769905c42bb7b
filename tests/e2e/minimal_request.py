"""The smallest request that an OpenAPI document allows."""


class Minimal:
    """Minimal values for the schemas of one document. `instead` has the values of members that must name something real."""

    def __init__(self, schemas, instead):
        self.schemas, self.instead = schemas, instead

    def body(self, operation):
        """None if the operation takes no body."""
        content = operation.get("requestBody", {}).get("content")
        return self.value(content["application/json"]["schema"]) if content else None

    def value(self, schema):
        schema = self.schemas.resolved(schema)
        if "oneOf" in schema:
            return self.value(schema["oneOf"][0])
        if "anyOf" in schema and "type" not in schema:
            return self.value(schema["anyOf"][0])
        if "examples" in schema:
            return schema["examples"][0]
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
        return getattr(self, kind)(schema)

    def object(self, schema):
        members = schema["properties"]
        names = schema.get("required") or list(members)[:schema.get("minProperties", 0)]
        return {name: self.instead[name] if name in self.instead else self.value(members[name]) for name in names}

    def array(self, schema):
        return [self.value(schema["items"])] * schema.get("minItems", 0)

    @staticmethod
    def integer(schema):
        return schema.get("minimum", 1)

    @staticmethod
    def string(schema):
        return "x" * schema.get("minLength", 0)

    @staticmethod
    def boolean(_):
        return False
