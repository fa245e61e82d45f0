"""Records what a real model endpoint sends, byte for byte, and plays it back without the endpoint.

    async with Recorder("https://api.example.com/v1", Path("talk.jsonl")) as recorder:
        …  # a provider whose base URL is recorder.base_url, with its real key
    async with Replay(Path("talk.jsonl")) as replay:
        …  # the same with replay.base_url, and any key

Both stand on loopback, so that any client can be recorded. A recording is a file of JSON lines, one
for each exchange, in the form that `teahouse.testing.conformance` judges. It holds no secret: keys
of headers and queries are never written, and struck out wherever else they turn up (`scrub`).
Requests are found again by what they ask: path, model and messages.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast
from urllib.parse import parse_qsl, unquote, urlencode

from msgspec import Struct

from teahouse.testing.answers import Answer, json_answer
from teahouse.testing.case_files import read_cases
from teahouse.testing.conformance import Cut, answer_of
from teahouse.testing.endpoint import Endpoint, Recorded
from teahouse.testing.scrub import Scrubber

if TYPE_CHECKING:
    import aiohttp
    from aiohttp import web

_LONGEST_S = 1800.0
_MOST_BODY = 64 << 20
_KEYS = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"})
_KEYS_IN_QUERY = frozenset({"key", "api_key", "api-key", "apikey", "token", "access_token"})
_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "location")
_NOT_PASSED_ON = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_ENCODED = frozenset({"content-encoding", "accept-encoding"})
_ASKED: Final = ("model", "system", "instructions", "systemInstruction", "system_instruction")
_ASKED_LISTS: Final = ("messages", "input", "contents", "prompt")
_DIALECTS: Final = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic",
    "GenerateContent": "gemini",
    "/api/chat": "ollama",
}


class Asked(Struct, frozen=True):
    """A request without its secrets."""

    method: str
    path: str
    body: dict[str, Any]

    @property
    def digest(self) -> str:
        """The same for requests that ask the same of the same model."""
        talk = {name: self.body[name] for name in (*_ASKED, *_ASKED_LISTS) if name in self.body}
        return hashlib.sha256(_plain([self.path, talk or self.body])).hexdigest()[:24]

    def __str__(self) -> str:
        lists = (self.body[name] for name in _ASKED_LISTS if name in self.body)
        count = sum(len(cast("list[Any]", one)) if isinstance(one, list) else 1 for one in lists)
        return f"{self.method} {self.path}, model {self.body.get('model')}, {count} messages"


def asked(
    method: str, path: str, headers: Mapping[str, str], body: object, scrubber: Scrubber
) -> Asked:
    """What is asked; the keys in it are learnt by `scrubber` first."""
    path, _, query = path.partition("?")
    for name, value in headers.items():
        if name.lower() in _KEYS:
            for secret in _secrets_in(name.lower(), value):
                scrubber.learn(secret)
    pairs = parse_qsl(query, keep_blank_values=True)
    for name, value in pairs:
        if name.lower() in _KEYS_IN_QUERY:
            scrubber.learn(value)
    kept = urlencode([pair for pair in pairs if pair[0].lower() not in _KEYS_IN_QUERY])
    path = unquote(path).removeprefix("/v1") + (f"?{kept}" if kept else "")
    told = json.loads(scrubber.clean(_plain(body)))
    fields = cast("dict[str, Any]", told) if isinstance(told, dict) else {"body": told}
    return Asked(method, scrubber.clean_text(path), fields)


def _secrets_in(name: str, value: str) -> Iterator[str]:
    """What follows `Bearer`, both halves of `Basic`, the values of cookies, or all there is."""
    if name == "cookie":
        yield from (cookie.partition("=")[2] for cookie in value.split(";"))
        return
    scheme, _, rest = value.strip().rpartition(" ")
    yield rest
    if scheme.lower() == "basic":
        with suppress(binascii.Error, UnicodeDecodeError):
            yield from base64.b64decode(rest).decode().split(":", 1)


def _plain(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")


class _Tape:
    """What came of one answer so far, and how it ended: `open` as long as it has not."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.answer = answer
        self.writes: list[bytes] = []
        self.close: Literal["eof", "reset", "open"] = "open"


