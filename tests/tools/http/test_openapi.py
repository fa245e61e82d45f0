from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from teahouse.core.errors import Invalid
from teahouse.tools.http.arguments import checked
from teahouse.tools.http.definition import Definition
from teahouse.tools.http.openapi import Imported, import_operations, load, operations
from teahouse.tools.http.request import build

SHOP: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Tea shop", "version": "1"},
    "servers": [
        {"url": "https://{region}.tea.example/v1/", "variables": {"region": {"default": "eu"}}}
    ],
    "security": [{"key": []}],
    "components": {
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
            "inQuery": {"type": "apiKey", "in": "query", "name": "api_key"},
            "inCookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
            "login": {"type": "http", "scheme": "basic"},
            "bearer": {"type": "http", "scheme": "bearer"},
            "oauth": {"type": "oauth2", "flows": {}},
            "mutual": {"type": "mutualTLS"},
        },
        "parameters": {
            "Limit": {
                "name": "limit",
                "in": "query",
                "description": "How many",
                "schema": {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            }
        },
        "requestBodies": {
            "Tea": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tea"}}},
            }
        },
        "schemas": {
            "Tea": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "id": {"type": "string", "readOnly": True},
                    "name": {"type": "string", "example": "Oolong", "x-order": 1},
                    "price": {"type": "number", "nullable": True},
                    "maker": {"$ref": "#/components/schemas/Maker"},
                },
            },
            "Maker": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "parent": {"$ref": "#/components/schemas/Maker"},
                },
            },
            "Chain": {"$ref": "#/components/schemas/Chain2"},
            "Chain2": {"$ref": "#/components/schemas/Chain"},
        },
    },
    "paths": {
        "/teas": {
            "get": {
                "operationId": "listTeas",
                "summary": "List teas",
                "parameters": [
                    {"$ref": "#/components/parameters/Limit"},
                    {"name": "filter[kind]", "in": "query", "schema": {"type": "string"}},
                    {
                        "name": "tag",
                        "in": "query",
                        "schema": {"type": "array", "items": {"type": "string"}},
                    },
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    {"name": "Accept", "in": "header", "schema": {"type": "string"}},
                    {"name": "seen", "in": "cookie", "schema": {"type": "string"}},
                ],
            },
            "post": {
                "operationId": "addTea",
                "description": "Add a tea",
                "requestBody": {"$ref": "#/components/requestBodies/Tea"},
                "security": [{"login": []}],
            },
        },
        "/teas/{tea-id}/notes/{id}": {
            "parameters": [
                {"name": "tea-id", "in": "path", "required": True, "schema": {"type": "string"}},
                {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
            ],
            "get": {"security": []},
            "delete": {"operationId": "dropNote", "security": [{"mutual": []}, {"bearer": []}]},
            "put": {
                "operationId": "putNote",
                "security": [{"inQuery": [], "inCookie": []}],
                "requestBody": {"content": {"application/json": {"schema": {"type": "string"}}}},
            },
            "patch": {
                "operationId": "patchNote",
                "security": [{}, {"key": []}],
                "requestBody": {
                    "content": {
                        "application/x-www-form-urlencoded": {
                            "schema": {
                                "type": "object",
                                "properties": {"id": {"type": "string"}, "b c": {}},
                            }
                        }
                    }
                },
            },
        },
    },
}


def shop(**changes: Any) -> str:
    return json.dumps(SHOP | changes)


def imported(*chosen: str, text: str | None = None, base: str | None = None) -> Imported:
    return import_operations(load(text or shop()), list(chosen), prefix="shop", base=base)


def one(chosen: str, **more: Any) -> Definition:
    (tool,) = imported(chosen, **more).tools
    return tool


def with_operation(operation: dict[str, Any], path: str = "/x", **changes: Any) -> str:
    return shop(
        paths={path: {"post": {"operationId": "it", "security": [], **operation}}}, **changes
    )


def test_operations_are_listed() -> None:
    found = operations(load(shop()))

    assert [(one.id, one.method, one.path) for one in found] == [
        ("listTeas", "GET", "/teas"),
        ("addTea", "POST", "/teas"),
        ("GET /teas/{tea-id}/notes/{id}", "GET", "/teas/{tea-id}/notes/{id}"),
        ("putNote", "PUT", "/teas/{tea-id}/notes/{id}"),
        ("patchNote", "PATCH", "/teas/{tea-id}/notes/{id}"),
        ("dropNote", "DELETE", "/teas/{tea-id}/notes/{id}"),
    ]
    assert found[0].summary == "List teas"


