"""Builds the request of a call: whatever the values are, it is the template's, filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus

import msgspec
from msgspec import Struct, field

from teahouse.tools.http import places
from teahouse.tools.http.definition import Body, Definition, content_type, json_tree
from teahouse.tools.http.holes import Hole, parse
from teahouse.tools.http.values import Values

_PATH: Final = ":@!$&'()*+,;=-._~"
_QUERY: Final = "/?:@!$'()*+,;-._~[]"


class Request(Struct, frozen=True, kw_only=True):
    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None


def build(
    definition: Definition, arguments: Mapping[str, Any], secrets: Mapping[Hole, str]
) -> Request:
    """`arguments` are checked, `secrets` opened. Raises `HttpRefused`."""
    values = Values(arguments, secrets)
    headers: dict[str, str] = {}
    for name, text in definition.headers.items():
        if told := values.texts(text, places.in_header):
            headers[name] = ", ".join(told).strip()
    usual, body = _body(definition, values)
    if usual and not content_type(definition):
        headers["Content-Type"] = usual
    return Request(
        method=definition.method, url=_url(definition, values), headers=headers, body=body
    )


def _url(definition: Definition, values: Values) -> str:
    scheme, place, path, query = definition.parts
    host = values.fill(parse(place), places.in_text)  # one of those that `origins` knows
    segments = [_segment(values, segment) for segment in path.split("/")]
    url = f"{scheme}://{host}{'/'.join(segments) or '/'}"
    pairs = [_pair(values, pair) for pair in query.split("&") if pair]
    pairs += [
        f"{quote(name, safe='')}={value}"
        for name, text in definition.query.items()
        for value in values.texts(text, places.in_query)
    ]
    told = "&".join(filter(None, pairs))
    return f"{url}?{told}" if told else url


def _segment(values: Values, segment: str) -> str:
    template = parse(segment)
    own = tuple(places.literal(part, _PATH) if isinstance(part, str) else part for part in template)
    filled = values.fill(own, places.in_path)
    for part in template:
        if isinstance(part, Hole):
            places.check_segment(filled, part)
    return filled


def _pair(values: Values, pair: str) -> str:
    """A pair of the URL's own query, as often as its value says."""
    name, sign, text = pair.partition("=")
    key = places.literal(name, _QUERY)
    literal = "".join(
        places.literal(part, _QUERY + "=") if isinstance(part, str) else f"{{{{{part}}}}}"
        for part in parse(text)
    )
    return "&".join(f"{key}{sign}{value}" for value in values.texts(literal, places.in_query))


def _body(definition: Definition, values: Values) -> tuple[str, bytes | None]:
    """What its type is called where the definition does not say, and the bytes."""
    match definition.body:
        case None:
            return "", None
        case Body(text=str(text)):
            escape = places.in_markup if _is_markup(definition) else places.in_text
            return "text/plain; charset=utf-8", values.fill(parse(text), escape).encode()
        case Body(form=dict(form)):
            told = [
                f"{quote_plus(name)}={value}"
                for name, text in form.items()
                for value in values.texts(text, places.in_form)
            ]
            return "application/x-www-form-urlencoded", "&".join(told).encode()
        case Body(json=tree):
            data = values.data(json_tree(tree))
            return "application/json", msgspec.json.encode(data)


def _is_markup(definition: Definition) -> bool:
    return any(word in content_type(definition).lower() for word in ("xml", "html"))
