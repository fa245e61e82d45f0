"""Where Teahouse lives and in which surroundings; light, since even `--help` asks for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from teahouse.core.i18n import Language, resolve

PREFIX = "TEAHOUSE_"
HOME = "TEAHOUSE_HOME"
LANGUAGE = "TEAHOUSE_LANGUAGE"
FILE = "config.toml"


def environment() -> Mapping[str, str]:
    return os.environ


def home_folder(flag: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder that holds all that is ours: what was asked for, else `~/.teahouse`."""
    chosen = flag or Path(environ.get(HOME) or "~/.teahouse")
    return chosen.expanduser().absolute()


def language(home: Path, environ: Mapping[str, str]) -> Language:
    """Environment before setting before system. A broken file is no reason to fall silent."""
    return resolve(environ.get(LANGUAGE), _written(home / FILE), system_language(environ))


def system_language(environ: Mapping[str, str]) -> str | None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return environ[name]
    return None


def _written(file: Path) -> str | None:
    if not file.is_file():
        return None
    import tomllib

    try:
        found = tomllib.loads(file.read_text(encoding="utf-8")).get("language")
    except (OSError, ValueError):  # whoever loads the settings in full says what is wrong
        return None
    return found if isinstance(found, str) else None


class Surroundings(NamedTuple):
    """What a terminal program wants to know of the world around it."""

    color: bool
    display: bool
    editor: str | None


def surroundings(environ: Mapping[str, str]) -> Surroundings:
    windows = sys.platform in {"darwin", "win32"}
    return Surroundings(
        color=not environ.get("NO_COLOR"),
        display=windows or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")),
        editor=environ.get("VISUAL") or environ.get("EDITOR") or None,
    )