def test_parameters_become_the_places_they_stand_in() -> None:
    found = imported("listTeas")
    (tool,) = found.tools
    arguments = {"limit": 2, "filter_kind": "a&b", "tag": ["x", "y"], "X_Trace": "t"}
    sent = build(tool, checked(tool.schema, arguments), dict.fromkeys(tool.secrets, "k"))

    assert tool.name == "shop_listTeas"
    assert tool.description == "List teas"
    assert tool.schema["properties"]["limit"] == {
        "type": "integer",
        "exclusiveMinimum": 1,
        "description": "How many",
    }
    assert tool.schema["required"] == []
    assert urlsplit(sent.url).netloc == "eu.tea.example"
    assert urlsplit(sent.url).path == "/v1/teas"
    assert parse_qsl(urlsplit(sent.url).query) == [
        ("limit", "2"),
        ("filter[kind]", "a&b"),
        ("tag", "x"),
        ("tag", "y"),
    ]
    assert sent.headers == {"X-Trace": "t", "X-Api-Key": "k"}
    assert found.secrets == {"SHOP_KEY": "header X-Api-Key"}
    assert found.left_out == ("listTeas: header: Accept", "listTeas: cookie: seen")


def test_fields_of_a_body_become_parameters() -> None:
    found = imported("addTea")
    (tool,) = found.tools
    properties = tool.schema["properties"]
    arguments = {"name": "茶", "maker": {"name": "m"}}
    sent = build(tool, checked(tool.schema, arguments), dict.fromkeys(tool.secrets, "eA=="))

    assert list(properties) == ["name", "price", "maker"]
    assert properties["name"] == {"type": "string"}
    assert properties["price"] == {"type": ["number", "null"]}
    assert properties["maker"]["properties"] == {"name": {"type": "string"}, "parent": {}}
    assert tool.schema["required"] == ["name"]
    assert json.loads(sent.body or b"") == {"name": "茶", "maker": {"name": "m"}}
    assert sent.headers == {"Authorization": "Basic eA==", "Content-Type": "application/json"}
    assert found.secrets == {"SHOP_LOGIN": "user:password"}


def test_path_parameters_of_the_whole_path_count_and_no_security_needs_no_secret() -> None:
    found = imported("GET /teas/{tea-id}/notes/{id}")
    (tool,) = found.tools
    sent = build(tool, checked(tool.schema, {"tea_id": "a/b", "id": 5}), {})

    assert tool.name == "shop_GET_teas_tea_id_notes_id"
    assert tool.schema["required"] == ["tea_id", "id"]
    assert sent.url == "https://eu.tea.example/v1/teas/a%2Fb/notes/5"
    assert not found.secrets


def test_the_first_way_in_that_we_know_is_taken() -> None:
    tool = one("dropNote")

    assert tool.method == "DELETE"
    assert tool.headers == {"Authorization": "Bearer {{secret:SHOP_BEARER}}"}


def test_ways_in_that_belong_together_are_all_taken_and_a_bare_body_is_a_parameter() -> None:
    tool = one("putNote")
    arguments = {"tea_id": "t", "id": 1, "body": "hello"}
    sent = build(tool, checked(tool.schema, arguments), dict.fromkeys(tool.secrets, "k"))

    assert sent.url == "https://eu.tea.example/v1/teas/t/notes/1?api_key=k"
    assert sent.headers["Cookie"] == "sid=k"
    assert sent.body == b'"hello"'


def test_a_form_and_a_name_that_is_taken() -> None:
    tool = one("patchNote")
    arguments = {"tea_id": "t", "id": 1, "id_2": "x&y", "b_c": "z"}
    sent = build(tool, checked(tool.schema, arguments), {})

    assert sent.body == b"id=x%26y&b+c=z"
    assert sent.headers == {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    ("servers", "base", "url"),
    [
        ([{"url": "https://b.example"}], None, "https://b.example/x"),
        ([{"url": "/api"}], "https://c.example", "https://c.example/api/x"),
        ([{"url": "https://b.example"}], "https://c.example/v2/", "https://c.example/v2/x"),
        ([], "https://c.example", "https://c.example/x"),
    ],
)
def test_the_address_is_the_documents_or_the_owners(
    servers: list[Any], base: str | None, url: str
) -> None:
    assert one("it", text=with_operation({}, servers=servers), base=base).url == url


def test_a_document_of_3_1_in_yaml_is_read() -> None:
    text = """
openapi: 3.1.0
info: {title: T, version: 2026-01-01}
servers: [{url: "https://a.example"}]
paths:
  /when:
    get:
      operationId: when
      parameters:
        - {name: on, in: query, required: true, schema: {type: [string, "null"], enum: [no, yes]}}
        - {name: deep, in: query, schema: {type: boolean, default: false}}
      responses: {200: {description: ok}}
"""
    tool = one("when", text=text)

    assert tool.url == "https://a.example/when"
    assert tool.schema["properties"]["on"] == {"type": ["string", "null"], "enum": ["no", "yes"]}
    assert tool.schema["properties"]["deep"] == {"type": "boolean", "default": False}


def test_tools_of_like_names_are_told_apart() -> None:
    paths = {"/a-b": {"get": {"security": []}}, "/a_b": {"get": {"security": []}}}
    found = imported("GET /a-b", "GET /a_b", text=shop(paths=paths))

    assert len({tool.name for tool in found.tools}) == 2


