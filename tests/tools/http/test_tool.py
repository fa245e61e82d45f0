from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web

from teahouse.agent.permission import traits_of
from teahouse.core.errors import ToolFailed
from teahouse.core.messages import Text
from teahouse.llm.tool import Tool, ToolContext
from teahouse.tools.egress import Egress, EgressRefused, EgressRules
from teahouse.tools.http.checks import read
from teahouse.tools.http.tool import HttpTool

pytestmark = pytest.mark.anyio

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
CANARY = 'c4nary/+"é\\key=='
LOGIN = "ada:0pen&sesame"


class Secrets:
    async def get(self, name: str, /) -> str | None:
        return {"KEY": CANARY, "PLAIN": "plain-c4nary-1234", "LOGIN": LOGIN}.get(name)


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[int]:
    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def door(*ports: int) -> Egress:
    return Egress(lambda: EgressRules(allow=[f"127.0.0.1:{port}" for port in ports]))


def tool(port: int, path: str = "/", *ports: int, **more: Any) -> HttpTool:
    names = [one for one in ("a", "n") if f"{{{{{one}}}}}" in path + json.dumps(more)]
    kinds = {"a": "string", "n": "integer"}
    table = {
        "name": "t",
        "description": "Tries.",
        "url": f"http://127.0.0.1:{port}{path}",
        "parameters": [{"name": one, "type": kinds[one]} for one in names],
        **more,
    }
    return HttpTool(read(table), door(port, *ports), Secrets())


async def said(one: HttpTool, **arguments: Any) -> str:
    content = await one(arguments, ToolContext())
    assert len(content) == 1
    assert isinstance(content[0], Text)
    return content[0].text


async def echo(request: web.BaseRequest) -> web.Response:
    return web.json_response(
        {
            "method": request.method,
            "path": request.raw_path,
            "headers": {k: v for k, v in request.headers.items() if k != "Accept-Encoding"},
            "body": (await request.read()).decode(),
        }
    )


def answering(body: bytes, media_type: str, status: int = 200) -> Answer:
    async def answer(request: web.BaseRequest) -> web.Response:
        return web.Response(body=body, headers={"Content-Type": media_type}, status=status)

    return answer


async def test_a_request_arrives_as_its_template_says() -> None:
    async with serving(echo) as port:
        one = tool(
            port,
            "/v1/{{a}}?z=1",
            method="PUT",
            headers={"X-N": "{{n}}"},
            query={"q": "{{a}}"},
            body={"json": {"n": "{{n}}", "t": "{{a}}"}},
        )
        text = await said(one, a="a/b 茶", n=3)

    status, _, body = text.partition("\n")
    found = json.loads(body)
    assert status == "HTTP 200 OK"
    assert found["method"] == "PUT"
    assert found["path"] == "/v1/a%2Fb%20%E8%8C%B6?z=1&q=a%2Fb%20%E8%8C%B6"
    assert found["headers"]["X-N"] == "3"
    assert found["headers"]["Content-Type"] == "application/json"
    assert json.loads(found["body"]) == {"n": 3, "t": "a/b 茶"}


async def test_only_the_owner_lets_it_reach_a_private_place() -> None:
    async with serving(echo) as port:
        one = HttpTool(tool(port).definition, Egress(), Secrets())
        with pytest.raises(EgressRefused) as refused:
            await one({}, ToolContext())

    assert refused.value.code == "egress_private"
    assert isinstance(refused.value, ToolFailed)


async def test_it_says_of_itself_what_permissions_need() -> None:
    get, post = tool(8080), tool(8080, method="POST")
    checked: Tool = get

    assert traits_of(checked).is_foreign
    assert traits_of(get).effect == traits_of(post).effect == "external"
    assert traits_of(get).is_wary
    assert (get.repeatable, post.repeatable) == (True, False)
    assert traits_of(tool(8080, effect="read")).effect == "read"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("status", "HTTP 200 OK"),
        ("data.items[0].name", "HTTP 200 OK\nOolong"),
        ("data.items[-1].name", "HTTP 200 OK\n普洱"),
        ("data.items[*].name", 'HTTP 200 OK\n["Oolong","普洱"]'),
        ("data.items[1]", 'HTTP 200 OK\n{"name":"普洱","price":2.5}'),
        ('["a.b"].c', "HTTP 200 OK\n7"),
        ('data["items"][0].price', "HTTP 200 OK\nnull"),
    ],
)
async def test_a_path_picks_from_the_answer(result: str, text: str) -> None:
    body = {
        "data": {"items": [{"name": "Oolong", "price": None}, {"name": "普洱", "price": 2.5}, 3]},
        "a.b": {"c": 7},
    }
    body["data"]["items"].pop()
    packed = json.dumps(body).encode()
    async with serving(answering(packed, "application/json")) as port:
        assert await said(tool(port, result=result)) == text


