"""Bodies, read strictly: what two JSON readers could understand differently is refused."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from functools import cache
from typing import Any, TypeVar

import litestar
import msgspec
from litestar.datastructures import State

from teahouse.chat.ports import ApiKey, Identity
from teahouse.core.errors import Invalid
from teahouse.core.messages import Person
from teahouse.server.credentials import Credential
from teahouse.server.ports import House

T = TypeVar("T")

READ_S = 10.0
_UNKNOWN = re.compile(r"unknown field `(.*)`")
_MISSING = re.compile(r"missing required field `(.*)`")


class Request(litestar.Request[Identity, Credential, State]):
    """A request that knows its house, its person and their key."""

    @property
    def house(self) -> House:
        return self.app.state.house

    @property
    def person(self) -> Person:
        """Who asks; only on routes that need a login."""
        return self.user.person

    @property
    def key(self) -> ApiKey | None:
        """What a program of theirs asks with."""
        return self.user.key

    @property
    def peer(self) -> str:
        """The address at the other end of the connection, never what a header says."""
        return self.client.host if self.client else ""

    async def stream(self) -> AsyncGenerator[bytes]:
        """The body in pieces; each must come in time."""
        pieces = super().stream()
        while True:
            try:
                async with asyncio.timeout(READ_S):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Invalid("body_too_slow", seconds=f"{READ_S:g}") from None
            yield piece

    async def body(self) -> bytes:
        try:
            async with asyncio.timeout(READ_S):
                return await super().body()
        except TimeoutError:
            raise Invalid("body_too_slow", seconds=f"{READ_S:g}") from None

    async def json(self) -> Any:
        """The body as the route's form."""
        if self.content_type[0] != "application/json":
            raise Invalid("media_type", found=self.content_type[0] or "-")
        field = self.route_handler.parsed_data_field
        assert field is not None  # the framework asks for a body only where there is one
        return strict(await self.body(), field.annotation)


def strict(body: bytes, kind: type[T]) -> T:
    """Decode JSON as `kind`. Raises `Invalid` for broken UTF-8, half surrogate pairs, NaN, a key
    that comes twice, unknown or missing fields, and nesting without end."""
    try:
        value = _decoder(kind).decode(body)
        json.loads(body, object_pairs_hook=_once)
    except msgspec.ValidationError as error:
        raise _wrong_shape(str(error)) from error
    except RecursionError as error:
        raise Invalid("not_json", detail="nested too deeply") from error
    except ValueError as error:
        raise _broken(body, error) from error
    return value


def _wrong_shape(message: str) -> Invalid:
    if found := _UNKNOWN.search(message):
        return Invalid("field_unknown", field=found[1])
    if found := _MISSING.search(message):
        return Invalid("field_missing", field=found[1])
    return Invalid("not_json", detail=message)


def _broken(body: bytes, error: ValueError) -> Invalid:
    if isinstance(error, _Twice):
        return Invalid("key_twice", key=error.args[0])
    try:
        text = body.decode()
    except UnicodeDecodeError as broken:
        return Invalid("not_utf8", position=broken.start)
    try:
        half = _has_half_pair(json.loads(text))
    except (ValueError, RecursionError):
        half = False
    return Invalid("text_surrogates") if half else Invalid("not_json", detail=error)


class _Twice(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _Twice(key)
        seen.add(key)


def _has_half_pair(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
