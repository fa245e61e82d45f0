"""The paths of Anthropic's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teahouse.server.gateway.anthropic.messages import Messages, count
from teahouse.server.gateway.route import Route, talk
from teahouse.server.gateway.visit import Visit

_messages: Final = Messages()
refuse: Final = _messages.refuse


async def _count(visit: Visit) -> None:
    asked = _messages.read_to_count(await visit.incoming.body())
    visit.allow(asked.model)
    await visit.outgoing.whole(count(asked))


ROUTES: Final[Mapping[str, Route]] = {
    "/v1/messages": talk(_messages),
    "/v1/messages/count_tokens": Route(handle=_count, refuse=refuse),
}
