from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from teahouse.core.errors import ToolFailed
from teahouse.testing.case_files import read_cases
from teahouse.testing.egress_cases import judge
from teahouse.tools.addresses import is_public
from teahouse.tools.egress import Egress, EgressRefused, EgressRules
from teahouse.tools.fetch import Outgoing, fetch

CASES = Path(__file__).parents[1] / "cases"


def test_all_cases_are_judged_as_they_say() -> None:
    for file in sorted(CASES.glob("egress*.jsonl")):
        cases = read_cases(file)
        assert len(cases) >= 60
        assert not [one.id for one in judge(cases) if not one.passed]


private4 = st.sampled_from(
    ["127.0.0.0", "10.0.0.0", "192.168.0.0", "172.16.0.0", "169.254.0.0", "100.64.0.0", "0.0.0.0"]
).flatmap(lambda base: st.integers(0, 65535).map(lambda rest: int(IPv4Address(base)) + rest))


def notations(number: int) -> list[str]:
    """Every way to write an IPv4 address that some parser somewhere understands."""
    a, b, c, d = number.to_bytes(4, "big")
    quad = f"{a}.{b}.{c}.{d}"
    low = number & 0xFFFFFF
    six = [
        f"::ffff:{quad}",
        f"::{quad}",
        f"64:ff9b::{quad}",
        f"2002:{number >> 16:x}:{number & 0xFFFF:x}::1",
        f"2001:0:808:808:0:0:{~number >> 16 & 0xFFFF:x}:{~number & 0xFFFF:x}",
        f"2001:0:{number >> 16:x}:{number & 0xFFFF:x}::f7f7:f7f7",
        f"::ffff:0:{quad}",
        f"2606:4700::5efe:{quad}",
        f"0:0:0:0:0:FFFF:{number >> 16:x}:{number & 0xFFFF:X}",
    ]
    four = [
        quad,
        str(number),
        hex(number),
        f"0{number:o}",
        f"{a}.{low}",
        f"{a}.{b}.{c << 8 | d}",
        f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"00{a}.{b}.{c}.{d}",
        f"{quad}.",
        quad.replace(".", "。"),
        quad.translate({ord(digit): 0xFF10 + int(digit) for digit in "0123456789"}),
        "".join(f"%{ord(character):02x}" for character in quad),
    ]
    return [*four, *(f"[{one}]" for one in six)]


@settings(deadline=None)
@given(private4, st.data())
def test_no_notation_of_a_private_address_passes(number: int, data: st.DataObject) -> None:
    host = data.draw(st.sampled_from(notations(number)))
    before, after = data.draw(
        st.sampled_from(
            [("", ""), ("x@", ""), ("example.com@", ""), ("", ":80"), ("", ":8080"), ("", "?"),
             ("", "#@example.com"), ("", "\\@example.com"), ("example.com:80@", ":443")]
        )
    )  # fmt: skip
    scheme = data.draw(st.sampled_from(["http://", "https://", "HTTP://", "http:///", "//", ""]))
    where = str(IPv4Address(number))

    async def resolver(host: str, port: int, /) -> Sequence[str]:
        return [where]  # what the system's own resolver makes of most of these

    with pytest.raises(EgressRefused):
        asyncio.run(Egress(resolver=resolver).admit(f"{scheme}{before}{host}{after}/"))


@settings(deadline=None)
@given(st.integers(0, 2**128 - 1))
def test_of_ipv6_only_global_unicast_and_what_carries_public_addresses_is_public(
    number: int,
) -> None:
    address = IPv6Address(number)
    if is_public(address):
        assert not address.is_multicast
        assert address.sixtofour is None or is_public(address.sixtofour)


def test_the_switch_for_made_up_addresses_opens_exactly_their_range() -> None:
    assert is_public(IPv4Address("198.18.0.1"), fake_ips=True)
    assert not is_public(IPv4Address("198.18.0.1"))
    assert not is_public(IPv4Address("10.0.0.1"), fake_ips=True)


Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[int]:
    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def door(*ports: int, name: str = "127.0.0.1") -> Egress:
    async def resolver(host: str, port: int, /) -> Sequence[str]:
        return ["127.0.0.1"]

    rules = EgressRules(allow=tuple(f"{name}:{port}" for port in ports))
    return Egress(lambda: rules, resolver=resolver)


