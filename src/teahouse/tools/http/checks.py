"""What is refused of a definition: by the field's name, and with what is right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import unquote

import msgspec
from msgspec import UNSET

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject
from teahouse.tools.http import holes, picks
from teahouse.tools.http.definition import URL, Definition, content_type, json_tree
from teahouse.tools.http.holes import Hole
from teahouse.tools.web_address import read_url

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
_PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}", re.ASCII)
_OURS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "te"}
    | {"proxy-authorization", "proxy-connection", "trailer", "transfer-encoding", "upgrade"}
)
_MOST_ORIGINS: Final = 64


def read(table: Mapping[str, Any]) -> Definition:
    """Raises `Invalid`, with the field in `values`."""
    try:
        found = msgspec.convert(table, Definition, strict=True)
    except msgspec.ValidationError as error:
        detail, _, place = str(error).partition(" - at ")
        unknown = re.search(r"unknown field `(.*)`", detail)
        at = place.strip("`").removeprefix("$").lstrip(".")
        at = ".".join(filter(None, (at, unknown[1]))) if unknown else at
        missing = re.search(r"missing required field `(.*)`", detail)
        at = ".".join(filter(None, (at, missing[1]))) if missing else at
        raise Invalid("http_tool_shape", field=at or "…", detail=detail) from error
    check(found)
    return found


def check(found: Definition) -> None:
    if not _NAME.fullmatch(found.name):
        raise Invalid("http_tool_name", field="name", value=_short(found.name))
    if not found.description.strip():
        raise Invalid("http_tool_shape", field="description", detail="empty")
    if not URL.fullmatch(found.url):
        raise Invalid("http_tool_url", field="url", value=_short(found.url))
    _check_parameters(found.schema)
    _check_body(found)
    _check_holes(found)
    _check_headers(found)
    _check_keys(found)
    origins(found)
    if found.result not in picks.WORDS:
        try:
            picks.parse(found.result)
        except ValueError:
            raise Invalid("http_tool_result", field="result", value=_short(found.result)) from None


def origins(found: Definition) -> frozenset[tuple[str, str, int]]:
    """Where the tool may speak to. A hole in the place itself must be one of a few that the
    definition names; then each of them must be a place."""
    scheme, place, path, _ = found.parts
    template = holes.parse(place)
    choices = [[part] if isinstance(part, str) else _choices(found, part) for part in template]
    known: set[tuple[str, str, int]] = set()
    for count, pieces in enumerate(itertools.product(*choices)):
        try:
            if count >= _MOST_ORIGINS or any(letter in "".join(pieces) for letter in "/?#"):
                raise ValueError("place")
            known.add(read_url(f"{scheme}://{''.join(pieces)}").origin)
        except ValueError:
            raise Invalid("http_tool_url", field="url", value=_short(found.url)) from None
    if any(unquote(segment) in {".", ".."} for segment in path.split("/")) or not _plain(found.url):
        raise Invalid("http_tool_url", field="url", value=_short(found.url))
    return frozenset(known)


def _choices(found: Definition, hole: Hole) -> list[str]:
    schema = found.schema
    one = schema["properties"].get(hole.name, {})
    listed: list[Any] = one.get("enum") or []
    wanted = hole.name in schema.get("required", ()) or "default" in one
    if hole.is_secret or not listed or not wanted or not all(isinstance(x, str) for x in listed):
        raise Invalid("http_tool_host", field="url", hole=hole)
    return [str(each) for each in listed]


def _check_parameters(schema: JsonObject) -> None:
    """As much of JSON Schema as we hold calls to; the rest is for the model alone."""
    properties, required = schema.get("properties"), schema.get("required", [])
    wrong = ""
    if schema.get("type") != "object" or not isinstance(properties, dict):
        wrong = "parameters"
    elif not isinstance(required, list):
        wrong = "parameters.required"
    else:
        table = cast("dict[str, Any]", properties)
        for name, one in table.items():
            if not _fits(name) or not _is_property(one):
                wrong = f"parameters.{_short(name)}"
        for name in cast("list[Any]", required):
            if not isinstance(name, str) or name not in table:
                wrong = f"parameters.required: {_short(str(name))}"
    if wrong:
        raise Invalid("http_tool_parameters", field=wrong)


def _is_property(one: Any) -> bool:
    if not isinstance(one, dict):
        return False
    listed = cast("JsonObject", one).get("enum")
    return listed is None or isinstance(listed, list)


def _fits(name: str) -> bool:
    return _PARAMETER.fullmatch(name) is not None


def _check_holes(found: Definition) -> None:
    known = set(found.schema["properties"])
    for at, text in found.texts():
        try:
            named = {one.name for one in holes.holes(text) if not one.is_secret}
        except ValueError as error:
            raise Invalid("http_tool_hole", field=at, value=_short(str(error))) from None
        for name in sorted(named - known):
            names = ", ".join(sorted(known)) or "–"
            raise Invalid("http_tool_hole_unknown", field=at, parameter=name, known=names)


def _check_headers(found: Definition) -> None:
    seen: set[str] = set()
    for name, text in found.headers.items():
        literal = "".join(part for part in holes.parse(text) if isinstance(part, str))
        fit = _TOKEN.fullmatch(name) and name.lower() not in _OURS | seen
        if not fit or not literal.isascii() or not (literal + " ").isprintable():
            raise Invalid("http_tool_header", field=f"headers.{_short(name)}")
        seen.add(name.lower())


def _check_keys(found: Definition) -> None:
    """What a value is called is the tool's to say."""
    named = [("query", name) for name in found.query]
    named += [("url", pair.partition("=")[0]) for pair in found.parts[3].split("&")]
    if found.body is not None and isinstance(found.body.form, dict):
        named += [("body.form", name) for name in found.body.form]
    for at, name in named:
        if holes.OPENING in name:
            raise Invalid("http_tool_key", field=at, value=_short(name))


def _check_body(found: Definition) -> None:
    body = found.body
    if body is None:
        return
    given = [one for one in (body.json, body.form, body.text) if one is not UNSET]
    if len(given) != 1 or found.method in {"GET", "HEAD"}:
        raise Invalid("http_tool_body", field="body")
    if isinstance(body.text, str) and "json" in content_type(found).lower():
        raise Invalid("http_tool_body", field="body.text")
    try:
        keys = _keys(json_tree(body.json))
    except (msgspec.DecodeError, RecursionError):
        raise Invalid("http_tool_body", field="body.json") from None
    if any(holes.OPENING in key for key in keys):
        raise Invalid("http_tool_key", field="body.json", value="{{")


def _keys(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in cast("dict[str, Any]", tree).items():
            yield key
            yield from _keys(value)
    elif isinstance(tree, list):
        for one in cast("list[Any]", tree):
            yield from _keys(one)


def _plain(url: str) -> bool:
    return all(letter.isprintable() and letter != "\\" for letter in url)


def _short(text: str) -> str:
    return ascii(text[:80])[1:-1]
