"""One house with five fake vendors behind it, for a judge: a program that knows only its SDK."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from teahouse.llm.local.model_file import DEFAULT_MODEL, model_file, present
from teahouse.llm.local.process import Address, LocalProcess, State
from teahouse.testing.endpoint import Recorded
from tests.app.test_serve import Guest, running
from tests.judges.upstreams import CALLS, SIGNATURES, TOLD, VENDORS, scene_of, upstream

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PYTHON = ROOT / ".venv/judges/bin/python"
MODULES = ROOT / ".venv/judges-js"
MODELS = Path(os.environ.get("TEAHOUSE_MODELS") or "~/.cache/teahouse/models").expanduser()
LONGEST_S = 240
CLOSED_S = 10
KEYS: dict[str, dict[str, Any]] = {
    "full": {},
    "narrow": {"scopes": ["chat/text"]},
    "rated": {"rate": 1},
    "poor": {"budget": 0.0},
}


class Case(Struct, frozen=True):
    """What a judge tells of the house, what the vendors heard, and what the house logged as its
    own faults."""

    report: dict[str, Any]
    heard: dict[str, list[Recorded]]
    faults: list[str]

    def of(self, scene: str) -> Any:
        """What came of a scene; one that the judge could not play fails here with its words."""
        told = self.report[scene]
        assert not (isinstance(told, dict) and "broke" in told), told["broke"]
        return told

    def kept(self, vendor: str, front: str) -> bool:
        """Whether what a vendor wants back came back with each result that it was told."""
        asked = self.asked(vendor, "tools", f"[{front}]")
        told = [one for one in asked if TOLD in json.dumps(one.body, ensure_ascii=False)]
        assert told
        return all(SIGNATURES[vendor] in json.dumps(one.body) for one in told)

    def asked(self, vendor: str, scene: str, marker: str = "") -> list[Recorded]:
        """The requests that a vendor had for this model; `marker` stands in what was said."""
        return [
            one
            for one in self.heard[vendor]
            if scene_of(one) == scene and marker in json.dumps(one.body, ensure_ascii=False)
        ]


def calls(told: Any) -> list[tuple[str, Any]]:
    """The calls that a judge told of, as names and arguments."""
    return [(call["name"], parsed(call["arguments"])) for call in told["calls"]]


def parsed(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


WISHED = [(name, arguments) for _, name, arguments in CALLS]


def judged(folder: Path, judge: str, **more: str) -> Case:
    """Open the house, let the judge (`clients/JUDGE`) play all its scenes, and close it again.
    `more` are settings of the house."""
    with _faults() as faults:
        report, heard = asyncio.run(_judged(folder, judge, more))
    return Case(report, heard, faults)


@contextmanager
def _faults() -> Iterator[list[str]]:
    found: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: found.append(record.getMessage())
    logging.getLogger().addHandler(handler)
    try:
        yield found
    finally:
        logging.getLogger().removeHandler(handler)


async def _judged(
    folder: Path, judge: str, more: dict[str, str]
) -> tuple[dict[str, Any], dict[str, list[Recorded]]]:
    async with AsyncExitStack() as stack:
        vendors = {name: await stack.enter_async_context(upstream(name)) for name in VENDORS}
        settings = {"TEAHOUSE_DEFAULT_MODEL": "chat/text", **more}
        for name, endpoint in vendors.items():
            settings[f"TEAHOUSE_PROVIDERS__{name.upper()}__WIRE"] = VENDORS[name][0]
            settings[f"TEAHOUSE_PROVIDERS__{name.upper()}__BASE_URL"] = endpoint.base_url
        guest = await stack.enter_async_context(running(folder / "home", **settings))
        given = {"url": guest.opened.url, "keys": await _keys(guest)}
        report = await play(judge, folder, given)
        heard = {name: endpoint.requests for name, endpoint in vendors.items()}
        async with asyncio.timeout(CLOSED_S):  # the judge is gone: nobody may be left hanging
            for one in (one for requests in heard.values() for one in requests):
                if scene_of(one) in {"hang", "silent"}:
                    await one.closed.wait()
        return report, heard


def judged_with_llama(
    folder: Path, judges: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Any]]:
    """What each judge tells of llama.cpp's own server behind a house, which asks it in OpenAI's
    chat dialect as `real/local` and in Anthropic's as `other/local`."""
    return asyncio.run(_judged_with_llama(folder, judges))


async def _judged_with_llama(
    folder: Path, judges: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Any]]:
    async with llama() as address:
        settings: dict[str, str] = {}
        for name, wire in (("REAL", "openai_chat"), ("OTHER", "anthropic")):
            of = f"TEAHOUSE_PROVIDERS__{name}__"
            given = {"WIRE": wire, "BASE_URL": f"{address.url}/v1", "API_KEY": address.key}
            settings |= {of + field: value for field, value in given.items()}
            settings[f"{of}TIMEOUTS__FIRST_EVENT_S"] = str(LONGEST_S)
        async with running(folder / "home", **settings) as guest:
            asked = {"url": guest.opened.url, "keys": await _keys(guest)}
            return {
                judge: await play(judge, folder, asked | {"real": models})
                for judge, models in judges.items()
            }


@asynccontextmanager
async def llama() -> AsyncIterator[Address]:
    path = present(model_file(DEFAULT_MODEL), MODELS)
    assert path, "run `teahouse models pull`, or -m 'not model'"
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Address] = loop.create_future()

    def tell(state: State, address: Address | None, problem: str) -> None:
        if address is not None:
            loop.call_soon_threadsafe(found.set_result, address)

    process = LocalProcess(path, threads=1, context=2048, tell=tell)
    try:
        process.want()
        async with asyncio.timeout(LONGEST_S):
            address = await found
        yield address
    finally:
        await asyncio.to_thread(process.close)


async def _keys(guest: Guest) -> dict[str, str]:
    keys = {"wrong": "th_wrong"}
    for name, limits in KEYS.items():
        status, made = await guest.ask("POST", "/api/keys", {"name": name, **limits})
        assert status == 201, made
        keys[name] = made["key"]
    return keys


async def play(judge: str, folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Run a judge with nothing but what it is given, and read its report."""
    script, said = HERE / "clients" / judge, json.dumps(given)
    if script.suffix == ".mjs":  # from standard input: then packages are found from the folder
        command = [str(ROOT / ".venv/bin/node"), "--input-type=module", "-", said]
    else:
        command = [str(PYTHON), "-W", "ignore", str(script), said]
    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # or it fetches its prices when it is imported
    }
    process = await asyncio.create_subprocess_exec(
        *command,
        env=environment,
        cwd=MODULES if script.suffix == ".mjs" else folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LONGEST_S):
            told, complaints = await process.communicate(script.read_bytes())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, complaints.decode()[-4_000:]
    report: dict[str, Any] = json.loads(told.splitlines()[-1])
    return report
