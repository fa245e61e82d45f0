"""`GET /metrics`, for a monitor that has a key: a cookie does not do, and nobody's key but a
manager's, for the figures are those of the whole house."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teahouse.chat.scopes import may_use_metrics, refused
from teahouse.core.errors import Invalid, NotAllowed
from teahouse.server.credentials import MANAGERS

if TYPE_CHECKING:
    from teahouse.server.gateway.visit import Visit
    from teahouse.server.metrics import Metrics

METRICS: Final = "/metrics"
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


async def show(metrics: Metrics, visit: Visit) -> None:
    """Raises `NotAllowed` for a key that does not reach."""
    key = visit.identity.key
    if key is not None and not may_use_metrics(key.scopes):
        raise refused(key.scopes, "metrics")
    if visit.identity.person.role not in MANAGERS:
        raise NotAllowed("managers_only")
    if visit.incoming.method != "GET":
        raise Invalid("wrong_method", allow="GET")
    await visit.outgoing.whole(await metrics.exposition(), MEDIA_TYPE)
