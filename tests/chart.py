# SPDX-License-Identifier: LGPL-2.1-or-later
"""Renders the subset of Helm's template language that the chart in this repository uses. A template
action that this module does not support is an error."""
import json
import os
import re
import textwrap

import yaml

TAG = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.S)


def merged(base, over):
    out = dict(base)
    for key, value in over.items():
        out[key] = merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def lookup(path, scope):
    if path == ".":
        return scope["."]
    value = scope
    for part in path.strip(".").split("."):
        value = value[part]
    return value


def to_yaml(value):
    return yaml.safe_dump(value, sort_keys=False, default_flow_style=False).rstrip("\n")


def evaluate(text, scope):
    first, *pipes = [part.strip() for part in text.split("|")]
    words = first.split()
    if words[0] == "toYaml" and len(words) == 2:
        value = to_yaml(lookup(words[1], scope))
    elif len(words) == 1 and words[0].startswith("."):
        value = lookup(words[0], scope)
    else:
        raise ValueError(f"chart: cannot evaluate {text!r}")
    for pipe in pipes:
        name, *args = pipe.split()
        if name == "quote":
            value = json.dumps(str(value))
        elif name == "nindent":
            value = "\n" + textwrap.indent(str(value), " " * int(args[0]))
        elif name == "default":
            value = value or lookup(args[0], scope)
        else:
            raise ValueError(f"chart: unknown function {name!r}")
    return str(value)


def template(text, scope):
    """Expands values and the blocks "range … end" and "with … end" in a template. Nested blocks are not supported,
    because the chart has no nested blocks."""
    out, at, loop = [], 0, None
    for tag in TAG.finditer(text):
        before = text[at:tag.start()]
        out.append(before.rstrip() if tag[1] else before)
        at = tag.end()
        if tag[3]:
            at += len(text[at:]) - len(text[at:].lstrip())
        if tag[2].startswith(("range ", "with ")):
            if loop:
                raise ValueError("chart: range or with inside another")
            value = lookup(tag[2].split()[1], scope)
            loop = (value if tag[2].startswith("range ") else [value] if value else [], len(out), at)
        elif tag[2] == "end":
            items, mark, start = loop
            body, loop = text[start:tag.start()], None
            del out[mark:]
            out += [template(body.rstrip() if tag[1] else body, {**scope, ".": item}) for item in items]
        elif not loop:
            out.append(evaluate(tag[2], scope))
    return "".join(out) + text[at:]


def render(folder, release, values=None):
    """Returns the objects that `helm template` would print."""
    with open(f"{folder}/values.yaml", encoding="utf-8") as file:
        defaults = yaml.safe_load(file)
    with open(f"{folder}/Chart.yaml", encoding="utf-8") as file:
        about = yaml.safe_load(file)
    scope = {"Values": merged(defaults, values or {}), "Release": release,
             "Chart": {"AppVersion": about["appVersion"], "Name": about["name"]}}
    for name in sorted(os.listdir(f"{folder}/templates")):
        with open(f"{folder}/templates/{name}", encoding="utf-8") as file:
            text = template(file.read(), scope)
        if name.endswith(".yaml"):
            yield from (doc for doc in yaml.safe_load_all(text) if doc)
