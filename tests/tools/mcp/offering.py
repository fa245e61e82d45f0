"""Our server, with agents of paper, on a port of its own until standard input ends."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Sequence

import uvicorn

from teahouse.core.errors import NotFound
from teahouse.tools.mcp.offer import Card, Reply, over_http, over_stdio, server


class PaperAgents:
    """Know one agent, who says again what it hears."""

    def __init__(self) -> None:
        self.stopped = asyncio.Event()

    async def cards(self) -> Sequence[Card]:
        return [Card(name="Lu Yu", description="knows tea"), Card(name="Quiet", description="")]

    async def ask(self, agent: str, text: str, conversation: str | None, /) -> Reply:
        if agent != "Lu Yu":
            raise NotFound("agent_unknown", agent=agent)
        if text == "wait":
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.set()
        return Reply(text=f"You said: {text}", conversation=conversation or "c_new")


async def listening(agents: PaperAgents) -> tuple[uvicorn.Server, str, asyncio.Task[None]]:
    """Until its task is cancelled."""
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    started = asyncio.Event()

    async def serve() -> None:
        async with over_http(server(lambda _: agents), ["127.0.0.1:*", "localhost:*"]) as app:
            web = uvicorn.Server(
                uvicorn.Config(app, interface="asgi3", log_level="error", lifespan="off")
            )
            webs.append(web)
            started.set()
            await web.serve(sockets=[free])

    webs: list[uvicorn.Server] = []
    task = asyncio.create_task(serve())
    await started.wait()
    return webs[0], f"http://127.0.0.1:{port}/mcp", task


async def main() -> None:
    if "--stdio" in sys.argv:
        agents = PaperAgents()
        await over_stdio(server(lambda _: agents))
        return
    web, url, task = await listening(PaperAgents())
    print(url, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    web.should_exit = True
    await task


if __name__ == "__main__":
    asyncio.run(main())
