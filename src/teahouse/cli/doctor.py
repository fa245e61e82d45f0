"""`teahouse doctor`: looks at everything the house stands on, and says what to do about it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import typer
from msgspec import Struct

from teahouse.cli.call import connection, run, terminal_of
from teahouse.cli.client import Refused, running
from teahouse.cli.options import Home, Json
from teahouse.cli.terminal import Terminal
from teahouse.core.errors import TeahouseError

if TYPE_CHECKING:
    from teahouse.tools.sandbox.probe import State

LITTLE_ROOM, NO_ROOM = 1_000, 100  # megabytes

Status: TypeAlias = Literal["ok", "warning", "failed"]
_MARKS: dict[Status, str] = {"ok": "✓", "warning": "!", "failed": "✗"}


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    status: Status
    message: str
    hint: str | None = None


class Doctor:
    def __init__(self, terminal: Terminal, home: Path) -> None:
        self._terminal, self._home = terminal, home
        self._host = terminal.host

    def checks(self) -> tuple[tuple[str, Callable[[], Finding]], ...]:
        return (
            ("settings", self._settings),
            ("home", self._folder),
            ("disk", self._disk),
            ("store", self._store),
            ("port", self._port),
            ("page", self._page),
            ("model", self._model),
            ("answer", self._answer),
            ("sandbox", self._sandbox),
            ("locale", self._locale),
        )

    def look(self, name: str, check: Callable[[], Finding]) -> Finding:
        """What a check meets on its way is a finding too."""
        try:
            return check()
        except TeahouseError as error:
            problem = error.problem(self._terminal.language)
            return Finding(name=name, status="failed", message=problem.message, hint=problem.hint)
        except Refused as refusal:
            return Finding(name=name, status="failed", message=refusal.message, hint=refusal.hint)

    def _settings(self) -> Finding:
        self._host.address(self._home)
        file = self._host.settings_file(self._home)
        return self._say("settings", "ok", "read" if file.exists() else "none", file=file)

    def _folder(self) -> Finding:
        existing = _existing(self._home)
        if not os.access(existing, os.W_OK | os.X_OK):
            return self._say("home", "failed", "closed", home=existing)
        return self._say("home", "ok", "open", home=self._home)

    def _disk(self) -> Finding:
        free = shutil.disk_usage(_existing(self._home)).free // 1_000_000
        if free < NO_ROOM:
            return self._say("disk", "failed", "full", free=free, home=self._home)
        if free < LITTLE_ROOM:
            return self._say("disk", "warning", "little", free=free, home=self._home)
        return self._say("disk", "ok", "free", free=free)

    def _store(self) -> Finding:
        problem = self._host.check_store(self._home)
        if problem:
            return self._say("store", "failed", "broken", detail=problem, home=self._home)
        return self._say("store", "ok", "whole")

    def _port(self) -> Finding:
        server = run(running(self._home))
        if server is not None:
            return self._say("port", "ok", "serving", url=server.url)
        host, port = self._host.address(self._home)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                detail = error.strerror or error
                return self._say("port", "failed", "taken", host=host, port=port, detail=detail)
        return self._say("port", "ok", "free", host=host, port=port)

    def _page(self) -> Finding:
        if not self._host.page_is_built():
            return self._say("page", "failed", "missing")
        return self._say("page", "ok", "built")

    def _model(self) -> Finding:
        from teahouse.llm.local import model_file

        local = self._host.local_model(self._home)
        if not local.enabled:
            return self._say("model", "ok", "off")
        model = model_file.model_file(local.name)
        file = model_file.present(model, local.folder)
        if file is None:
            return self._say("model", "warning", "absent", name=model.name, folder=local.folder)
        return self._say("model", "ok", "there", name=model.name, file=file)

    def _answer(self) -> Finding:
        trial = run(self._trial())
        if trial is None:
            return self._say("answer", "failed", "no_model")
        model, problem = trial
        if problem is not None:
            return self._say("answer", "failed", "silent", model=model, detail=problem)
        return self._say("answer", "ok", "answered", model=model)

    async def _trial(self) -> tuple[str, str | None] | None:
        """Ask the usual model, else the first that is ready; None when there is none at all."""
        async with connection(self._terminal, self._home) as client:
            settings = await client.get("/api/settings")
            ready = [one["id"] for one in await client.items("/api/models") if one["ready"]]
            model = settings["default_model"] or next(iter(ready), None)
            if model is None:
                return None
            trial = await client.post("/api/models/test", {"model": model})
            return model, trial["problem"] if not trial["ok"] else None

    def _sandbox(self) -> Finding:
        state = run(self._wall())
        problems = [one.problem(self._terminal.language).message for one in state.reasons]
        reason = "; ".join(problems)
        if state.place is None:
            return self._say("sandbox", "warning", "none", reason=reason)
        if state.place.wall == "landlock":
            return self._say("sandbox", "warning", "weaker", reason=reason)
        return self._say("sandbox", "ok", "works")

    async def _wall(self) -> State:
        from teahouse.tools.sandbox.runner import Sandbox

        return await Sandbox().state()

    def _locale(self) -> Finding:
        encoding = (sys.stdout.encoding or "").lower().replace("-", "")
        if encoding != "utf8":
            return self._say("locale", "warning", "narrow", encoding=sys.stdout.encoding)
        return self._say("locale", "ok", "wide", language=self._terminal.language)

    def _say(self, name: str, status: Status, what: str, /, **values: object) -> Finding:
        key = f"cli.doctor.{name}.{what}"
        hint = None if status == "ok" else self._terminal.t(f"{key}.hint", **values)
        message = self._terminal.t(key, **values)
        return Finding(name=name, status=status, message=message, hint=hint)


def doctor(ctx: typer.Context, home: Home = None, as_json: Json = False) -> None:
    terminal = terminal_of(ctx)
    patient = Doctor(terminal, terminal.host.home(home))
    findings: list[Finding] = []
    for name, check in patient.checks():
        found = patient.look(name, check)
        findings.append(found)
        if not as_json:
            terminal.say(f"{_MARKS[found.status]} {found.message}")
            if found.hint:
                terminal.say(f"  → {found.hint}")
    failed = any(found.status == "failed" for found in findings)
    if as_json:
        terminal.give({"ok": not failed, "checks": findings})
    if failed:
        raise typer.Exit(1)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(one for one in (folder, *folder.parents) if one.exists())
