from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from teahouse.core.errors import Invalid
from teahouse.tools.http.checks import read
from teahouse.tools.http.definition import Definition, json_tree
from teahouse.tools.http.folder import HttpFolder, line_of

WEATHER = """\
# Weather of a place.
name = "weather"
description = "Tell the weather."
url = "https://api.example.com/v1/{{city}}/now"
result = "current.text"

[[parameters]]
name = "city"
description = "A city in English"

[headers]
X-Key = "{{secret:WEATHER}}"
"""


def test_tools_appear_change_and_disappear_with_their_files(tmp_path: Path) -> None:
    folder = HttpFolder(tmp_path / "http")
    assert not folder.look().tools

    file = tmp_path / "http" / "weather.toml"
    file.parent.mkdir()
    file.write_text(WEATHER)
    found = folder.look()
    assert list(found.tools) == ["weather"]
    assert found.tools["weather"].schema["required"] == ["city"]
    assert found.files == {"weather": "weather.toml"}
    assert folder.look().tools["weather"] is found.tools["weather"]

    file.write_text(WEATHER.replace('"weather"', '"forecast"'))
    assert list(folder.look().tools) == ["forecast"]

    file.unlink()
    assert not folder.look().tools


BROKEN: list[tuple[str, str, str, int | None]] = [
    ("no toml", WEATHER.replace("result = ", "result "), "http_tool_file", 5),
    ("unclosed", WEATHER + "[headers", "http_tool_file", 13),
    ("twice", WEATHER + 'X-Key = "a"\n', "http_tool_file", 13),
    ("no url", WEATHER.replace("url =", "# url ="), "http_tool_shape", None),
    ("unknown", WEATHER.replace("result", "resultt"), "http_tool_shape", 5),
    ("kind", WEATHER.replace('"current.text"', "5"), "http_tool_shape", 5),
    ("method", WEATHER.replace("result =", 'method = "STEAL"\nresult ='), "http_tool_shape", 5),
    ("timeout", WEATHER.replace("result =", "timeout_s = 0\nresult ="), "http_tool_shape", 5),
    ("name", WEATHER.replace('"weather"', '"the weather"'), "http_tool_name", 2),
    ("empty", WEATHER.replace("Tell the weather.", " "), "http_tool_shape", 3),
    ("scheme", WEATHER.replace("https:", "ftp:"), "http_tool_url", 4),
    ("login", WEATHER.replace("https://", "https://me:pw@"), "http_tool_url", 4),
    ("steps", WEATHER.replace("/v1/", "/v1/../"), "http_tool_url", 4),
    ("encoded", WEATHER.replace("/v1/", "/%2e%2E/"), "http_tool_url", 4),
    ("fragment", WEATHER.replace("/now", "/now#x"), "http_tool_url", 4),
    ("backslash", WEATHER.replace("/v1/", "\\\\v1/"), "http_tool_url", 4),
    ("host", WEATHER.replace("api.", "{{city}}."), "http_tool_host", 4),
    ("port", WEATHER.replace(".com/", ".com:{{city}}/"), "http_tool_host", 4),
    ("secret host", WEATHER.replace("api.", "{{secret:X}}."), "http_tool_host", 4),
    ("scheme hole", WEATHER.replace("https:", "{{city}}:"), "http_tool_url", 4),
    ("hole", WEATHER.replace("{{city}}", "{{city}"), "http_tool_hole", 4),
    ("odd hole", WEATHER.replace("{{city}}", "{{city|upper}}"), "http_tool_hole", 4),
    ("nobody", WEATHER.replace("{{city}}", "{{town}}"), "http_tool_hole_unknown", 4),
    ("our header", WEATHER.replace("X-Key", "Host"), "http_tool_header", 12),
    ("odd header", WEATHER.replace("X-Key", '"X Key"'), "http_tool_header", 12),
    ("header text", WEATHER.replace("{{secret:WEATHER}}", "a\\r\\nb"), "http_tool_header", 12),
    ("two headers", WEATHER + 'x-key = "b"\n', "http_tool_header", 13),
    ("get with body", WEATHER + '[body]\ntext = "x"\n', "http_tool_body", 13),
    ("path", WEATHER.replace("current.text", "current..text"), "http_tool_result", 5),
    ("open path", WEATHER.replace("current.text", "items[0"), "http_tool_result", 5),
    ("key", WEATHER + '[query]\n"{{city}}" = "x"\n', "http_tool_key", 13),
    ("url key", WEATHER.replace("/now", "/now?{{city}}=1"), "http_tool_key", 4),
    ("parameter", WEATHER.replace('name = "city"', 'name = "my city"'), "http_tool_parameters", 7),
]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [pytest.param(text, code, line, id=name) for name, text, code, line in BROKEN],
)
def test_a_broken_file_says_where_and_harms_no_other(
    tmp_path: Path, text: str, code: str, line: int | None
) -> None:
    (tmp_path / "bad.toml").write_text(text)
    (tmp_path / "good.toml").write_text(WEATHER)

    found = HttpFolder(tmp_path).look()

    assert list(found.tools) == ["weather"]
    assert [(one.file, one.line, one.error.code) for one in found.broken] == [
        ("bad.toml", line, code)
    ]
    if code != "http_tool_file":
        field = found.broken[0].error.values["field"]
        assert field in found.broken[0].error.problem("zh-HK").message


