"""Settings in force: what the file says, and over it what the environment says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from msgspec import Struct

from teahouse.config.file import SettingsFile
from teahouse.config.home import FILE, HOME, PREFIX
from teahouse.config.keys import (
    Key,
    Unknown,
    children,
    convert,
    dotted,
    is_leaf,
    kind_of,
    named,
    parse,
    wrong,
)
from teahouse.config.tree import ENVIRONMENT_ONLY, Config, Secret
from teahouse.core.errors import SettingsError

SEPARATOR = "__"
Branch: TypeAlias = dict[str, Any]
Style: TypeAlias = Callable[[Key], str]  # how a key is written where it was found


class Reading(Struct, frozen=True, kw_only=True):
    """The settings, the file they come from, and the variable that fixes each locked key."""

    config: Config
    file: SettingsFile
    locked: dict[Key, str]


def load(home: Path, environ: Mapping[str, str], file: Path | None = None) -> Config:
    """`file` where it is not the home's own. Raises `SettingsError` that names the line or the
    variable, and for a `file` that is not there."""
    return read(settings_file(home, file), home, environ).config


def settings_file(home: Path, file: Path | None) -> SettingsFile:
    """The home's own may be missing; one that somebody names may not."""
    if file is not None and not file.is_file():
        raise SettingsError("settings_file_missing", path=file)
    return SettingsFile(file or home / FILE)


def read(file: SettingsFile, home: Path, environ: Mapping[str, str]) -> Reading:
    tree = checked(file.tree, file)
    locked: dict[Key, str] = {}
    for name in sorted(environ):
        if name.startswith(PREFIX) and name != HOME:
            key = _key(name, tree)
            if environ[name]:  # an empty variable is one that is not set
                _set(tree, key, parse(key, environ[name], name))
                locked[key] = name
    return Reading(config=_build(Config, {"home": home, **tree}), file=file, locked=locked)


def checked(tree: Branch, file: SettingsFile, key: Key = ()) -> Branch:
    """The file's tree with every key known and every value converted."""
    found: Branch = {}
    for name, value in tree.items():
        below = (*key, name)
        source = file.source(below)
        kind = kind_or_error(below, source, dotted)
        if below in ENVIRONMENT_ONLY:
            raise SettingsError("setting_environment_only", key=name, variable=variable(below))
        if is_leaf(kind):
            found[name] = convert(below, value, source)
        elif isinstance(value, dict):
            found[name] = checked(cast("Branch", value), file, below)
        else:
            raise wrong(below, value, source)
    return found


def kind_or_error(key: Key, source: str, style: Style) -> Any:
    try:
        return kind_of(key)
    except Unknown as unknown:
        raise _unknown(unknown, source, style) from None


def _unknown(unknown: Unknown, source: str, style: Style) -> SettingsError:
    if unknown.near is None:
        return SettingsError("setting_unknown", key=dotted(unknown.key), source=source)
    near = style(tuple(unknown.near.split(".")))
    return SettingsError(
        "setting_mistyped", key=dotted(unknown.key), source=source, suggestion=near
    )


def variable(key: Key) -> str:
    return PREFIX + SEPARATOR.join(part.upper() for part in key)


def _key(name: str, tree: Branch) -> Key:
    """The key that a variable means. Chosen names are those of the file in any case of letters,
    else in small ones; names of headers stay as they are."""
    key: Key = ()
    place: Branch = tree
    kind: Any = Config
    for part in name.removeprefix(PREFIX).split(SEPARATOR):
        found = part.lower()
        if (each := named(kind)) is not None:
            taken = {known.lower(): known for known in place}
            found = taken.get(found, part if each == Secret else found)
        key = (*key, found)
        kind = kind_or_error(key, name, variable)
        below = place.get(found)
        place = cast("Branch", below) if isinstance(below, dict) else {}
    if children(kind) is not None or (named(kind) is not None and children(named(kind))):
        raise _unknown(Unknown(key, None), name, variable)
    return key


def _set(tree: Branch, key: Key, value: Any) -> None:
    for name in key[:-1]:
        tree = tree.setdefault(name, {})
    tree[key[-1]] = value


def _build(kind: Any, tree: Branch) -> Any:
    """Make the values; all leaves have been checked before."""
    below, each = children(kind), named(kind)
    if each is not None and not is_leaf(each):
        return {name: _build(each, value) for name, value in tree.items()}
    if below is None:
        return tree
    return kind(**{name: _build(below.get(name), value) for name, value in tree.items()})
