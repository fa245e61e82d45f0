"""Where a key leads in the tree of settings, and what may stand there."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct

from teahouse.config.tree import Config, Secret, SecretRef
from teahouse.core import i18n
from teahouse.core.errors import SettingsError
from teahouse.llm.vendors import VENDORS

Key: TypeAlias = tuple[str, ...]

NOT_SETTINGS = frozenset({"home"})
PROVIDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
PLAIN_HEADERS = frozenset({"accept", "http-referer", "referer", "user-agent", "x-title"})
EMBEDDED = "local"  # `llm.local.provider.NAME`, which takes too long to load here
NEAR = 0.6
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
DEEPEST = 8  # levels of tables and lists within one value


class Unknown(Exception):
    """No setting has this key; `near` is one that may have been meant."""

    def __init__(self, key: Key, near: str | None) -> None:
        super().__init__(dotted(key))
        self.key, self.near = key, near


def dotted(key: Key) -> str:
    return ".".join(key)


def children(kind: Any) -> dict[str, Any] | None:
    """The settings right below a branch; None for a leaf and for a branch with names of its own."""
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return None
    skip = NOT_SETTINGS if kind is Config else frozenset[str]()
    return {f.name: f.type for f in msgspec.structs.fields(kind) if f.name not in skip}


def named(kind: Any) -> Any | None:
    """What stands below each name of a branch whose names people choose themselves."""
    return get_args(kind)[1] if get_origin(kind) is dict else None


def is_leaf(kind: Any) -> bool:
    return children(kind) is None and named(kind) is None


def kind_of(key: Key) -> Any:
    """The type at `key`; raises `Unknown`."""
    kind: Any = Config
    for depth, name in enumerate(key):
        below, each = children(kind), named(kind)
        if below is not None and name in below:
            kind = below[name]
        elif each is not None and name and (is_leaf(each) or PROVIDER_NAME.fullmatch(name)):
            kind = each
        else:
            raise Unknown(key, nearest(key, depth))
    return kind


def nearest(key: Key, depth: int) -> str | None:
    """The known key that is most like this one, which went wrong at `depth`."""
    siblings = children(kind_of(key[:depth])) or {}
    known = [dotted((*key[:depth], name)) for name in siblings] + [dotted(k) for k in leaves()]
    found = difflib.get_close_matches(dotted(key).lower(), known, n=1, cutoff=NEAR)
    if found:
        return found[0]
    return next((each for each in known if each.rpartition(".")[2] == key[-1].lower()), None)


def leaves(kind: Any = Config, key: Key = ()) -> Iterator[Key]:
    """Every setting with a fixed key; below chosen names (providers) there are none."""
    for name, below in (children(kind) or {}).items():
        if children(below) is not None:
            yield from leaves(below, (*key, name))
        else:
            yield (*key, name)


def reference() -> Iterator[tuple[Key, Any, Any]]:
    """Every setting with its type and its default, `NAME` standing for chosen names."""
    yield from _reference(Config, ())


def _reference(kind: Any, key: Key) -> Iterator[tuple[Key, Any, Any]]:
    for found in msgspec.structs.fields(kind):
        below, each = (*key, found.name), named(found.type)
        if kind is Config and found.name in NOT_SETTINGS:
            continue
        if children(found.type) is not None:
            yield from _reference(found.type, below)
        elif children(each) is not None:
            yield from _reference(each, (*below, "NAME"))
        else:
            made = found.default_factory
            yield below, found.type, found.default if made is msgspec.NODEFAULT else made()


def is_secret(key: Key) -> bool:
    """Whether a value here is sealed and masked. Of headers only harmless ones are shown."""
    kind = kind_of(key)
    if kind in (Secret | None, dict[str, Secret]) or key == ("owner_password",):
        return True
    if key[2:3] == ("api_keys",):
        return True
    return kind == Secret and key[-1].lower() not in PLAIN_HEADERS


def convert(key: Key, value: Any, source: str) -> Any:
    """Check a leaf's value as TOML or JSON gave it; raises `SettingsError`."""
    return _convert(key, value, source, strict=True)


def parse(key: Key, text: str, source: str) -> Any:
    """Read a leaf's value from text, as environment and command line have it."""
    kind = kind_of(key)
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    value: Any = text
    if kind is Any:
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
    elif get_origin(kind) in {tuple, dict}:
        value = parse_many(key, text, source)
    return _convert(key, value, source, strict=False)


def parse_many(key: Key, text: str, source: str) -> Any:
    """A table or a list, from JSON; a list also from what stands between commas."""
    if text.lstrip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise wrong(key, text, source) from error
    return [item.strip() for item in text.split(",") if item.strip()]


