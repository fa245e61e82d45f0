"""A definition at work: as a tool of agents, and tried out on the page before it is one."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final

from msgspec import Struct

from teahouse.core.errors import TeahouseError
from teahouse.core.messages import JsonObject, Text
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, ToolContext
from teahouse.tools.egress import Egress, EgressRefused
from teahouse.tools.fetch import Outgoing, fetch
from teahouse.tools.http import answer
from teahouse.tools.http.arguments import checked
from teahouse.tools.http.definition import Definition
from teahouse.tools.http.errors import HttpRefused
from teahouse.tools.http.request import Request, build
from teahouse.tools.http.values import Secrets, masked, opened

_SAFE: Final = frozenset({"GET", "HEAD"})


class Trial(Struct, frozen=True, kw_only=True):
    """`request` is None where the arguments were refused. Secrets stand in it as `~NAME~`."""

    request: Request | None = None
    answer: str | None = None
    error: TeahouseError | None = None


class HttpTool:
    """What it returns was written by others."""

    is_foreign = True

    def __init__(
        self,
        definition: Definition,
        egress: Egress,
        secrets: Secrets,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.definition, self.effect = definition, definition.effect
        self._egress, self._secrets, self._tls = egress, secrets, tls
        self.repeatable = definition.method in _SAFE
        self.spec = ToolSpec(
            name=definition.name,
            description=definition.description,
            parameters=definition.schema,
        )

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        found = checked(self.spec.parameters, arguments)
        return (Text(text=await self._asked(found)),)

    async def try_out(self, arguments: JsonObject) -> Trial:
        """Sends the request for good; errors are part of the trial."""
        request: Request | None = None
        try:
            found = checked(self.spec.parameters, arguments)
            request = build(self.definition, found, masked(self.definition.secrets))
            return Trial(request=request, answer=await self._asked(found))
        except (HttpRefused, EgressRefused) as error:
            return Trial(request=request, error=error)

    async def _asked(self, arguments: JsonObject) -> str:
        definition = self.definition
        secrets = await opened(definition.secrets, self._secrets)
        redact = answer.Redactor(secrets)
        request = build(definition, arguments, secrets)
        outgoing = Outgoing(
            url=request.url,
            method=request.method,
            headers=request.headers,
            body=request.body,
            most_bytes=definition.most_kb << 10,
            most_seconds=definition.timeout_s,
        )
        try:
            fetched = await fetch(self._egress, outgoing, tls=self._tls)
        except EgressRefused as error:
            shown = build(definition, arguments, masked(definition.secrets)).url
            raise _without_secrets(error, shown, redact) from None
        return await asyncio.to_thread(answer.told, definition, fetched, redact)


def _without_secrets(error: EgressRefused, url: str, redact: answer.Redactor) -> EgressRefused:
    """A URL in an error is cut, and half a secret cannot be found: ours is told in its stead."""
    values = {name: redact.brief(value) for name, value in error.values.items()}
    return EgressRefused(
        error.code, **{**values, **({"url": url[:200]} if "url" in values else {})}
    )