def test_files_that_cannot_be_read_are_told_of(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "b.toml").write_text("#" * 300_000)
    (tmp_path / "c.toml").write_text(WEATHER)
    (tmp_path / "d.toml").write_text(WEATHER)
    (tmp_path / "e.toml").mkdir()
    (tmp_path / "f.toml").symlink_to("nowhere")
    os.mkfifo(tmp_path / "g.toml")
    (tmp_path / "h.toml").write_text("a = " + "[" * 5000)
    (tmp_path / "_draft.toml").write_text("no")
    (tmp_path / "notes.txt").write_text("no")

    found = HttpFolder(tmp_path).look()

    assert [(one.file, one.error.code) for one in found.broken] == [
        ("a.toml", "http_tool_file"),
        ("b.toml", "http_tool_file"),
        ("d.toml", "http_tool_twice"),
        ("h.toml", "http_tool_file"),
    ]
    assert found.broken[2].error.values == {"tool": "weather", "file": "c.toml"}


FULL: dict[str, Any] = {
    "name": "full",
    "description": "所有字段 \"quoted\" 'and' \\ \n lines",
    "method": "PATCH",
    "url": "https://{{region}}.example.com:8443/a%20b/{{id}}?x=1",
    "parameters": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "enum": ["eu", "us"]},
            "id": {"type": ["integer", "string"]},
            "deep": {"type": "object", "properties": {"k": {"type": "array"}}},
        },
        "required": ["region"],
    },
    "headers": {"Authorization": "Basic {{basic:LOGIN}}", "X-Odd'Name": "a"},
    "query": {"filter[name]": "{{id}}"},
    "body": {"json": {"a": [1, 2.5, True, {"deep": "{{deep}}"}], "b.c": {}}},
    "result": "data[*].name",
    "timeout_s": 5.5,
    "most_kb": 64,
    "shown": 500,
    "effect": "write",
}


@pytest.mark.parametrize(
    "table",
    [
        FULL,
        FULL | {"body": {"form": {"k": "{{deep}}"}}},
        FULL | {"body": {"text": "a\r\n\tb '''\"\"\" {{id}}"}},
        FULL | {"body": {"json": '{"a": {{deep}}, "b": null}'}},
        {"name": "small", "description": "Small.", "url": "http://a.example"},
    ],
)
def test_what_is_saved_is_read_back_the_same(tmp_path: Path, table: dict[str, Any]) -> None:
    folder = HttpFolder(tmp_path / "tools" / "http")
    definition = read(table)

    folder.save(definition)
    found = folder.look()

    assert not found.broken
    assert found.tools == {definition.name: definition}
    assert folder.remove(definition.name)
    assert not folder.remove(definition.name)
    assert not folder.look().tools


