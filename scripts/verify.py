"""Runs the checks (`quick`) or all checks and tests (`all`), two at a time, and says what failed.

Each step writes its own log below `.verify/`. Of failures the end is printed; the summaries of
pytest come last, so that whoever reads the end of the output knows how it went.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".verify"
BIN = Path(sys.executable).parent
CORES = 2
LONGEST_S = 25 * 60
SHOWN_LINES, SHOWN_COLUMNS = 60, 240


@dataclass(frozen=True)
class Step:
    """One command. It starts when the steps in `after` are through and `cores` are free."""

    name: str
    command: str
    cores: int = 1
    after: tuple[str, ...] = ()
    quick: bool = False


# By file, as what a file sets up for all its tests may be dear; xdist_group does nothing while
# pytest-xdist (3.8) renames tests in a way that pytest 9.2 does not look at.
PYTEST = "pytest -n 2 --dist loadfile --durations 15"
STEPS = (
    Step("system", "scripts/system.sh", cores=0),
    Step("model", "teahouse models pull", cores=0),
    Step("node", "make -s web/node_modules/.package-lock.json", cores=0, quick=True),
    Step("format", "ruff format --check --diff", quick=True),
    Step("lint", "ruff check", quick=True),
    Step("types", "basedpyright", quick=True),
    Step("layers", "lint-imports", quick=True),
    Step("reference", "python scripts/reference.py --check", quick=True),
    Step("page-check", "npm --prefix web run --silent check", after=("node",), quick=True),
    Step("page-test", "npm --prefix web run --silent test", after=("node",)),
    Step("page", "make -s web", after=("node",)),
    Step("judges", "make -s judges", cores=0, after=("node",)),
    Step("mcp", "make -s mcp", cores=0, after=("judges",)),
    Step("docs", "mkdocs build --strict"),
    Step("powerloss", "python -m teahouse.testing.powerloss --states 1500"),
    Step("crash", "python -m teahouse.testing.crash --rounds 20"),
    Step(
        "pytest",
        f"{PYTEST} -m not(browser)",
        cores=CORES,
        after=("system", "model", "page", "judges", "mcp"),
    ),
    # Playwright keeps an event loop in the worker's thread, where async tests want their own.
    Step("browser", f"{PYTEST} -m browser", cores=CORES, after=("system", "model", "page")),
)


@dataclass(frozen=True)
class Outcome:
    step: Step
    code: int  # 0 passed, -1 not run, else the command's
    seconds: float

    @property
    def log(self) -> Path:
        return LOGS / f"{self.step.name}.log"


def run(step: Step) -> Outcome:
    """Run one step in its own process group, so that nothing of it is left behind."""
    started = time.monotonic()
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {
        "PATH": path,
        "NO_COLOR": "1",
        "TERM": "dumb",
        "NO_MKDOCS_2_WARNING": "1",
    }
    with (LOGS / f"{step.name}.log").open("wb") as log:
        process = subprocess.Popen(
            step.command.split(),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            log.write(f"\nStopped: not done after {LONGEST_S} s.\n".encode())
            code = 124
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
    return Outcome(step, code, time.monotonic() - started)


def run_all(steps: tuple[Step, ...]) -> list[Outcome]:
    """Run the steps in order, as many at a time as there are cores."""
    waiting, outcomes = list(steps), dict[str, Outcome]()
    running: dict[Future[Outcome], Step] = {}
    names = {step.name for step in steps}
    with ThreadPoolExecutor(len(steps)) as pool:
        while waiting or running:
            free = CORES - sum(step.cores for step in running.values())
            for step in list(waiting):
                before = [name for name in step.after if name in names]
                if any(name in outcomes and outcomes[name].code for name in before):
                    waiting.remove(step)
                    outcomes[step.name] = tell(Outcome(step, -1, 0))
                elif all(name in outcomes for name in before):
                    if step.cores <= free:
                        waiting.remove(step)
                        running[pool.submit(run, step)] = step
                    free -= step.cores  # also of one that waits: small ones must not starve it
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                step = running.pop(future)
                outcomes[step.name] = tell(future.result())
    return [outcomes[step.name] for step in steps]


def tell(outcome: Outcome) -> Outcome:
    word = {0: "ok", -1: "not run"}.get(outcome.code, "FAILED")
    print(f"{word:8} {outcome.step.name:12} {outcome.seconds:6.1f} s", flush=True)
    if outcome.code > 0:
        lines = outcome.log.read_text(errors="replace").splitlines()
        print(*(f"    {line[:SHOWN_COLUMNS]}" for line in lines[-SHOWN_LINES:]), sep="\n")
        print(f"    (whole log: {outcome.log.relative_to(ROOT)})", flush=True)
    return outcome


def main() -> int:
    steps = tuple(step for step in STEPS if step.quick or sys.argv[1:] != ["quick"])
    LOGS.mkdir(exist_ok=True)
    outcomes = run_all(steps)
    failed = [outcome.step.name for outcome in outcomes if outcome.code]
    print(f"\nFailed: {', '.join(failed)}" if failed else "\nAll passed.")
    tests = [outcome for outcome in outcomes if outcome.step.command.startswith(PYTEST)]
    summaries = [line for outcome in tests if (line := last_line(outcome))]
    print(*summaries, sep="\n")
    if summaries:
        print(total(summaries))
    return 1 if failed else 0


def last_line(outcome: Outcome) -> str:
    lines = outcome.log.read_text(errors="replace").splitlines() if outcome.code >= 0 else []
    return lines[-1] if lines else ""


def total(summaries: list[str]) -> str:
    """What all runs of pytest come to, in the form of one: `12 passed, 0 failed, 1 skipped`."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for summary in summaries:
        for count, word in re.findall(r"(\d+) (passed|failed|error|skipped)", summary):
            counts["failed" if word == "error" else word] += int(count)
    return ", ".join(f"{count} {word}" for word, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())