async def test_a_path_that_leads_nowhere_says_how_far_it_came() -> None:
    async with serving(answering(b'{"data":{"x":[]}}', "application/json")) as port:
        missing = await said(tool(port, result="data.x[0].y"))
    async with serving(answering(b"<p>hi", "text/html")) as port:
        no_json = await said(tool(port, result="data.x"))
    async with serving(answering(b'{"error":"no"}', "application/json", 404)) as port:
        failed = await said(tool(port, result="data.x"))

    assert "only data.x." in missing
    assert '{"data":{"x":[]}}' in missing
    assert "not JSON" in no_json
    assert failed == 'HTTP 404 Not Found\n{"error":"no"}'


@pytest.mark.parametrize(
    ("body", "media_type", "text"),
    [
        ("茶".encode("gb18030"), "text/plain; charset=gb18030", "茶"),
        ("茶".encode(), "text/plain", "茶"),
        ("茶".encode(), "text/plain; charset=nonsense", "茶"),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png", "[image/png, 10 bytes; not text]"),
        (b"\0\1\2", "application/zip", "[application/zip, 3 bytes; not text]"),
        (b"\0\1\2", "text/plain; charset=utf-8", "[text/plain, 3 bytes; not text]"),
        (b"<svg/>", "image/svg+xml", "<svg/>"),
    ],
)
async def test_an_answer_is_text_or_is_told_of(body: bytes, media_type: str, text: str) -> None:
    async with serving(answering(body, media_type)) as port:
        assert await said(tool(port)) == f"HTTP 200 OK\n{text}"


async def test_an_empty_answer_is_its_status() -> None:
    async with serving(answering(b"", "text/plain", 204)) as port:
        assert await said(tool(port)) == "HTTP 204 No Content"
        assert await said(tool(port, method="HEAD")) == "HTTP 204 No Content"


async def test_long_answers_are_cut_and_too_long_ones_refused() -> None:
    async with serving(answering(b"x" * 3000, "text/plain")) as port:
        cut = await said(tool(port, shown=100))
        with pytest.raises(EgressRefused) as refused:
            await said(tool(port, most_kb=2))

    assert cut == f"HTTP 200 OK\n{'x' * 100}\n[… 2,900 characters are not shown …]"
    assert refused.value.code == "egress_too_large"


FORMS = [
    CANARY,
    quote(CANARY, safe=""),
    json.dumps(CANARY)[1:-1],
    json.dumps(CANARY, ensure_ascii=False)[1:-1],
    base64.b64encode(CANARY.encode()).decode(),
    "plain-c4nary-1234",
    "plain-c4nary",
    LOGIN,
    base64.b64encode(LOGIN.encode()).decode(),
    "0pen&sesame",
]


def leaks(text: str) -> list[str]:
    return [form for form in FORMS if form.lower() in text.lower()]


WITH_SECRETS: dict[str, Any] = {
    "method": "POST",
    "headers": {"X-Key": "{{secret:PLAIN}}", "Authorization": "Basic {{basic:LOGIN}}"},
    "query": {"key": "{{secret:KEY}}"},
    "body": {"json": {"key": "{{secret:KEY}}", "in": "a {{secret:PLAIN}} b"}},
}


async def test_secrets_arrive_and_an_echo_of_them_does_not_come_back() -> None:
    got: list[dict[str, Any]] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        text = (await request.read()).decode()
        got.append({"headers": dict(request.headers), "path": request.raw_path, "body": text})
        told = [*got, CANARY, quote(CANARY), LOGIN]
        escaped = "".join(f"\\u{ord(letter):04x}" for letter in "plain-c4nary-1234")
        text = json.dumps(told)[:-1] + f', "{escaped}"]'
        return web.Response(text=text, content_type="application/json")

    async with serving(answer) as port:
        whole = await said(tool(port, **WITH_SECRETS))
        picked = await said(tool(port, result="[*]", **WITH_SECRETS))
        body = await said(tool(port, result="[0].body", **WITH_SECRETS))

    login = base64.b64encode(LOGIN.encode()).decode()
    assert got[0]["headers"]["X-Key"] == "plain-c4nary-1234"
    assert got[0]["headers"]["Authorization"] == f"Basic {login}"
    assert got[0]["path"] == f"/?key={quote(CANARY, safe='')}"
    assert json.loads(got[0]["body"]) == {"key": CANARY, "in": "a plain-c4nary-1234 b"}
    assert not leaks(whole + picked + body)
    assert not leaks(json.dumps(json.loads(whole.partition("\n")[2]), ensure_ascii=False))
    assert "~KEY~" in whole
    assert json.loads(body.partition("\n")[2]) == {"key": "~KEY~", "in": "a ~PLAIN~ b"}