class Recorder:
    """A proxy before `upstream`, the base URL of a real endpoint. Exchanges are added to `file`
    when they have ended, or when their client has left: a replay is silent from there on. `secrets`
    are struck out besides the keys that requests bear."""

    def __init__(self, upstream: str, file: Path, *, secrets: Iterable[str] = ()) -> None:
        self._upstream, self._file = upstream.rstrip("/"), file
        self._scrubber = Scrubber(secrets)
        self.recorded = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Recorder:
        import aiohttp
        from aiohttp import web

        self._client = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=_LONGEST_S), cookie_jar=aiohttp.DummyCookieJar()
        )
        app = web.Application(client_max_size=_MOST_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
        await self._client.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        import aiohttp

        data = await request.read()
        about = asked(
            request.method, request.raw_path, request.headers, _parsed(data), self._scrubber
        )
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _NOT_PASSED_ON | _ENCODED
        }
        async with self._client.request(
            request.method,
            self._upstream + request.raw_path.removeprefix("/v1"),
            data=data or None,
            headers={"Accept-Encoding": "identity", **headers},
            allow_redirects=False,
        ) as answer:
            tape = _Tape(answer)
            try:
                return await self._pass_on(request, tape)
            except BaseException as error:
                left = isinstance(error, aiohttp.ClientConnectionResetError)  # our client, that is
                if isinstance(error, aiohttp.ClientError) and not left:
                    reset = isinstance(error.__cause__ or error, OSError)
                    tape.close = "reset" if reset else "eof"
                _hang_up(request)
                raise
            finally:
                self._write(about, tape)

    async def _pass_on(self, request: web.Request, tape: _Tape) -> web.StreamResponse:
        from aiohttp import web

        answer = tape.answer
        response = web.StreamResponse(status=answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in _NOT_PASSED_ON | _ENCODED:
                response.headers.add(name, value)
        await response.prepare(request)
        async for data in answer.content.iter_any():
            tape.writes.append(data)
            await response.write(data)
        tape.close = "eof"
        await response.write_eof()
        return response

    def _write(self, about: Asked, tape: _Tape) -> None:
        """Add a line. On the loop, as one that is being cancelled can wait for nothing."""
        answer = tape.answer
        self.recorded += 1
        path = about.path.partition("?")[0]
        line = {
            "id": f"{about.digest}-{self.recorded}",
            "dialect": next((d for end, d in _DIALECTS.items() if path.endswith(end)), None),
            "request": {"method": about.method, "path": about.path, "body": about.body},
            "status": answer.status,
            "headers": {
                name: self._scrubber.clean_text(answer.headers[name])
                for name in _KEPT_HEADERS
                if name in answer.headers
            },
            "writes_b64": [base64.b64encode(w).decode() for w in self._cleaned(tape.writes)],
            "close": tape.close,
            "expect": {},
        }
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _cleaned(self, writes: list[bytes]) -> Iterable[bytes]:
        """Cleaned as a whole and cut again where it was cut: a cut may go through a secret."""
        whole = self._scrubber.clean(b"".join(writes))
        at = 0
        for write in writes:
            yield whole[at : at + len(write)]
            at += len(write)


class Replay(Endpoint):
    """Answers as was recorded, with the cuts that were recorded, byte by byte, or in one piece.

    The same question again gets the answers that were recorded for it in their order, and then the
    last one again. One that was never recorded gets a 404 that says so; `missed` lists them.
    """

    def __init__(self, file: Path, *, cut: Cut = "given", secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self.missed: list[str] = []
        self._file, self._secrets = file, tuple(secrets)
        self._cut: Cut = cut
        self._lines: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        for line in read_cases(file):
            self._lines[Asked(**line["request"]).digest].append(line)

    async def __aenter__(self) -> Replay:
        await super().__aenter__()
        return self

    async def _find(self, recorded: Recorded) -> Answer:
        self.requests.append(recorded)
        about = asked(
            recorded.method,
            recorded.path,
            recorded.headers,
            recorded.body,
            Scrubber(self._secrets),
        )
        lines = self._lines.get(about.digest)
        if not lines:
            self.missed.append(str(about))
            message = f"{self._file.name} holds no recording of {about} ({about.digest})"
            return json_answer({"error": {"message": message, "code": "no_recording"}}, status=404)
        return answer_of(lines.popleft() if len(lines) > 1 else lines[0], self._cut)


def _hang_up(request: web.Request) -> None:
    """The client's connection ends as abruptly as the endpoint's did."""
    if request.transport is not None:
        request.transport.abort()


def _parsed(data: bytes) -> object:
    """As an `Endpoint` reads it."""
    try:
        return json.loads(data or b"{}")
    except ValueError:
        return {"not_json": data.decode("utf-8", "replace")}
