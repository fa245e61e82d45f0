from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.tools.http.arguments import checked
from teahouse.tools.http.checks import origins, read
from teahouse.tools.http.definition import Definition
from teahouse.tools.http.errors import HttpRefused
from teahouse.tools.http.request import Request, build
from teahouse.tools.web_address import read_url

WHOLE = read(
    {
        "name": "whole",
        "description": "A hole in every place.",
        "method": "POST",
        "url": "https://api.example.com/v1/{{a}}/x{{b}}y/end?u={{a}}&fixed=1&v=p{{b}}",
        "parameters": [{"name": "a"}, {"name": "b"}],
        "headers": {"X-A": "{{a}}", "X-Name": "f; name*={{b}}", "X-Q": 'n="{{a}}"; z=1'},
        "query": {"w": "{{a}}", "odd name&": "{{b}}"},
        "body": {"form": {"f": "{{a}}", "g": "1{{b}}"}},
    }
)
WHOLE_JSON = read(
    {
        "name": "data",
        "description": "Data.",
        "method": "POST",
        "url": "https://api.example.com/",
        "parameters": [{"name": "a"}, {"name": "b"}],
        "body": {"json": {"k": "{{a}}", "list": ["x {{b}} y", "{{b}}"], "in": {"z": 1}}},
    }
)
NASTY = st.sampled_from(
    [
        *("/", "..", "%2e", "%2F", "\\", "?", "#", "&", "=", "@", ":", "\r\n", "\0", ";", '"'),
        *("http://evil.example/", "{{b}}", "{{secret:KEY}}", "茶", "\u2028", "\ud800"),
        *("%", "%00", "+", " "),
    ]
)
VALUES = st.lists(NASTY | st.text(max_size=4), max_size=5).map("".join)


def built(tool: Definition, arguments: dict[str, Any], *codes: str) -> Request | None:
    """None where it was refused for one of these reasons."""
    try:
        return build(tool, arguments, {})
    except HttpRefused as error:
        if error.code in codes:
            return None
        raise


def at(url: str, **more: Any) -> Any:
    names = sorted(
        {one for text in (url, json.dumps(more)) for one in ("a", "b") if f"{{{{{one}}}}}" in text}
    )
    return read(
        {
            "name": "t",
            "description": "T.",
            "url": url,
            "parameters": [{"name": one} for one in names],
            **more,
        }
    )


@given(VALUES, VALUES)
def test_no_value_changes_where_a_request_goes_or_what_it_is_made_of(a: str, b: str) -> None:
    codes = ("http_value_path", "http_value_header", "http_value_text")
    sent = built(WHOLE, {"a": a, "b": b}, *codes)
    if sent is None:
        return
    url = urlsplit(sent.url)
    segments = url.path.split("/")
    pairs = parse_qsl(url.query, keep_blank_values=True)

    assert sent.url.isascii()
    assert sent.method == "POST"
    assert (url.scheme, url.netloc, url.fragment) == ("https", "api.example.com", "")
    assert read_url(sent.url).origin in origins(WHOLE)
    assert len(segments) == 5
    assert [segments[1], segments[4]] == ["v1", "end"]
    assert not {"", ".", ".."} & {unquote(unquote(one)) for one in segments[1:]}
    assert unquote(segments[2]) == a
    assert pairs == [
        ("u", a),
        ("fixed", "1"),
        ("v", f"p{b}"),
        ("w", a),
        ("odd name&", b),
    ]
    assert sent.headers.keys() == {"X-A", "X-Name", "X-Q", "Content-Type"}
    assert all(one.isascii() and (one + " ").isprintable() for one in sent.headers.values())
    assert sent.body is not None
    form = parse_qsl(sent.body.decode(), keep_blank_values=True)
    assert form == [("f", a), ("g", f"1{b}")]


@given(VALUES.filter(lambda one: "\ud800" not in one))
def test_any_text_arrives_whole_in_a_query_and_a_form(a: str) -> None:
    tool = at(
        "https://a.example/x?k=1{{a}}&z=2",
        method="POST",
        query={"q": "{{a}}"},
        body={"form": {"f": "{{a}}"}},
    )
    sent = build(tool, {"a": a}, {})
    url = urlsplit(sent.url)

    assert (url.scheme, url.netloc, url.path, url.fragment) == ("https", "a.example", "/x", "")
    pairs = parse_qsl(url.query, keep_blank_values=True)
    assert pairs == [("k", f"1{a}"), ("z", "2"), ("q", a)]
    assert parse_qsl((sent.body or b"").decode(), keep_blank_values=True) == [("f", a)]


@given(VALUES, VALUES)
def test_no_value_changes_the_shape_of_data(a: str, b: str) -> None:
    sent = built(WHOLE_JSON, {"a": a, "b": b}, "http_value_text")
    if sent is None:
        return

    assert sent.body is not None
    assert json.loads(sent.body) == {"k": a, "list": [f"x {b} y", b], "in": {"z": 1}}


SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | VALUES
TREES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(VALUES, one, max_size=3),
    max_leaves=8,
)


