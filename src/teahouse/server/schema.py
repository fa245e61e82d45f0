"""Writes the schemas that the page's TypeScript is generated from: the frames, and the REST routes.

`python -m teahouse.server.schema OUTDIR` writes `events.schema.json` and `openapi.json`, both
OpenAPI 3.1 documents that other generators read too, and from them `api.ts`; and `vendors.ts`, so
that what is known of a vendor is written once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import msgspec
import msgspec.inspect
from litestar.openapi import OpenAPIConfig

from teahouse import __version__
from teahouse.core.events import VERSION, Envelope, Event
from teahouse.core.messages import JsonObject, Part
from teahouse.llm.vendors import VENDORS
from teahouse.server import typescript
from teahouse.server.answers import Failed
from teahouse.server.body import Request
from teahouse.server.frames import Inbound, Pong, Refused
from teahouse.server.framework import Routes
from teahouse.server.routes import HANDLERS

if TYPE_CHECKING:
    from litestar import Litestar
    from litestar.handlers import HTTPRouteHandler
    from litestar.types.internal_types import PathParameterDefinition

REF = "#/components/schemas/{name}"


def events_schema() -> JsonObject:
    """Every frame of the socket and of SSE, with the table of their names."""
    schemas = components([Envelope, Refused, Pong], sent=True)
    schemas |= components(list(get_args(Inbound)), sent=False)
    schemas["Event"] = _union(Event)
    schemas["Inbound"] = _union(Inbound)
    schemas["Part"] = _union(Part)
    schemas["Envelope"]["properties"]["event"] = {"$ref": REF.format(name="Event")}
    schemas["Outbound"] = {
        "anyOf": [{"$ref": REF.format(name=kind.__name__)} for kind in (Envelope, Refused, Pong)]
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Teahouse events", "version": str(VERSION)},
        "paths": {},
        "components": {"schemas": schemas},
        "x-names": {"events": _names(Event), "inbound": _names(Inbound)},
    }


def components(kinds: Sequence[Any], *, sent: bool) -> JsonObject:
    """The schemas of `kinds` and of all they hold, by name.

    What we send always has the fields that it does not omit by default; a reader may rely on that.
    """
    _, found = msgspec.json.schema_components(kinds, ref_template=REF)
    always = _always_sent(kinds) if sent else {}
    for name, schema in found.items():
        if name in always:
            schema["required"] = always[name]
        _simplify(schema)
    return dict(sorted(found.items()))


@cache
def openapi_schema() -> JsonObject:
    """Litestar's description, with the values as the codec itself describes them: the same names
    and shapes as in the frames."""
    app = _described()
    encoded = msgspec.json.encode(app.openapi_schema.to_schema())
    document = cast("JsonObject", msgspec.json.decode(encoded))
    sent, read = _values_of(app)
    ours = components(read, sent=False) | components([*sent, Failed], sent=True)
    schemas: JsonObject = {}
    renamed: dict[str, str] = {}
    for name, schema in document["components"]["schemas"].items():
        if name.startswith("Page_"):
            renamed[REF.format(name=name)] = REF.format(name=_page_name(name))
            schemas[_page_name(name)] = {**schema, "required": ["items", "next"]}
        else:
            schemas[name] = ours.get(name, schema)
        _simplify(schema)
    schemas |= {name: schema for name, schema in ours.items() if name not in schemas}
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    for path in document["paths"].values():
        for operation in path.values():
            _fail_in_our_form(operation["responses"])
    return _with_refs(document, renamed)


def _described() -> Litestar:
    """The routes again, only to be described: that needs no house."""
    return Routes(
        route_handlers=HANDLERS,
        request_class=Request,
        openapi_config=OpenAPIConfig(
            title="Teahouse",
            version=__version__,
            operation_id_creator=_operation_id,
            use_handler_docstrings=True,
        ),
        logging_config=None,
    )


def _operation_id(
    handler: HTTPRouteHandler, method: object, path: list[str | PathParameterDefinition]
) -> str:
    """The function's own name: stable, and unique since the routes are one table."""
    return handler.handler_name


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in documents().items():
        (folder / name).write_bytes(content)