def test_a_tool_is_saved_where_it_stood(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(WEATHER)
    folder = HttpFolder(tmp_path)
    changed = read({"name": "weather", "description": "New.", "url": "https://a.example/"})

    folder.save(changed)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    assert folder.look().tools == {"weather": changed}


def test_nulls_of_a_body_survive_toml(tmp_path: Path) -> None:
    folder = HttpFolder(tmp_path)
    body = {"json": {"a": None, "b": [None, "{{x}}"]}}
    table = {"name": "t", "description": "T.", "url": "https://a.example/", "method": "POST"}
    folder.save(read(table | {"body": body, "parameters": [{"name": "x"}]}))

    found = folder.look().tools["t"]

    assert found.body is not None
    assert json_tree(found.body.json) == body["json"]


def test_a_wrong_definition_is_not_saved(tmp_path: Path) -> None:
    wrong = Definition(name="../x", description="X.", url="https://a.example/")

    with pytest.raises(Invalid) as refused:
        HttpFolder(tmp_path).save(wrong)

    assert refused.value.code == "http_tool_name"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ({"parameters": {"type": "array"}}, "http_tool_parameters"),
        ({"parameters": {"properties": []}}, "http_tool_parameters"),
        ({"parameters": {"properties": {"a": 1}}}, "http_tool_parameters"),
        ({"parameters": {"properties": {"a": {"enum": "x"}}}}, "http_tool_parameters"),
        ({"parameters": {"properties": {}, "required": ["a"]}}, "http_tool_parameters"),
        ({"parameters": {"properties": {}, "required": [[]]}}, "http_tool_parameters"),
        ({"parameters": {"properties": {}, "required": "a"}}, "http_tool_parameters"),
        ({"method": "POST", "body": {}}, "http_tool_body"),
        ({"method": "POST", "body": {"text": "x", "json": 1}}, "http_tool_body"),
        ({"method": "POST", "body": {"json": "{no"}}, "http_tool_body"),
        ({"method": "POST", "body": {"json": {"{{a}}": 1}}}, "http_tool_key"),
        ({"method": "POST", "body": {"json": {"k": "{{a}}"}}}, "http_tool_hole_unknown"),
        ({"method": "POST", "body": {"form": {"{{a}}": "x"}}}, "http_tool_key"),
        (
            {
                "method": "POST",
                "body": {"text": "x"},
                "headers": {"content-type": "application/json"},
            },
            "http_tool_body",
        ),
        ({"url": "https://{{secret:A}}/"}, "http_tool_host"),
        (
            {
                "url": "https://{{secret:A}}/",
                "parameters": [{"name": "A", "enum": ["a.example", "b.example"]}],
            },
            "http_tool_host",
        ),
        ({"url": "https://exa mple.com/"}, "http_tool_url"),
        ({"url": "https://a.example:99999/"}, "http_tool_url"),
        ({"url": "https:///x"}, "http_tool_url"),
        ({"url": "https://a.example/\u202e"}, "http_tool_url"),
        (
            {
                "url": "https://{{h}}/",
                "parameters": [{"name": "h", "enum": ["a.example", "b.example/x"]}],
            },
            "http_tool_url",
        ),
        (
            {"url": "https://{{h}}/", "parameters": [{"name": "h", "enum": ["a.example", 1]}]},
            "http_tool_host",
        ),
        (
            {
                "url": "https://{{h}}/",
                "parameters": [{"name": "h", "enum": ["a.example"], "required": False}],
            },
            "http_tool_host",
        ),
    ],
)
def test_a_bad_definition_is_refused_by_its_field(table: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        read({"name": "t", "description": "T.", "url": "https://a.example/"} | table)

    assert refused.value.code == code
    assert refused.value.values["field"]
    assert refused.value.problem().hint


def test_the_line_of_a_field_is_found_in_all_ways_to_write_it() -> None:
    text = 'a = 1\nheaders.X-A = "b"\n[query]\n"odd.x" = 1\n[body.json]\n'

    assert line_of(text, "headers.X-A") == 2
    assert line_of(text, "body.json") == 5
    assert line_of(text, "query.none") == 3
    assert line_of(text, "nothing") is None
