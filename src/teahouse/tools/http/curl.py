"""Reads a curl command, as documents and browsers print it, into a tool; its secrets come apart."""

from __future__ import annotations

import base64
import re
from typing import Any, Final, cast
from urllib.parse import unquote_plus, urlsplit

import msgspec
from msgspec import Struct

from teahouse.core.errors import Invalid
from teahouse.tools.http.checks import read
from teahouse.tools.http.curl_line import Said, bare, form_text, read_line
from teahouse.tools.http.definition import Definition

_SECRET_WORD: Final = re.compile(
    r"(?i)(^|[^a-z])(authorization|cookie|token|secret|password|passwd|pwd|signature|sig"
    r"|(api|app|access|auth|private|subscription)?[-_]?key|apikey|appid|session)($|[^a-z])"
)
_PARAMETER: Final = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}", re.ASCII)
_SCHEME: Final = re.compile(r"(?i)(bearer|token|apikey|bot|key)\s+(\S.*)")


class FromCurl(Struct, frozen=True, kw_only=True):
    """`secrets`: what stood in the command, by the names that the definition uses for it."""

    definition: Definition
    secrets: dict[str, str]

    def __repr__(self) -> str:
        return f"FromCurl({self.definition!r}, secrets={sorted(self.secrets)})"


def from_curl(line: str, *, name: str, description: str) -> FromCurl:
    """Holes that stand in the line become parameters. Raises `Invalid`."""
    said = read_line(line)
    purse = _Purse(name)
    table: dict[str, Any] = {"name": name, "description": description}
    _fill_headers(table, said, purse)
    query = list(said.query)
    if "get" in said.flags:
        query += [form_text(kind, text) for kind, text in said.data]
    elif said.data:
        table["body"] = _body(table, said, purse)
    table["url"] = _url(said.url, query, purse)
    usual = "HEAD" if "head" in said.flags else "POST" if "body" in table else "GET"
    table["method"] = said.method.upper() or usual
    if said.seconds is not None:
        table["timeout_s"] = said.seconds
    names = dict.fromkeys(_PARAMETER.findall(msgspec.json.encode(table).decode()))
    table["parameters"] = [{"name": one} for one in names]
    return FromCurl(definition=read(table), secrets=purse.held)


class _Purse:
    """Gives each secret a name, and keeps it."""

    def __init__(self, tool: str) -> None:
        self._tool = re.sub(r"[^A-Za-z0-9_]", "_", tool)
        self.held: dict[str, str] = {}

    def hole(self, about: str, value: str, kind: str = "secret") -> str:
        for name, held in self.held.items():
            if held == value:
                return f"{{{{{kind}:{name}}}}}"
        stem = re.sub(r"[^A-Z0-9]+", "_", f"{self._tool}_{about}".upper()).strip("_")
        name, count = stem, 1
        while name in self.held:
            count += 1
            name = f"{stem}_{count}"
        self.held[name] = value
        return f"{{{{{kind}:{name}}}}}"

    def put_away(self, name: str, value: str) -> str:
        """`value`, or a hole for it where the name of what it is says that it is one."""
        is_secret = _SECRET_WORD.search(name) and value and "{{" not in value
        return self.hole(name, value) if is_secret else value


def _fill_headers(table: dict[str, Any], said: Said, purse: _Purse) -> None:
    headers: dict[str, str] = {}
    if any(kind == "json" for kind, _ in said.data):
        headers |= {"Content-Type": "application/json", "Accept": "application/json"}
    if said.user is not None:
        headers["Authorization"] = f"Basic {purse.hole('login', said.user, 'basic')}"
    for name, value in said.headers:
        if name.lower() in {"host", "content-length", "accept-encoding", "connection"}:
            continue
        for other in [other for other in headers if other.lower() == name.lower()]:
            del headers[other]
        headers[name] = _header(name, value, purse)
    if headers:
        table["headers"] = headers


def _header(name: str, value: str, purse: _Purse) -> str:
    scheme = _SCHEME.fullmatch(value)
    if name.lower().endswith("authorization"):
        pair = _basic(value)
        if pair is not None:
            return f"Basic {purse.hole('login', pair, 'basic')}"
        if scheme:
            return f"{scheme[1]} {purse.put_away(name, scheme[2])}"
    return purse.put_away(name, value)


def _basic(value: str) -> str | None:
    scheme, _, packed = value.partition(" ")
    try:
        found = base64.b64decode(packed, validate=True).decode()
    except ValueError:
        return None
    return found if scheme.lower() == "basic" and ":" in found else None


def _body(table: dict[str, Any], said: Said, purse: _Purse) -> dict[str, Any]:
    headers: dict[str, str] = table.setdefault("headers", {})
    kind = next((v for k, v in headers.items() if k.lower() == "content-type"), "")
    if any(option == "json" for option, _ in said.data):
        text = "".join(text for _, text in said.data)
    else:
        text = "&".join(form_text(option, text) for option, text in said.data)
    if "json" in kind.lower():
        try:
            return {"json": _put_away_json(msgspec.json.decode(text), purse)}
        except (msgspec.DecodeError, RecursionError) as error:
            raise Invalid("curl_broken", detail=error) from error
    pairs = [pair.partition("=") for pair in text.split("&")]
    names = [_unquoted(name) for name, _, _ in pairs]
    is_form = not kind or "form-urlencoded" in kind.lower()
    if is_form and all(sign for _, sign, _ in pairs) and len(set(names)) == len(names):
        values = [_unquoted(value) for _, _, value in pairs]
        told = zip(names, values, strict=True)
        return {"form": {name: purse.put_away(name, value) for name, value in told}}
    if not kind:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    return {"text": text}


def _put_away_json(tree: Any, purse: _Purse) -> Any:
    if isinstance(tree, dict):
        return {
            key: purse.put_away(key, one) if isinstance(one, str) else _put_away_json(one, purse)
            for key, one in cast("dict[str, Any]", tree).items()
        }
    if isinstance(tree, list):
        return [_put_away_json(one, purse) for one in cast("list[Any]", tree)]
    return tree


def _unquoted(text: str) -> str:
    return text if "{{" in text else unquote_plus(text)


def _url(url: str, query: list[str], purse: _Purse) -> str:
    """Without a fragment; a login in the URL is refused by `read`, as everywhere."""
    whole, _, _ = url.partition("#")
    address, _, own = whole.partition("?")
    pairs = [pair for pair in [*own.split("&"), *query] if pair]
    told = "&".join(_query_pair(pair, purse) for pair in pairs)
    if urlsplit(address).scheme not in {"http", "https"} or "@" in urlsplit(address).netloc:
        raise Invalid("curl_url", value=bare(url))
    return f"{address}?{told}" if told else address


def _query_pair(pair: str, purse: _Purse) -> str:
    name, sign, value = pair.partition("=")
    plain = _unquoted(value)
    kept = purse.put_away(name, plain)
    return f"{name}{sign}{value if kept == plain else kept}"
