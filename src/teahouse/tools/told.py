"""What a model gets to read of a command that ran: how it ended, what it printed, what was cut.

The whole of a long output is kept in the workspace, written by a command behind the same wall: a
path that a command prepared could lead our own hand anywhere.
"""

from __future__ import annotations

from teahouse.core.ids import new_id
from teahouse.tools.sandbox.command import Command, Ending, Limits, Outcome
from teahouse.tools.sandbox.runner import Sandbox

SHOWN = 16_000  # characters of each stream
_KEEP = 'mkdir -p output && cat > "output/$1"'
_ENDED: dict[Ending, str] = {
    "exit": "Exit status {status}.",
    "time": "Stopped: it ran longer than {limits.wall_s:g} seconds.",
    "cpu": "Stopped: it used more than {limits.cpu_s} seconds of processor time.",
    "memory": "Stopped: it used more than {limits.memory:,} bytes of memory.",
    "processes": "Stopped: it ran more than {limits.processes} processes at once.",
    "disk": "Stopped: it filled the disk; the workspace may hold {limits.workspace:,} bytes.",
    "output": "Stopped: it printed more than {limits.output:,} bytes.",
}


async def told(sandbox: Sandbox, command: Command, outcome: Outcome) -> str:
    """The text for the model. Raises `SandboxUnavailable`."""
    ended = _ENDED[outcome.ending].format(status=outcome.status, limits=command.limits)
    streams = {
        "stdout": outcome.stdout.decode("utf-8", "replace"),
        "stderr": outcome.stderr.decode("utf-8", "replace"),
    }
    parts = [ended]
    if outcome.cut or any(len(text) > SHOWN for text in streams.values()):
        parts.append(await _kept(sandbox, command, outcome))
    for name, text in streams.items():
        if text:
            parts.append(f"{name}:\n{_shortened(text)}")
    if len(parts) == 1 and outcome.ending == "exit":
        parts.append("It printed nothing.")
    return "\n".join(parts)


def _shortened(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    half = SHOWN // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out:,} characters are not shown …]\n{text[-half:]}"


async def _kept(sandbox: Sandbox, command: Command, outcome: Outcome) -> str:
    name = f"{new_id('out')}.txt"
    writing = Command(
        argv=("/bin/sh", "-c", _KEEP, "sh", name),
        workspace=command.workspace,
        stdin=outcome.stdout + outcome.stderr,
        limits=Limits(wall_s=10),
    )
    done = await sandbox.run(writing)
    rest = f", without {outcome.cut:,} bytes more that it printed" if outcome.cut else ""
    if done.status != 0:
        return f"The output was long, and could not be kept in the workspace{rest}."
    return f"The output was long; it is kept in output/{name}{rest}."
