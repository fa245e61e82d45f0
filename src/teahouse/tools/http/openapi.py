"""Makes tools of the operations of an OpenAPI 3.0 or 3.1 document, JSON or YAML.

A document is written by others: nothing in it is fetched, and what it names is not trusted. Where
the tools speak to is shown with each definition, and they reach no place that egress refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject
from teahouse.tools.http.checks import read
from teahouse.tools.http.definition import Definition
from teahouse.tools.http.openapi_draft import Draft
from teahouse.tools.http.references import Document, table

_LONGEST: Final = 8 << 20
_METHODS: Final = ("get", "post", "put", "patch", "delete", "head", "options")
_YAML_BOOL: Final = "tag:yaml.org,2002:bool"
_YAML_DATE: Final = "tag:yaml.org,2002:timestamp"
_TRUE_OR_FALSE: Final = re.compile("(?:true|false)$")


class Operation(Struct, frozen=True, kw_only=True):
    """`id` names it in `import_operations`: its operationId, or `METHOD path`."""

    id: str
    method: str
    path: str
    summary: str


class Imported(Struct, frozen=True, kw_only=True):
    """`secrets`: the names that must be set for the tools, with what each is. `left_out`: optional
    parts of operations that the tools do without."""

    tools: tuple[Definition, ...]
    secrets: dict[str, str]
    left_out: tuple[str, ...] = ()


def load(text: str) -> Document:
    """Raises `Invalid`."""
    try:
        found = _parsed(text)
        document = Document(found)
    except (ValueError, RecursionError) as error:
        raise Invalid("openapi_broken", detail=" ".join(str(error).split())[:300]) from error
    version = str(document.root.get("openapi", document.root.get("swagger", "–")))
    if not re.fullmatch(r"3\.[01](\.\d+)?(-\w+)?", version):
        raise Invalid("openapi_version", version=ascii(version[:20])[1:-1])
    return document


def operations(document: Document) -> tuple[Operation, ...]:
    return tuple(
        Operation(
            id=_id(path, method, operation),
            method=method.upper(),
            path=path,
            summary=str(operation.get("summary") or operation.get("description") or "")[:200],
        )
        for path, method, _, operation in _all(document)
    )


def import_operations(
    document: Document, chosen: list[str], *, prefix: str, base: str | None = None
) -> Imported:
    """`prefix` begins the tools' names and secrets. `base`: the address of the API, where the
    document names none or another is meant. Raises `Invalid`."""
    known = {
        _id(path, method, one): (path, method, item) for path, method, item, one in _all(document)
    }
    tools: list[Definition] = []
    secrets: dict[str, str] = {}
    left_out: list[str] = []
    for one in chosen:
        if one not in known:
            raise Invalid("openapi_operation", operation=ascii(one[:100])[1:-1])
        path, method, item = known[one]
        draft = Draft(document, f"{prefix}_{one}" if prefix else one)
        draft.fill(path, method, item, base=base, prefix=prefix)
        taken = {tool.name for tool in tools}
        while draft.table["name"] in taken:
            draft.table["name"] = f"{draft.table['name'][:60]}_{len(taken)}"
        tools.append(read(draft.table))
        secrets |= draft.secrets
        left_out += [f"{one}: {part}" for part in draft.left_out]
    return Imported(tools=tuple(tools), secrets=secrets, left_out=tuple(left_out))


def _parsed(text: str) -> object:
    """JSON, or else YAML of plain data, whose dates stay text."""
    if len(text) > _LONGEST:
        raise ValueError(f"> {_LONGEST >> 20} MB")
    if text.lstrip("\ufeff \r\n\t").startswith("{"):
        return msgspec.json.decode(text.lstrip("\ufeff"))
    import yaml

    class Plain(yaml.SafeLoader):
        """Only what JSON has: elsewhere in YAML `no` is false, and a version may be a date."""

    signs = {
        sign: [(tag, form) for tag, form in forms if tag not in {_YAML_BOOL, _YAML_DATE}]
        for sign, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    for letter in "tf":
        signs.setdefault(letter, []).append((_YAML_BOOL, _TRUE_OR_FALSE))
    Plain.yaml_implicit_resolvers = signs
    try:
        return yaml.load(text, Loader=Plain)  # noqa: S506  a safe loader, with less in it
    except yaml.YAMLError as error:
        raise ValueError(error) from error


def _all(document: Document) -> Iterator[tuple[str, str, JsonObject, JsonObject]]:
    for path, raw in table(document.root.get("paths")).items():
        item = document.followed(raw)
        for method in _METHODS:
            if isinstance(item.get(method), dict):
                yield str(path), method, item, item[method]


def _id(path: str, method: str, operation: JsonObject) -> str:
    return str(operation.get("operationId") or f"{method.upper()} {path}")
