"""The docs cannot lie: what they name exists, and what exists is named."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from teahouse.config import keys
from teahouse.core.codec import KNOWN_EVENTS
from teahouse.server.schema import openapi_schema

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GUIDES = [
    *(path for path in sorted(DOCS.glob("*.md"))),
    *(ROOT / name for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "AGENTS.md")),
]
# A variable of the environment that is no setting: it says where the settings are.
NO_SETTING = {"TEAHOUSE_HOME"}


def reference(name: str) -> str:
    return (DOCS / "reference" / name).read_text(encoding="utf-8")


def in_guides(pattern: str) -> Iterator[tuple[str, re.Match[str]]]:
    for path in GUIDES:
        for found in re.finditer(pattern, path.read_text(encoding="utf-8")):
            yield path.relative_to(ROOT).as_posix(), found


def test_the_reference_is_what_the_code_says() -> None:
    checked = subprocess.run(
        [sys.executable, "scripts/reference.py", "--check"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_route_setting_and_event_is_in_the_reference() -> None:
    routes = [
        f"## {method.upper()} {path}\n"
        for path, methods in openapi_schema()["paths"].items()
        for method in methods
    ]
    settings = [f"`{keys.dotted(key)}`" for key, _, _ in keys.reference()]

    assert len(routes) > 30
    assert not [route for route in routes if route not in reference("api.md")]
    assert not [setting for setting in settings if setting not in reference("settings.md")]
    assert not [event for event in KNOWN_EVENTS if f"| `{event}` |" not in reference("events.md")]


def test_guides_name_only_commands_that_exist() -> None:
    known = reference("cli.md")
    unknown = [
        f"{page}: {match[0]}"
        for page, match in in_guides(r"(?<![\w/.-])teahouse ((?:[a-z]+ ?){1,2})")
        if not any(
            f"## teahouse {words}\n" in known
            for words in (" ".join(match[1].split()), match[1].split()[0])
        )
        and is_command(match)
    ]

    assert not unknown


def is_command(match: re.Match[str]) -> bool:
    """Commands stand in code: after `$ `, a backquote, or at the start of a line of code."""
    before = match.string[: match.start()]
    return before.endswith(("`", "$ ", "$(", "' "))


def test_guides_name_only_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {match[1] for _, match in in_guides(r"(?:`|\$ )make ([a-z]+)")}

    assert named
    assert named <= targets


def test_guides_name_only_routes_that_exist() -> None:
    routes = [
        re.compile("/".join("[^/]+" if part.startswith("{") else part for part in path.split("/")))
        for path in openapi_schema()["paths"]
    ] + [re.compile("/api/openapi.json")]
    unknown = [
        f"{page}: {match[0]}"
        for page, match in in_guides(r"(?<![\w./])/(?:api|healthz)[\w/…-]*")
        if not any(route.fullmatch(match[0]) for route in routes)
    ]

    assert not unknown


def test_guides_name_only_variables_that_are_settings() -> None:
    unknown: list[str] = []
    for page, match in in_guides(r"TEAHOUSE_[A-Z_]*[A-Z]"):
        key = tuple(match[0].removeprefix("TEAHOUSE_").lower().split("__"))
        try:
            keys.kind_of(key)
        except keys.Unknown:
            unknown += [] if match[0] in NO_SETTING else [f"{page}: {match[0]}"]

    assert not unknown


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    broken = [
        link
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text("utf-8"))
        if "://" not in link and not (path.parent / link).exists()
    ]

    assert not broken


def test_every_decision_is_in_the_list_of_decisions() -> None:
    listed = (DOCS / "adr" / "index.md").read_text("utf-8") + (ROOT / "mkdocs.yml").read_text()
    decisions = [path.name for path in (DOCS / "adr").glob("0*.md")]

    assert len(decisions) > 5
    assert not [name for name in decisions if listed.count(name) != 2]


def test_agents_read_little() -> None:
    assert len((ROOT / "AGENTS.md").read_text("utf-8").splitlines()) <= 60