@pytest.mark.anyio
async def test_a_place_on_the_owners_list_is_reached_by_its_name() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"host": request.host, "path": request.path_qs})

    async with serving(answer) as port:
        found = await fetch(
            door(port, name="searx.lan"), Outgoing(url=f"http://searx.lan:{port}/a%2Fb?q=茶")
        )

    assert json.loads(found.body) == {"host": f"searx.lan:{port}", "path": "/a%2Fb?q=%E8%8C%B6"}


@pytest.mark.anyio
async def test_loopback_is_refused_where_the_list_does_not_name_that_very_port() -> None:
    async def answer(request: web.Request) -> web.Response:
        raise AssertionError("nobody may come here")

    async with serving(answer) as port:
        with pytest.raises(EgressRefused) as refused:
            await fetch(door(port + 1), Outgoing(url=f"http://127.0.0.1:{port}/"))

    assert refused.value.code == "egress_private"
    assert isinstance(refused.value, ToolFailed)
    assert "egress.allow" in refused.value.text
    assert "公共互联网" in refused.value.problem("zh-CN").message


@pytest.mark.anyio
@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "fe80::1", "fd00:ec2::254"])
async def test_a_name_on_the_list_cannot_lead_to_where_clouds_keep_credentials(
    address: str,
) -> None:
    async def resolver(host: str, port: int, /) -> Sequence[str]:
        return [address]

    egress = Egress(lambda: EgressRules(allow=("searx.lan:80",)), resolver=resolver)
    with pytest.raises(EgressRefused):
        await egress.admit("http://searx.lan/")


@pytest.mark.anyio
async def test_a_change_of_the_owners_list_counts_at_once() -> None:
    allow: list[str] = ["127.0.0.1:8080"]
    egress = Egress(lambda: EgressRules(allow=tuple(allow)))
    await egress.admit("http://127.0.0.1:8080/")
    allow.clear()
    with pytest.raises(EgressRefused):
        await egress.admit("http://127.0.0.1:8080/")


@pytest.mark.anyio
async def test_a_redirect_into_the_house_is_refused_before_it_is_made() -> None:
    visited: list[str] = []

    async def inside(request: web.Request) -> web.Response:
        visited.append(request.path)
        return web.Response()

    async with serving(inside) as hidden:

        async def outside(request: web.Request) -> web.Response:
            return web.Response(status=302, headers={"Location": f"http://127.0.0.1:{hidden}/"})

        async with serving(outside) as port:
            with pytest.raises(EgressRefused):
                await fetch(door(port), Outgoing(url=f"http://127.0.0.1:{port}/"))

    assert visited == []


@pytest.mark.anyio
async def test_headers_that_may_be_secrets_stay_with_their_origin() -> None:
    seen: list[dict[str, str]] = []

    async def note(request: web.Request) -> web.Response:
        seen.append(dict(request.headers))
        return web.Response()

    async with serving(note) as other:

        async def first(request: web.Request) -> web.Response:
            if request.path == "/start":
                seen.append(dict(request.headers))
                return web.Response(status=302, headers={"Location": "/again"})
            seen.append(dict(request.headers))
            return web.Response(status=302, headers={"Location": f"http://127.0.0.1:{other}/"})

        secret = {"Authorization": "Bearer s", "X-Key": "s", "Cookie": "a=s", "Accept": "text/html"}
        async with serving(first) as port:
            url = f"http://127.0.0.1:{port}/start"
            await fetch(door(port, other), Outgoing(url=url, headers=secret))

    carried = [sorted(set(headers) & set(secret)) for headers in seen]
    assert carried == [sorted(secret), sorted(secret), ["Accept"]]


@pytest.mark.anyio
async def test_a_body_is_not_given_to_another_origin() -> None:
    async def other(request: web.Request) -> web.Response:
        raise AssertionError("nobody may come here")

    async with serving(other) as hidden:

        async def first(request: web.Request) -> web.Response:
            return web.Response(status=307, headers={"Location": f"http://127.0.0.1:{hidden}/"})

        async with serving(first) as port:
            request = Outgoing(url=f"http://127.0.0.1:{port}/", method="POST", body=b"secret")
            with pytest.raises(EgressRefused) as refused:
                await fetch(door(port, hidden), request)

    assert refused.value.code == "egress_redirect_body"


