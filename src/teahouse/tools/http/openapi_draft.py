"""One operation of an OpenAPI document on its way to being a tool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urljoin, urlsplit

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject
from teahouse.tools.http.references import Document, table

_LONGEST_TEXT: Final = 1000
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_]+")
_DATA: Final = frozenset({"enum", "default", "const", "required", "properties"})


class Draft:
    """The definition of one operation as it grows."""

    def __init__(self, document: Document, name: str) -> None:
        self._document = document
        self.table: dict[str, Any] = {"name": _fit(name)[:64]}
        self.secrets: dict[str, str] = {}
        self.left_out: list[str] = []
        self._properties: JsonObject = {}
        self._required: list[str] = []
        self._headers: dict[str, str] = {}
        self._query: dict[str, str] = {}

    def fill(
        self,
        path: str,
        method: str,
        item: JsonObject,
        *,
        base: str | None,
        prefix: str,
    ) -> None:
        """`item` holds the operation, and what it shares with its siblings."""
        operation = table(item[method])
        told = str(operation.get("description") or operation.get("summary") or "").strip()
        self.table["description"] = told[:_LONGEST_TEXT] or f"{method.upper()} {path}"
        self.table["method"] = method.upper()
        places: dict[tuple[str, str], JsonObject] = {}
        for raw in [*_list(item.get("parameters")), *_list(operation.get("parameters"))]:
            one = self._document.followed(raw)
            places[str(one.get("in")), str(one.get("name"))] = one
        names = {key: self._parameter(*key, one) for key, one in places.items()}
        named = {key[1]: name for key, name in names.items() if key[0] == "path" and name}
        self.table["url"] = self._base(item, operation, base) + _filled(path, named)
        if "requestBody" in operation and method not in {"get", "head"}:
            self._body(self._document.followed(operation["requestBody"]))
        self._security(operation, prefix)
        self.table |= {"headers": self._headers, "query": self._query}
        self.table["parameters"] = {
            "type": "object",
            "properties": self._properties,
            "required": self._required,
            "additionalProperties": False,
        }

    def _base(self, item: JsonObject, operation: JsonObject, base: str | None) -> str:
        """Variables of a server take their defaults: the place is the owner's to choose."""
        servers = _list(
            operation.get("servers") or item.get("servers") or self._document.root.get("servers")
        )
        first = table(servers[0]) if servers else {}
        url = str(first.get("url") or "")
        for name, one in table(first.get("variables")).items():
            url = url.replace(f"{{{name}}}", str(table(one).get("default", "")))
        found = urljoin(base, url) if base and not urlsplit(url).scheme else base or url
        if urlsplit(found).scheme not in {"http", "https"} or set("{}?#") & set(found):
            raise Invalid("openapi_server", url=ascii(found[:100])[1:-1] or "–")
        return found.rstrip("/")

    def _parameter(self, place: str, name: str, one: JsonObject) -> str:
        """Takes a parameter in; the name that it has here, or nothing where it was left out."""
        required = bool(one.get("required")) or place == "path"
        content = table(next(iter(table(one.get("content")).values()), None))
        schema = self._schema(one.get("schema") or content.get("schema"))
        fixed = place == "header" and name.lower() in {"accept", "content-type", "authorization"}
        if place not in {"path", "query", "header"} or fixed:
            if required and not fixed:
                raise Invalid("openapi_parameter", parameter=f"{place}: {name}"[:100])
            self.left_out.append(f"{place}: {name}")
            return ""
        if one.get("description") and "description" not in schema:
            schema["description"] = str(one["description"])[:_LONGEST_TEXT]
        own = self._property(name, schema, required=required)
        if place == "query":
            self._query[name] = f"{{{{{own}}}}}"
        elif place == "header":
            self._headers[name] = f"{{{{{own}}}}}"
        return own

    def _property(self, name: str, schema: JsonObject, *, required: bool) -> str:
        own, count = _fit(name), 1
        while own in self._properties:
            count += 1
            own = f"{_fit(name)}_{count}"
        self._properties[own] = schema
        if required:
            self._required.append(own)
        return own

    def _body(self, body: JsonObject) -> None:
        """Fields of an object become parameters, so that the model meets no tree it needs not."""
        content = table(body.get("content"))
        kind = next((kind for kind in content if "json" in kind.lower()), None)
        form = next((kind for kind in content if "form-urlencoded" in kind.lower()), None)
        if kind is None and form is None:
            if body.get("required"):
                raise Invalid("openapi_body", kinds=", ".join(content)[:200] or "–")
            self.left_out.append(f"body: {', '.join(content)}"[:200])
            return
        chosen = kind or form or ""
        schema = self._schema(table(content[chosen]).get("schema") or {})
        fields = table(schema.get("properties"))
        if schema.get("type") == "object" and fields and not _mixed(schema):
            needed = _list(schema.get("required")) if body.get("required") else []
            told = {
                name: f"{{{{{self._property(name, table(one), required=name in needed)}}}}}"
                for name, one in fields.items()
                if not table(one).get("readOnly")
            }
        elif kind is None:
            raise Invalid("openapi_body", kinds=chosen)
        else:
            own = self._property("body", schema, required=bool(body.get("required")))
            told = f"{{{{{own}}}}}"
        if kind is None:
            self.table["body"] = {"form": told}
            return
        self.table["body"] = {"json": f'"{told}"' if isinstance(told, str) else told}
        if kind.lower() != "application/json" and "*" not in kind:
            self._headers["Content-Type"] = kind

    def _schema(self, schema: Any) -> JsonObject:
        return _modern(self._document.resolved(table(schema)))

    def _security(self, operation: JsonObject, prefix: str) -> None:
        """The first way in that we know; `{}` among them means that none is needed."""
        ways = _list(operation.get("security", self._document.root.get("security")))
        schemes = table(table(self._document.root.get("components")).get("securitySchemes"))
        if not ways or {} in ways:
            return
        for way in ways:
            holes = [
                self._way(self._document.followed(schemes.get(name)), name, prefix)
                for name in table(way)
            ]
            if all(holes):
                for place, name, text, secret, about in filter(None, holes):
                    taken = self._headers if place == "header" else self._query
                    taken[name] = f"{taken[name]}; {text}" if name in taken else text
                    self.secrets[secret] = about
                return
        raise Invalid("openapi_security", schemes=", ".join(schemes)[:200] or "–")

    def _way(
        self, scheme: JsonObject, name: str, prefix: str
    ) -> tuple[str, str, str, str, str] | None:
        """Where it goes, under which name, the text, the secret and what that is."""
        secret = _fit(f"{prefix}_{name}" if prefix else name).upper()[:64]
        kind, manner = str(scheme.get("type")), str(scheme.get("scheme", "")).lower()
        place, key = str(scheme.get("in")), str(scheme.get("name"))
        hole = f"{{{{secret:{secret}}}}}"
        if kind == "apiKey" and place in {"header", "query"}:
            return place, key, hole, secret, f"{place} {key}"
        if kind == "apiKey" and place == "cookie":
            return "header", "Cookie", f"{key}={hole}", secret, f"cookie {key}"
        if kind == "http" and manner == "basic":
            text = f"Basic {{{{basic:{secret}}}}}"
            return "header", "Authorization", text, secret, "user:password"
        if kind in {"oauth2", "openIdConnect"} or (kind == "http" and manner == "bearer"):
            return "header", "Authorization", f"Bearer {hole}", secret, "bearer token"
        return None