@given(TREES)
def test_a_hole_that_is_a_whole_value_keeps_its_type(value: Any) -> None:
    tool = read(
        {
            "name": "t",
            "description": "T.",
            "method": "POST",
            "url": "https://a.example/",
            "parameters": {"type": "object", "properties": {"a": {}}},
            "body": {"json": '{"k": {{a}}, "z": 1}'},
        }
    )
    sent = built(tool, {"a": value}, "http_value_text")
    if sent is None:
        return

    assert sent.body is not None
    assert json.loads(sent.body) == ({"k": value, "z": 1} if value is not None else {"z": 1})


@given(TREES)
def test_values_of_any_type_stay_in_their_place(value: Any) -> None:
    tool = read(
        {
            "name": "t",
            "description": "T.",
            "url": "https://a.example/x/y{{a}}/z?k=1{{a}}",
            "parameters": {"type": "object", "properties": {"a": {}}},
        }
    )
    sent = built(tool, {"a": value}, "http_value_path", "http_value_text")
    if sent is None:
        return
    url = urlsplit(sent.url)

    assert url.netloc == "a.example"
    assert len(url.path.split("/")) == 4
    assert list(parse_qs(url.query)) == ["k"]


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("tea", "/d/tea/e"),
        ("a/b", "/d/a%2Fb/e"),
        ("a b", "/d/a%20b/e"),
        ("茶", "/d/%E8%8C%B6/e"),
        ("?x=1", "/d/%3Fx%3D1/e"),
        ("#top", "/d/%23top/e"),
        ("a%2fb", "/d/a%252fb/e"),
        ("a@b:c", "/d/a%40b%3Ac/e"),
        ("...", "/d/.../e"),
        (".hidden", "/d/.hidden/e"),
        ("v1.2", "/d/v1.2/e"),
        ("a;b=c", "/d/a%3Bb%3Dc/e"),
        ("a&b", "/d/a%26b/e"),
        ("{{b}}", "/d/%7B%7Bb%7D%7D/e"),
        ("http://evil.example", "/d/http%3A%2F%2Fevil.example/e"),
        (12, "/d/12/e"),
        (True, "/d/true/e"),
        (1.5, "/d/1.5/e"),
    ],
)
def test_a_value_is_one_segment_of_a_path(value: object, sent: str) -> None:
    tool = at("https://a.example/d/{{a}}/e")

    assert build(tool, {"a": value}, {}).url == f"https://a.example{sent}"


@pytest.mark.parametrize(
    "value",
    [
        *("", ".", "..", "../x", "x/..", "..\\x", "%2e%2e", "%2E.", "%252e%252e", "..%2fx"),
        *("x%2f..%2fy", "..;/x", "x/./y", "a\0b", "a\nb", "%00", "%0d%0aX: y", "\ud800", " .. "),
        *("..%5cx", "\x7f", "%25252e%25252e%25252f"),
    ],
)
def test_steps_and_control_characters_never_get_into_a_path(value: str) -> None:
    with pytest.raises(HttpRefused) as refused:
        build(at("https://a.example/d/{{a}}/e"), {"a": value}, {})

    assert refused.value.code in {"http_value_path", "http_value_text"}
    assert "a" in refused.value.values["parameter"]


@pytest.mark.parametrize(
    ("path", "value"),
    [("/d/.{{a}}/e", "."), ("/d/%2e{{a}}/e", "."), ("/d/{{a}}{{b}}/e", "."), ("/d/{{a}}.", ".")],
)
def test_a_template_and_a_value_do_not_make_a_step_together(path: str, value: str) -> None:
    with pytest.raises(HttpRefused):
        build(at(f"https://a.example{path}"), {"a": value, "b": "."}, {})


def test_a_percent_sign_of_the_template_makes_no_escape_of_a_value() -> None:
    sent = build(at("https://a.example/x%{{a}}/%41?p=%{{a}}"), {"a": "2e"}, {})

    assert sent.url == "https://a.example/x%252e/%41?p=%252e"


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("tea", "q=tea&z=1"),
        ("a&b=c", "q=a%26b%3Dc&z=1"),
        ("a+b c", "q=a%2Bb%20c&z=1"),
        ("#x", "q=%23x&z=1"),
        ("50%", "q=50%25&z=1"),
        ("a\r\nb", "q=a%0D%0Ab&z=1"),
        ("", "q=&z=1"),
        ("茶", "q=%E8%8C%B6&z=1"),
        (False, "q=false&z=1"),
        (3, "q=3&z=1"),
        (["a", "b&c"], "q=a&q=b%26c&z=1"),
        ({"k": 1}, "q=%7B%22k%22%3A1%7D&z=1"),
        (None, "z=1"),
    ],
)
def test_a_value_of_a_query_stays_the_value_of_its_name(value: object, sent: str) -> None:
    tool = at("https://a.example/?q={{a}}&z=1")

    assert build(tool, {"a": value}, {}).url == f"https://a.example/?{sent}"


