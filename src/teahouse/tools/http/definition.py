"""An HTTP tool as data, and what is refused of it: by the field's name, and with what is right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, cast
from urllib.parse import unquote

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from teahouse.core.errors import Invalid
from teahouse.core.events import Effect
from teahouse.core.messages import JsonObject
from teahouse.tools.http import holes, picks
from teahouse.tools.http.holes import Hole
from teahouse.tools.web_address import read_url

Method: TypeAlias = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
Kind: TypeAlias = Literal["string", "integer", "number", "boolean", "array", "object"]

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}", re.ASCII)
_URL: Final = re.compile(r"(https?)://([^/?#\\]+)((?:/[^?#]*)?)(?:\?([^#]*))?", re.ASCII)
_OURS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "te"}
    | {"proxy-authorization", "proxy-connection", "trailer", "transfer-encoding", "upgrade"}
)
_MOST_ORIGINS: Final = 64


class Parameter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of the short list, which most tools need no more than."""

    name: str
    type: Kind = "string"
    description: str = ""
    required: bool = True
    enum: list[str | int | float | bool] | None = None
    default: Any = UNSET


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of three. `json`: a tree of data, or its text, in which a bare hole is a value."""

    json: Any = UNSET
    form: dict[str, str] | UnsetType = UNSET
    text: str | UnsetType = UNSET


class Definition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """`parameters`: JSON Schema of type object, or a list of `Parameter`. `result`: `body`,
    `status`, or a path into JSON. `shown`: characters of an answer that the model gets."""

    name: str
    description: str
    url: str
    method: Method = "GET"
    parameters: JsonObject | list[Parameter] = field(default_factory=list[Parameter])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    query: dict[str, str] = field(default_factory=dict[str, str])
    body: Body | None = None
    result: str = "body"
    timeout_s: Annotated[float, Meta(gt=0, le=300)] = 30
    most_kb: Annotated[int, Meta(ge=1, le=20_480)] = 1024
    shown: Annotated[int, Meta(ge=100, le=100_000)] = 16_000
    effect: Effect = "external"

    @property
    def schema(self) -> JsonObject:
        if isinstance(self.parameters, dict):
            return {"type": "object", "properties": {}, **self.parameters}
        return {
            "type": "object",
            "properties": {one.name: _property(one) for one in self.parameters},
            "required": [one.name for one in self.parameters if one.required],
            "additionalProperties": False,
        }

    @property
    def secrets(self) -> frozenset[Hole]:
        texts = (text for _, text in self.texts())
        return frozenset(one for text in texts for one in holes.holes(text) if one.is_secret)

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """Scheme, place, path and query of the URL, holes and all: no sign that parts a URL is ever
        within a hole."""
        found = _URL.fullmatch(self.url)
        assert found is not None
        return found[1], found[2], found[3], found[4] or ""

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text that may hold holes, with the name of its field."""
        yield "url", self.url
        for name, text in self.headers.items():
            yield f"headers.{name}", text
        for name, text in self.query.items():
            yield f"query.{name}", text
        if self.body is not None:
            yield from _texts_of_body(self.body)


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
    if not _URL.fullmatch(found.url):
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
            if not holes_fit(name) or not _is_property(one):
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


def holes_fit(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name, re.ASCII) is not None


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


def content_type(found: Definition) -> str:
    return next((v for name, v in found.headers.items() if name.lower() == "content-type"), "")


_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\{\{[^{}"]*\}\}')


def json_tree(given: Any) -> Any:
    """The data of a body; in a text of JSON, holes without quotes are given theirs."""
    if not isinstance(given, str):
        return given
    quoted = _PIECE.sub(lambda one: one[0] if one[0].startswith('"') else f'"{one[0]}"', given)
    return msgspec.json.decode(quoted)


def _texts_of_body(body: Body) -> Iterator[tuple[str, str]]:
    if isinstance(body.text, str):
        yield "body.text", body.text
    elif isinstance(body.form, dict):
        for name, text in body.form.items():
            yield f"body.form.{name}", text
    else:
        for text in _leaves(json_tree(body.json)):
            yield "body.json", text


def _leaves(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        several = cast("dict[str, Any] | list[Any]", tree)
        for one in several.values() if isinstance(several, dict) else several:
            yield from _leaves(one)


def _keys(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in cast("dict[str, Any]", tree).items():
            yield key
            yield from _keys(value)
    elif isinstance(tree, list):
        for one in cast("list[Any]", tree):
            yield from _keys(one)


def _property(one: Parameter) -> JsonObject:
    told: JsonObject = {"type": one.type}
    if one.description:
        told["description"] = one.description
    if one.enum:
        told["enum"] = one.enum
    if one.default is not UNSET:
        told["default"] = one.default
    return told


def _plain(url: str) -> bool:
    return all(letter.isprintable() and letter != "\\" for letter in url)


def _short(text: str) -> str:
    return ascii(text[:80])[1:-1]