async def test_secrets_are_in_no_error(caplog: pytest.LogCaptureFixture) -> None:
    async def loop(request: web.BaseRequest) -> web.Response:
        return web.Response(status=307, headers={"Location": request.raw_path})

    async def elsewhere(request: web.BaseRequest) -> web.Response:
        where = f"http://{request.headers['X-Key']}.invalid/?{request.query_string}"
        return web.Response(status=302, headers={"Location": where})

    async def cut(request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    long = "/" + "x" * 150 + "?a={{secret:PLAIN}}{{secret:KEY}}"
    failures: list[EgressRefused] = []
    for answer in (loop, elsewhere, cut):
        async with serving(answer) as port:
            for path in ("/", long):
                more = {**WITH_SECRETS, "method": "GET", "body": None}
                with pytest.raises(EgressRefused) as refused:
                    await said(tool(port, path, **more))
                failures.append(refused.value)

    assert {one.code for one in failures} >= {"egress_redirects", "egress_failed"}
    for one in failures:
        told = f"{one} {one.text} {one.values} {one.problem('zh-CN')} {caplog.text}"
        assert not leaks(told)
        assert one.__suppress_context__
        assert "url" not in one.values or one.values["url"].startswith("http://127.0.0.1:")
    assert any("key=~KEY~" in one.text for one in failures)


async def test_a_piece_of_a_secret_in_the_words_of_an_error_is_not_told() -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"plain-c4 and more of nonsense\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(EgressRefused) as bare:
            await said(tool(port))
        with pytest.raises(EgressRefused) as refused:
            await said(tool(port, headers={"X-Key": "{{secret:PLAIN}}"}))

    assert "plain-c4" in bare.value.text
    assert "plain" not in f"{refused.value.text} {refused.value.values}"
    assert refused.value.code == "egress_failed"


async def test_secrets_go_to_no_other_origin() -> None:
    got: list[str] = []

    async def other(request: web.BaseRequest) -> web.Response:
        got.append(f"{request.raw_path} {dict(request.headers)} {await request.read()!r}")
        return web.Response(text="here")

    async with serving(other) as away:

        async def home(request: web.BaseRequest) -> web.Response:
            return web.Response(status=302, headers={"Location": f"http://127.0.0.1:{away}/x"})

        async with serving(home) as port:
            more = {**WITH_SECRETS, "method": "GET", "body": None}
            text = await said(tool(port, "/", away, **more))

    assert text == "HTTP 200 OK\nhere"
    assert len(got) == 1
    assert not leaks(got[0])


async def test_a_secret_that_is_not_set_stops_the_call() -> None:
    with pytest.raises(ToolFailed) as refused:
        await said(tool(8080, headers={"X": "{{secret:NOBODY}}"}))

    assert refused.value.code == "http_secret_missing"
    assert "NOBODY" in refused.value.text


async def test_a_model_cannot_name_a_secret_in_an_argument() -> None:
    async with serving(echo) as port:
        one = tool(port, "/?q={{a}}", headers={"X-Key": "{{secret:PLAIN}}"})
        text = await said(one, a="{{secret:PLAIN}} {{secret:KEY}}")

    found = json.loads(text.partition("\n")[2])
    assert found["path"] == "/?q=%7B%7Bsecret%3APLAIN%7D%7D%20%7B%7Bsecret%3AKEY%7D%7D"
    assert "PLAIN" not in json.dumps(one.spec.parameters)


async def test_a_trial_shows_the_request_without_secrets_and_the_answer() -> None:
    async with serving(echo) as port:
        trial = await tool(port, "/{{a}}", **WITH_SECRETS).try_out({"a": "x y"})

    assert trial.error is None
    assert trial.request is not None
    assert trial.answer is not None
    assert trial.answer.startswith("HTTP 200 OK\n")
    assert trial.request.url == f"http://127.0.0.1:{port}/x%20y?key=~KEY~"
    assert trial.request.headers == {
        "X-Key": "~PLAIN~",
        "Authorization": "Basic ~LOGIN~",
        "Content-Type": "application/json",
    }
    assert trial.request.body == b'{"key":"~KEY~","in":"a ~PLAIN~ b"}'
    assert not leaks(repr(trial))


async def test_a_trial_that_fails_shows_the_request_and_why() -> None:
    refused = await tool(8080, "/{{a}}").try_out({"a": ".."})
    secret = await tool(8080, "/{{a}}?k={{secret:NOBODY}}").try_out({"a": "x"})

    assert refused.request is None
    assert refused.error is not None
    assert refused.error.code == "http_value_path"
    assert secret.request is not None
    assert secret.request.url.endswith("/x?k=~NOBODY~")
    assert secret.error is not None
    assert secret.error.code == "http_secret_missing"


async def test_a_silent_server_is_left_in_time() -> None:
    done = asyncio.Event()

    async def silent(request: web.BaseRequest) -> web.Response:
        await done.wait()
        return web.Response()

    async with serving(silent) as port:
        with pytest.raises(EgressRefused) as refused:
            await said(tool(port, timeout_s=0.05))
        done.set()

    assert refused.value.code == "egress_timeout"
