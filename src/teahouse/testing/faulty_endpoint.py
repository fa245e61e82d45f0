"""A model endpoint on loopback that goes wrong on demand: each of its models is a fault."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from teahouse.llm.errors import StreamCut, Unreachable
from teahouse.testing.answers import Answer, json_answer, text_answer
from teahouse.testing.endpoint import Endpoint, Script
from teahouse.testing.fault_kinds import WireFault
from teahouse.testing.network_faults import CONNECTION, CUTS, SILENT, STATUSES
from teahouse.testing.reply_faults import BODIES, CALLS, EVENTS


def _made() -> Iterator[WireFault]:
    yield WireFault(name="refused", about="nobody listens", ends=(Unreachable,), at="closed")
    ends = (Unreachable, StreamCut)
    yield WireFault(name="tls_to_plain", about="TLS to a plain port", ends=ends, at="tls")
    for group in (CONNECTION, CUTS, SILENT, STATUSES, BODIES, EVENTS, CALLS):
        for name, (about, ends, answer) in group.items():
            silent = group is SILENT
            yield WireFault(name=name, about=about, ends=ends, answer=answer, silent=silent)


WIRE_FAULTS: Final[Mapping[str, WireFault]] = {fault.name: fault for fault in _made()}
SOUND: Final = text_answer(["a sound ", "reply"])


class FaultyEndpoint(Endpoint):
    """An endpoint whose models are named after faults: whoever asks for `stall_mid_stream` gets
    that. `plans` say for other names what their requests meet, one after the other; None, and
    whatever comes after, is the `sound` reply to the request's body.
    """

    def __init__(self, *, sound: Script = lambda _: SOUND, port: int = 0) -> None:
        rows = [{"id": name, "object": "model"} for name in WIRE_FAULTS]
        models = json_answer({"object": "list", "data": rows})
        super().__init__(script=self._spoilt, models=models, port=port)
        self.plans: dict[str, deque[WireFault | None]] = {}
        self._sound = sound

    async def __aenter__(self) -> FaultyEndpoint:
        await super().__aenter__()
        return self

    def url_for(self, fault: WireFault, nobody: str) -> str:
        """The base URL under which this fault is met; `nobody` is one that refuses."""
        urls = {"tls": self.base_url.replace("http:", "https:"), "closed": nobody}
        return urls.get(fault.at, self.base_url)

    def _spoilt(self, body: dict[str, Any]) -> Answer:
        model = str(body.get("model"))
        plan = self.plans.get(model)
        fault = WIRE_FAULTS.get(model) if plan is None else plan.popleft() if plan else None
        return self._sound(body) if fault is None else fault.answer


@contextmanager
def nobody_listens() -> Generator[str]:
    """A base URL on loopback that refuses connections for as long as the block lasts."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
