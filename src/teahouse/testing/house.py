"""A real Teahouse in a process and a home of its own, for tests that kill or measure it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import aiohttp

PASSWORD = "correct horse battery"  # noqa: S105  of houses that live for one test
START_S = 60.0
STOP_S = 20.0
LOOK_EVERY_S = 0.01


class House:
    """`start` and `kill` may alternate: the home and the port stay. Leaving the block ends both.

    `api` speaks to it as its owner; a server that is down raises `aiohttp.ClientError`.
    """

    def __init__(
        self, folder: Path, model_url: str, *, settings: Mapping[str, str] | None = None
    ) -> None:
        self.home = folder / "home"
        self.log = folder / "server.log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {
            "HOME": str(folder),
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "TEAHOUSE_OWNER_PASSWORD": PASSWORD,
            "TEAHOUSE_PROVIDERS__FAKE__WIRE": "openai_chat",
            "TEAHOUSE_PROVIDERS__FAKE__BASE_URL": model_url,
            "TEAHOUSE_DEFAULT_MODEL": "fake/fake",
            "TEAHOUSE_LOCAL_MODEL__ENABLED": "false",
            **(settings or {}),
        }
        self._process: asyncio.subprocess.Process | None = None
        self._key = ""

    async def __aenter__(self) -> House:
        self.session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=30), connector=aiohttp.TCPConnector(limit=0)
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
        await self.session.close()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"}

    async def spawn(self) -> None:
        """Start the process and do not wait."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "teahouse", "serve"),
                *("--port", str(self.port), "--home", str(self.home)),
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def healthy(self) -> None:
        """Wait for the first 200; raises `RuntimeError` with the log when the process ends."""
        assert self._process is not None
        async with asyncio.timeout(START_S):
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with self.session.get(f"{self.url}/healthz") as answer:
                        if answer.status == 200:
                            return
                if self._process.returncode is not None:
                    tail = self.log.read_text(encoding="utf-8", errors="replace")[-4_000:]
                    raise RuntimeError(f"The server ended by itself:\n{tail}")
                await asyncio.sleep(LOOK_EVERY_S)

    async def start(self) -> None:
        await self.spawn()
        await self.healthy()

    async def log_in(self) -> None:
        """Make a key for `api`; the home remembers it over restarts."""
        async with self.session.post(f"{self.url}/api/login", json={"password": PASSWORD}) as login:
            login.raise_for_status()
            cookie = login.cookies["teahouse_session"].value
        async with self.session.post(
            f"{self.url}/api/keys",
            json={"name": "test"},
            headers={"Origin": self.url, "Cookie": f"teahouse_session={cookie}"},
        ) as made:
            made.raise_for_status()
            self._key = (await made.json())["key"]
        self.session.cookie_jar.clear()

    async def kill(self) -> None:
        """SIGKILL to the server and all its children."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """As a person would: SIGTERM, and SIGKILL for who does not listen."""
        try:
            async with asyncio.timeout(STOP_S):
                await self._end(signal.SIGTERM)
        except TimeoutError:
            await self._end(signal.SIGKILL)

    async def _end(self, how: signal.Signals) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, how)
        await self._process.wait()

    async def api(self, method: str, path: str, body: object = None) -> Any:
        """Call the REST API; raises `aiohttp.ClientResponseError` for what is no success."""
        async with self.session.request(
            method, f"{self.url}{path}", json=body, headers=self.headers
        ) as answer:
            answer.raise_for_status()
            return await answer.json() if answer.status != 204 else None

    def socket(self) -> Any:
        """Open the WebSocket: `async with house.socket() as socket`."""
        return self.session.ws_connect(f"{self.url}/ws", headers=self.headers, max_msg_size=0)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
