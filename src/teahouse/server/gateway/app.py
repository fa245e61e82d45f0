"""The gateway: programs that know a vendor's interface reach every model and agent of the house.

It stands beside the routes of the page, as plain ASGI: a stream passes through it in as many
pieces as it came in, and each piece is sent once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from teahouse.chat.key_limits import KeyLimits
from teahouse.core.clock import SystemClock
from teahouse.core.errors import Invalid, NotFound, Unauthenticated
from teahouse.core.ids import new_id
from teahouse.server.errors import known_error
from teahouse.server.gate import Receive, Scope, Send
from teahouse.server.gateway.incoming import Gone, Incoming
from teahouse.server.gateway.kept_responses import KeptResponses
from teahouse.server.gateway.metrics import METRICS, show
from teahouse.server.gateway.outgoing import Outgoing
from teahouse.server.gateway.refusals import refusal_for
from teahouse.server.gateway.routes import form_of, is_ours, route_of
from teahouse.server.gateway.visit import Visit

if TYPE_CHECKING:
    from teahouse.chat.ports import Identity
    from teahouse.server.metrics import Metrics
    from teahouse.server.ports import House


class Gateway:
    def __init__(self, house: House, metrics: Metrics | None = None) -> None:
        self._house, self._metrics = house, metrics
        self._open = 0
        if metrics is not None:
            metrics.watch("teahouse_gateway_requests", "Requests at work now.", lambda: self._open)
        self._limits = KeyLimits(SystemClock())
        self._kept = KeptResponses(SystemClock())

    def takes(self, path: str) -> bool:
        return is_ours(path) or path == METRICS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._open += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self._open -= 1

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming, request = Incoming(scope, receive), new_id("q")
        outgoing = Outgoing(send, request)
        with suppress(Gone):
            try:
                identity = await self._identify(incoming)
                async with self._limits.pass_key(identity.key):
                    visit = Visit(
                        self._house,
                        identity,
                        incoming,
                        outgoing,
                        request=request,
                        kept=self._kept,
                    )
                    await self._answer(visit)
            except Gone:
                raise
            except Exception as error:  # the outermost place: each becomes an answer
                known = known_error(error)
                refusal = refusal_for(known, incoming.headers, self._house.language)
                refuse = form_of(incoming.path, incoming.headers)
                await outgoing.refuse(refuse(refusal), refusal, known)

    async def _identify(self, incoming: Incoming) -> Identity:
        identity = await self._house.accounts.by_key(incoming.key())
        if identity is None:
            raise Unauthenticated("key_wrong")
        return identity

    async def _answer(self, visit: Visit) -> None:
        if visit.incoming.path == METRICS and self._metrics is not None:
            await show(self._metrics, visit)
            return
        route = route_of(visit.incoming.path, visit.incoming.method)
        if route is None:
            raise NotFound("no_such_page")
        if visit.incoming.method != route.method:
            raise Invalid("wrong_method", allow=route.method)
        await route.handle(visit)