def test_what_is_imported_is_plain_data_again() -> None:
    for tool in imported("listTeas", "addTea", "putNote", "patchNote").tools:
        assert msgspec.convert(msgspec.to_builtins(tool), Definition) == tool


BODY = {"content": {"multipart/form-data": {"schema": {"type": "object"}}}}
MANY = {f"p{n}": {"type": "string"} for n in range(6000)}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" ", "openapi_broken"),
        ("{", "openapi_broken"),
        ("[1]", "openapi_broken"),
        ("a: [", "openapi_broken"),
        ("[" * 100_000, "openapi_broken"),
        ("a: !!python/object/apply:os.system [x]", "openapi_broken"),
        ('{"a": ' * 5000, "openapi_broken"),
        ("{}", "openapi_version"),
        (shop(openapi="2.0"), "openapi_version"),
        (shop(openapi="3.2.0"), "openapi_version"),
        ('{"swagger": "2.0"}', "openapi_version"),
        (shop(paths={}), "openapi_operation"),
        (with_operation({"parameters": [{"$ref": "#/nowhere"}]}), "openapi_reference"),
        (with_operation({"parameters": [{"$ref": "other.json#/x"}]}), "openapi_reference"),
        (with_operation({"parameters": [{"$ref": "http://evil.example/x"}]}), "openapi_reference"),
        (with_operation({"parameters": [{"$ref": 5}]}), "openapi_reference"),
        (
            with_operation({"requestBody": {"$ref": "#/components/schemas/Chain"}}),
            "openapi_reference",
        ),
        (with_operation({"servers": [{"url": "ftp://a.example"}]}), "openapi_server"),
        (with_operation({"servers": [{"url": "/only"}]}), "openapi_server"),
        (with_operation({"servers": [{"url": "https://{x}.example"}]}), "openapi_server"),
        (with_operation({"servers": [{"url": "https://u:p@a.example"}]}), "http_tool_url"),
        (with_operation({}, path="/{x}"), "openapi_parameter"),
        (
            with_operation({"parameters": [{"name": "c", "in": "cookie", "required": True}]}),
            "openapi_parameter",
        ),
        (with_operation({"requestBody": BODY | {"required": True}}), "openapi_body"),
        (with_operation({"security": [{"mutual": []}]}), "openapi_security"),
        (with_operation({"security": [{"nobody": []}]}), "openapi_security"),
        (with_operation({}, path="/../x"), "http_tool_url"),
        (with_operation({}, path="/{{secret:KEY}}"), "openapi_parameter"),
        (
            with_operation(
                {"requestBody": {"content": {"application/json": {"schema": {"properties": MANY}}}}}
            ),
            "openapi_too_large",
        ),
        (
            with_operation({"parameters": [{"name": "Host", "in": "header", "schema": {}}]}),
            "http_tool_header",
        ),
        (
            with_operation({"parameters": [{"name": "{{secret:KEY}}", "in": "query"}]}),
            "http_tool_key",
        ),
    ],
)
def test_what_cannot_be_a_tool_is_refused(text: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        imported("it", text=text)

    assert refused.value.code == code


def test_no_text_of_a_document_becomes_a_secret_of_ours() -> None:
    schema = {"type": "object", "properties": {"{{secret:KEY}}": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": schema}}}

    with pytest.raises(Invalid) as refused:
        one("it", text=with_operation({"requestBody": body}))

    assert refused.value.code == "http_tool_key"


def test_an_optional_body_of_another_kind_is_left_out() -> None:
    found = imported("it", text=with_operation({"requestBody": BODY}))

    assert found.tools[0].body is None
    assert found.left_out == ("it: body: multipart/form-data",)


@pytest.mark.parametrize("levels", [12, 30])
def test_yaml_that_unfolds_without_end_is_refused(levels: int) -> None:
    lines = [f"l{n}: &l{n} {{a: *l{n - 1}, b: *l{n - 1}, c: *l{n - 1}}}" for n in range(1, levels)]
    place = f"[{{name: q, in: query, schema: *l{levels - 1}}}]"
    head = ["openapi: 3.1.0", "servers: [{url: 'https://a.example'}]", "l0: &l0 {type: string}"]
    path = f"paths: {{/x: {{get: {{operationId: it, parameters: {place}}}}}}}"
    text = "\n".join([*head, *lines, path])

    with pytest.raises(Invalid) as refused:
        imported("it", text=text)

    assert refused.value.code == "openapi_too_large"


def test_yaml_that_holds_itself_is_refused() -> None:
    text = """
openapi: 3.1.0
servers: [{url: "https://a.example"}]
paths:
  /x: {get: {operationId: it, parameters: [{name: q, in: query, schema: &s {items: *s}}]}}
"""
    with pytest.raises(Invalid) as refused:
        imported("it", text=text)

    assert refused.value.code == "openapi_too_large"