@pytest.mark.parametrize(
    ("template", "value", "sent"),
    [
        ("{{a}}", "tea", "tea"),
        ("{{a}}", "a; b, c", "a; b, c"),
        ("k {{a}}", 5, "k 5"),
        ('file="{{a}}"', 'x"; evil="1', 'file="x\\"; evil=\\"1"'),
        ('file="{{a}}"', "x\\", 'file="x\\\\"'),
        ("f; name*={{a}}", "茶 \r\n", "f; name*=UTF-8''%E8%8C%B6%20%0D%0A"),
        ("{{a}}", ["x", "y"], "x, y"),
    ],
)
def test_a_value_of_a_header_is_written_as_headers_want_it(
    template: str, value: object, sent: str
) -> None:
    tool = at("https://a.example/", headers={"X-A": template})

    assert build(tool, {"a": value}, {}).headers == {"X-A": sent}


@pytest.mark.parametrize(
    "value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\tb", "茶", "é", "\x7f", "\x85", "\u2028"]
)
def test_a_value_cannot_end_a_header(value: str) -> None:
    with pytest.raises(HttpRefused) as refused:
        build(at("https://a.example/", headers={"X-A": "{{a}}"}), {"a": value}, {})

    assert refused.value.code == "http_value_header"


def sent(body: dict[str, Any], headers: dict[str, str] | None = None) -> Request:
    tool = at("https://a.example/", method="POST", body=body, headers=headers or {})
    return build(tool, {"a": "<a href='x'>&1</a> 茶"}, {})


def test_a_body_says_what_it_is_and_is_escaped_for_that() -> None:
    text = sent({"text": "say {{a}}"})
    xml = sent({"text": "<x>{{a}}</x>"}, {"content-type": "text/xml"})
    form = sent({"form": {"k": "{{a}}"}})

    assert text.body == "say <a href='x'>&1</a> 茶".encode()
    assert text.headers == {"Content-Type": "text/plain; charset=utf-8"}
    assert xml.body == "<x>&lt;a href=&#x27;x&#x27;&gt;&amp;1&lt;/a&gt; 茶</x>".encode()
    assert xml.headers == {"content-type": "text/xml"}
    assert form.body == b"k=%3Ca+href%3D%27x%27%3E%261%3C%2Fa%3E+%E8%8C%B6"
    assert form.headers == {"Content-Type": "application/x-www-form-urlencoded"}


def test_what_is_left_out_leaves_no_trace() -> None:
    tool = at(
        "https://a.example/?q={{a}}",
        method="POST",
        headers={"X-A": "{{a}}", "X-B": "{{b}}"},
        query={"r": "{{a}}"},
        body={"json": {"k": "{{a}}", "l": ["{{a}}", "{{b}}"], "t": "x{{a}}"}},
    )

    request = build(tool, {"b": "1"}, {})

    assert request.url == "https://a.example/"
    assert request.headers == {"X-B": "1", "Content-Type": "application/json"}
    assert request.body == b'{"l":["1"],"t":"x"}'


def test_a_host_may_be_one_of_a_few() -> None:
    tool = read(
        {
            "name": "t",
            "description": "T.",
            "url": "https://{{region}}.api.example.com/x",
            "parameters": [{"name": "region", "enum": ["eu", "us"]}],
        }
    )

    assert {host for _, host, _ in origins(tool)} == {"eu.api.example.com", "us.api.example.com"}
    assert build(tool, {"region": "eu"}, {}).url == "https://eu.api.example.com/x"
    with pytest.raises(HttpRefused) as refused:
        checked(tool.schema, {"region": "evil.example/#"})
    assert refused.value.code == "http_argument_choice"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "http_argument_missing"),
        ({"n": None}, "http_argument_missing"),
        ({"n": 1, "x": 2}, "http_argument_unknown"),
        ({"n": "1"}, "http_argument_kind"),
        ({"n": True}, "http_argument_kind"),
        ({"n": 1.5}, "http_argument_kind"),
        ({"n": 1, "s": []}, "http_argument_kind"),
        ({"n": 1, "s": "x" * 100_001}, "http_argument_long"),
        ({"n": 1, "e": "third"}, "http_argument_choice"),
    ],
)
def test_a_call_is_held_to_its_parameters(arguments: dict[str, Any], code: str) -> None:
    tool = read(
        {
            "name": "t",
            "description": "T.",
            "url": "https://a.example/",
            "parameters": [
                {"name": "n", "type": "integer"},
                {"name": "s", "required": False},
                {"name": "e", "required": False, "enum": ["one", "two"]},
            ],
        }
    )

    with pytest.raises(HttpRefused) as refused:
        checked(tool.schema, arguments)

    assert refused.value.code == code


def test_defaults_are_filled_in() -> None:
    tool = read(
        {
            "name": "t",
            "description": "T.",
            "url": "https://a.example/?u={{u}}",
            "parameters": [{"name": "u", "default": "metric"}],
        }
    )

    assert checked(tool.schema, {}) == {"u": "metric"}