def _convert(key: Key, value: Any, source: str, *, strict: bool) -> Any:
    if key == ("language",) and isinstance(value, str):
        value = i18n.match(value) or value
    try:
        found = msgspec.convert(value, kind_of(key), strict=strict)
    except msgspec.ValidationError as error:
        raise wrong(key, value, source) from error
    if kind_of(key) is Any and not _fits_toml(found):
        raise wrong(key, "…", source)
    if _is_address(key) and isinstance(found, str):
        _check_address(key, found, source)
    if key[0] == "providers":
        found = _of_provider(key, found, source)
    if not _is_plain(found) or (key == ("server", "host") and not found.strip()):
        raise wrong(key, found, source)  # an empty host means every address to a socket
    return found


def _is_plain(value: Any) -> bool:
    """Whether texts are free of signs that break headers and file names."""
    texts = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
    return not any(isinstance(text, str) and _CONTROL.search(text) for text in texts)


def _of_provider(key: Key, found: Any, source: str) -> Any:
    if key[1] == EMBEDDED:
        raise SettingsError("provider_name_reserved", name=EMBEDDED, source=source)
    if isinstance(found, str) and is_secret(key):
        found = found.strip()  # what is copied and pasted brings the end of its line
    if key[-1] == "vendor" and found not in VENDORS:
        near = difflib.get_close_matches(str(found), list(VENDORS), n=1)
        known = near[0] if near else ", ".join(VENDORS)
        raise SettingsError("provider_vendor", provider=key[1], vendor=found, known=known)
    return found


def _is_address(key: Key) -> bool:
    provider = key[0] == "providers" and key[2:] == ("base_url",)
    server = key[:2] == ("mcp", "servers") and key[3:] == ("url",)
    return provider or server or key == ("telemetry", "otlp_endpoint")


def _check_address(key: Key, found: str, source: str) -> None:
    """What may be a secret in it is not repeated."""
    if re.match(r"([^/]*://)?[^/?#]*@", found):
        raise SettingsError("setting_url_secret", key=dotted(key), source=source)
    if not _is_url(found):
        shown = re.sub(r"([?#]).*", r"\1…", found.rpartition("@")[2], flags=re.DOTALL)
        raise SettingsError("setting_not_url", key=dotted(key), value=shown, source=source)


def _fits_toml(value: Any, depth: int = 0) -> bool:
    """Whether the file can hold it, and be read again: TOML knows no null, and its readers neither
    endless nesting nor endless numbers."""
    match value:
        case dict():
            below: list[Any] = list(cast("dict[str, Any]", value).values())
        case list() | tuple():
            below = list(cast("list[Any]", value))
        case float():
            return math.isfinite(value)
        case bool() | str():
            return True
        case int():
            return -(2**63) <= value < 2**63
        case _:
            return False
    return depth < DEEPEST and all(_fits_toml(each, depth + 1) for each in below)


def _is_url(text: str) -> bool:
    return re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", text) is not None


def wrong(key: Key, value: Any, source: str) -> SettingsError:
    shown = "…" if is_secret(key) else json.dumps(value, ensure_ascii=False, default=str)
    expected = takes(kind_of(key))
    return SettingsError(
        "setting_wrong", key=dotted(key), value=shown[:200], source=source, expected=expected
    )


def takes_text(kind: Any) -> bool:
    return kind is str or (get_origin(kind) in {Union, UnionType} and str in get_args(kind))


def takes(kind: Any) -> str:
    """What may stand at a setting of this type, in signs that need no translation."""
    form = get_origin(kind)
    if form is Annotated:
        inner, meta = get_args(kind)[:2]
        if get_origin(inner) is tuple:
            return "[0.5, 2]"
        least = f"> {meta.gt}" if meta.gt is not None else f"{meta.ge}"
        return f"{least} … {meta.le}"
    if form is Literal:
        return ", ".join(str(choice) for choice in get_args(kind))
    if form is dict:
        return f"{{NAME = {takes(get_args(kind)[1])}}}"
    sign = "{KEY = …}" if children(kind) is not None else _SIGNS.get(form or kind)
    if sign is not None:
        return sign
    options = [takes(each) for each in get_args(kind) if each not in {type(None), SecretRef}]
    return ", ".join(options) or '"…"'


_SIGNS: dict[Any, str] = {
    bool: "true, false",
    int: "0, 1, 2 …",
    float: "0.5, 1, 2 …",
    tuple: '["…", "…"]',
    Any: "…",
}