def _filled(path: str, named: Mapping[str, str]) -> str:
    """`/a/{b}` with our holes. What is in braces and no parameter is refused."""
    parts = re.split(r"\{([^{}]*)\}", path.replace("?", "%3F").replace("#", "%23"))
    for at in range(1, len(parts), 2):
        if parts[at] not in named:
            raise Invalid("openapi_parameter", parameter=f"path: {parts[at]}"[:100])
        parts[at] = f"{{{{{named[parts[at]]}}}}}"
    told = "".join(parts)
    return told if told.startswith("/") else f"/{told}"


def _modern(schema: Any) -> Any:
    """What 3.0 said in its own way, said as JSON Schema; what is about documents is left out."""
    if isinstance(schema, list):
        return [_modern(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    found = cast("JsonObject", schema)
    named = {key: value for key, value in found.items() if not key.startswith("x-")}
    for key in ("xml", "externalDocs", "example", "examples", "discriminator", "deprecated"):
        named.pop(key, None)
    nullable = named.pop("nullable", False)
    told = {key: value if key in _DATA else _modern(value) for key, value in named.items()}
    if isinstance(named.get("properties"), dict):
        told["properties"] = {name: _modern(one) for name, one in named["properties"].items()}
    if nullable and isinstance(told.get("type"), str):
        told["type"] = [told["type"], "null"]
    for side in ("minimum", "maximum"):
        exclusive = f"exclusive{side.capitalize()}"
        if isinstance(told.get(exclusive), bool) and told.pop(exclusive) and side in told:
            told[exclusive] = told.pop(side)
    return told


def _mixed(schema: JsonObject) -> bool:
    extra = schema.get("additionalProperties")
    return any(key in schema for key in ("oneOf", "anyOf", "allOf", "not")) or bool(extra)


def _fit(name: str) -> str:
    told = _UNFIT.sub("_", name).strip("_") or "value"
    return (told if told[0].isalpha() else f"p_{told}")[:64]


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
