"""An HTTP tool as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from teahouse.core.events import Effect
from teahouse.core.messages import JsonObject
from teahouse.tools.http import holes
from teahouse.tools.http.holes import Hole

Method: TypeAlias = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
Kind: TypeAlias = Literal["string", "integer", "number", "boolean", "array", "object"]

URL: Final = re.compile(r"(https?)://([^/?#\\]+)((?:/[^?#]*)?)(?:\?([^#]*))?", re.ASCII)


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
    parameters: JsonObject | list[Parameter] = []
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
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
            "required": [
                one.name for one in self.parameters if one.required and one.default is UNSET
            ],
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
        found = URL.fullmatch(self.url)
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


def _property(one: Parameter) -> JsonObject:
    told: JsonObject = {"type": one.type}
    if one.description:
        told["description"] = one.description
    if one.enum:
        told["enum"] = one.enum
    if one.default is not UNSET:
        told["default"] = one.default
    return told