@pytest.mark.anyio
async def test_a_form_that_is_answered_by_a_redirect_is_followed_by_get_without_its_body() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/form":
            return web.Response(status=303, headers={"Location": "/done"})
        return web.Response(text=f"{request.method} {len(await request.read())}")

    async with serving(answer) as port:
        request = Outgoing(url=f"http://127.0.0.1:{port}/form", method="POST", body=b"a=1")
        found = await fetch(door(port), request)

    assert found.body == b"GET 0"
    assert found.url.endswith("/done")


def packed(kind: str, data: bytes) -> bytes:
    if kind == "gzip":
        return gzip.compress(data[:5]) + gzip.compress(data[5:])
    if kind == "deflate":
        return zlib.compress(data)
    bare = zlib.compressobj(wbits=-15)
    return bare.compress(data) + bare.flush()


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["gzip", "deflate", "bare"])
async def test_packed_answers_are_unpacked(kind: str) -> None:
    body = packed(kind, b"Tea is served. " * 1000)

    async def answer(request: web.Request) -> web.Response:
        encoding = "deflate" if kind == "bare" else kind
        return web.Response(body=body, headers={"Content-Encoding": encoding})

    async with serving(answer) as port:
        found = await fetch(door(port), Outgoing(url=f"http://127.0.0.1:{port}/"))

    assert found.body == b"Tea is served. " * 1000


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("body", "encoding", "code"),
    [
        (gzip.compress(bytes(50 << 20)), "gzip", "egress_too_large"),
        (bytes(3000), "identity", "egress_too_large"),
        (gzip.compress(b"cut" * 100)[:-9], "gzip", "egress_failed"),
        (b"no gzip", "gzip", "egress_failed"),
        (b"x", "br", "egress_failed"),
        (gzip.compress(gzip.compress(b"x")), "gzip, gzip", "egress_failed"),
    ],
    ids=["bomb", "long", "cut", "damaged", "unknown", "twice"],
)
async def test_what_is_too_large_or_damaged_is_an_error(
    body: bytes, encoding: str, code: str
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Encoding": encoding})

    async with serving(answer) as port:
        with pytest.raises(EgressRefused) as refused:
            await fetch(door(port), Outgoing(url=f"http://127.0.0.1:{port}/", most_bytes=2000))

    assert refused.value.code == code


@pytest.mark.anyio
async def test_a_server_that_never_ends_is_left_in_time() -> None:
    over = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await over.wait()
        return response

    async with serving(answer) as port:
        with pytest.raises(EgressRefused) as refused:
            await fetch(door(port), Outgoing(url=f"http://127.0.0.1:{port}/", most_seconds=0.2))
        over.set()

    assert refused.value.code == "egress_timeout"


@pytest.mark.anyio
@pytest.mark.parametrize("header", ["Host", "Transfer-Encoding", "connection", "Content-Length"])
async def test_a_tool_does_not_set_the_headers_that_say_where_a_request_ends(header: str) -> None:
    with pytest.raises(EgressRefused) as refused:
        await fetch(door(), Outgoing(url="http://example.com/", headers={header: "1"}))
    assert refused.value.code == "egress_header"


@pytest.mark.anyio
async def test_a_line_break_in_a_header_is_refused() -> None:
    async def answer(request: web.Request) -> web.Response:
        raise AssertionError("nobody may come here")

    async with serving(answer) as port:
        request = Outgoing(url=f"http://127.0.0.1:{port}/", headers={"X": "a\r\nHost: evil"})
        with pytest.raises(EgressRefused):
            await fetch(door(port), request)


@pytest.mark.anyio
async def test_one_look_up_serves_one_hop_and_the_connection_goes_to_its_answer() -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="here")

    async with serving(answer) as port:

        async def resolver(host: str, port: int, /) -> Sequence[str]:
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

        rules = EgressRules(allow=(f"turning.example:{port}",))
        egress = Egress(lambda: rules, resolver=resolver)
        found = await fetch(egress, Outgoing(url=f"http://turning.example:{port}/"))

    assert (found.body, asked) == (b"here", ["turning.example"])


@pytest.mark.anyio
async def test_a_port_where_nobody_listens_is_an_error_in_words() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response()

    async with serving(answer) as port:
        pass
    with pytest.raises(EgressRefused) as refused:
        await fetch(door(port), Outgoing(url=f"http://127.0.0.1:{port}/"))
    assert refused.value.code == "egress_failed"