def documents() -> dict[str, bytes]:
    openapi, events = openapi_schema(), events_schema()
    return {
        "api.ts": typescript.render(openapi, events).encode(),
        "events.schema.json": rendered(events),
        "openapi.json": rendered(openapi),
        "vendors.ts": typescript.render_vendors(VENDORS).encode(),
    }


def rendered(document: JsonObject) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _always_sent(kinds: Sequence[Any]) -> dict[str, list[str]]:
    waiting = [msgspec.inspect.type_info(kind) for kind in kinds]
    names: dict[str, list[str]] = {}
    while waiting:
        kind = waiting.pop()
        match kind:
            case msgspec.inspect.StructType():
                config = kind.cls.__struct_config__
                tag = [str(config.tag_field)] if config.tag is not None else []
                fields = [
                    f.encode_name for f in kind.fields if f.required or not config.omit_defaults
                ]
                if kind.cls.__name__ not in names:
                    names[kind.cls.__name__] = tag + fields
                    waiting += [f.type for f in kind.fields]
            case msgspec.inspect.UnionType():
                waiting += kind.types
            case msgspec.inspect.VarTupleType() | msgspec.inspect.ListType():
                waiting.append(kind.item_type)
            case _:
                pass
    return names


def _simplify(schema: Any) -> None:
    """Drop defaults, which generators read as "always there", and open the maps."""
    if isinstance(schema, list):
        for item in cast("list[Any]", schema):
            _simplify(item)
    elif isinstance(schema, dict):
        fields = cast("JsonObject", schema)
        if isinstance(fields.get("type"), str):
            fields.pop("default", None)
        if "default" in fields and ("anyOf" in fields or "$ref" in fields or "enum" in fields):
            del fields["default"]
        if fields.get("type") == "object" and not {"properties", "additionalProperties"} & set(
            fields
        ):
            fields["additionalProperties"] = True
        for item in fields.values():
            _simplify(item)


def _values_of(app: Litestar) -> tuple[list[Any], list[Any]]:
    """The types that the routes send, and those that they read."""
    sent: list[Any] = []
    read: list[Any] = []
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if not handler.resolve_include_in_schema():
                continue
            sent += _structs_in(handler.parsed_return_field.annotation)
            if handler.parsed_data_field is not None:
                read += _structs_in(handler.parsed_data_field.annotation)
    return sent, read


def _structs_in(annotation: Any) -> list[Any]:
    arguments = get_args(annotation)
    if arguments:
        return [found for argument in arguments for found in _structs_in(argument)]
    is_value = isinstance(annotation, type) and issubclass(annotation, msgspec.Struct)
    return [annotation] if is_value else []


def _page_name(name: str) -> str:
    """`Page_teahouse.chat.ports.Conversation_` is a `PageOfConversation`."""
    items = [part.rpartition(".")[2] for part in name.removeprefix("Page_").split("_") if part]
    return "PageOf" + "Or".join(items)


def _fail_in_our_form(responses: JsonObject) -> None:
    responses.pop("400", None)
    content = {"application/json": {"schema": {"$ref": REF.format(name="Failed")}}}
    responses["default"] = {"description": "What went wrong", "content": content}


def _with_refs(value: Any, renamed: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_with_refs(item, renamed) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _with_refs(item, renamed) for name, item in cast("JsonObject", value).items()}
    return renamed.get(value, value) if isinstance(value, str) else value


def _union(union: Any) -> JsonObject:
    schema, _ = msgspec.json.schema_components([union], ref_template=REF)
    return schema[0]


def _names(union: Any) -> dict[str, str]:
    """The name on the wire of each kind, with the name of its type."""
    return {str(kind.__struct_config__.tag): kind.__name__ for kind in get_args(union)}


if __name__ == "__main__":
    write(Path(sys.argv[1]))
