#!/usr/bin/env python3
"""Writes tests/data/kubernetes.schema.json: the schemas of the objects in packaging/kubernetes, in the strict form that refuses unknown
fields, out of the package kubernetes-validate of PyPI.

    pip download --no-deps kubernetes-validate==1.37.0 && tests/support/kubernetes_schema.py kubernetes_validate-*.whl

Left out: descriptions, formats, statuses, and the kinds of volumes that the manifests do not use."""
import json
import pathlib
import sys
import zipfile

VERSION = "1.29"
KINDS = ("apps.v1.Deployment", "apps.v1.StatefulSet", "core.v1.ConfigMap", "core.v1.Service", "policy.v1.PodDisruptionBudget")
VOLUMES = {"name", "configMap", "emptyDir", "persistentVolumeClaim", "secret"}
NOTES = {"description", "format"}
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "data/kubernetes.schema.json"


def plain(node, name=""):
    """The schema without what is left out. `name` is the definition whose properties these are."""
    if isinstance(node, list):
        return [plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if key not in NOTES and not key.startswith("x-")}
    if "properties" in kept:
        wanted = VOLUMES if name.endswith("core.v1.Volume") else kept["properties"].keys() - {"status", "ephemeralContainers"}
        kept["properties"] = {key: plain(kept["properties"][key]) for key in sorted(wanted)}
    return {key: value if key == "properties" else plain(value) for key, value in kept.items()}


def references(node):
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        node = node.values()
    elif not isinstance(node, list):
        return
    for one in node:
        yield from references(one)


def main():
    with zipfile.ZipFile(sys.argv[1]) as package:
        file = f"kubernetes_validate/kubernetes-json-schema/v{VERSION}.0-local-strict/_definitions.json"
        definitions = json.loads(package.read(file))["$defs"]
    found, wanted = {}, [f"io.k8s.api.{kind}" for kind in KINDS]
    while wanted:
        if (name := wanted.pop()) not in found:
            found[name] = plain(definitions[name], name)
            wanted += references(found[name])
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
    OUTPUT.write_text(f'{{"$defs": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main()
