"""Reads what a curl command says, and refuses what would read a file or is unknown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Final
from urllib.parse import quote, quote_plus

from msgspec import Struct, field

from teahouse.core.errors import Invalid

_LONGEST: Final = 64 << 10
_SHORT: Final[Mapping[str, str]] = {
    "X": "request",
    "H": "header",
    "d": "data",
    "u": "user",
    "A": "user-agent",
    "e": "referer",
    "b": "cookie",
    "G": "get",
    "I": "head",
    "m": "max-time",
}
_WITH_VALUE: Final = frozenset(
    {"request", "header", "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json"}
    | {"user", "user-agent", "referer", "cookie", "url", "url-query", "max-time"}
    | {"oauth2-bearer"}
)
_FLAGS: Final = frozenset({"get", "head"})
_IGNORED: Final = frozenset(  # how curl talks to its terminal and its line, none of which is ours
    {"s", "S", "L", "v", "i", "f", "g", "#", "4", "6", "N", "silent", "show-error", "location"}
    | {"verbose", "include", "fail", "compressed", "globoff", "http1.1", "http2", "ipv4", "ipv6"}
    | {"no-buffer", "fail-with-body", "progress-bar", "basic", "tlsv1.2"}
)
_DATA: Final = frozenset(
    {"data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json"}
)


class Said(Struct):
    """What the options said, in their order."""

    url: str = ""
    method: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    data: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    query: list[str] = field(default_factory=list[str])
    user: str | None = None
    flags: set[str] = field(default_factory=set[str])
    seconds: float | None = None


def read_line(line: str) -> Said:
    """Raises `Invalid`."""
    return _said(_words(line))


def _words(line: str) -> list[str]:
    if len(line) > _LONGEST:
        raise Invalid("curl_broken", detail=f"> {_LONGEST >> 10} KB")
    joined = re.sub(r"\\\r?\n", " ", line.strip())
    joined = re.sub(r"(?<!\S)\$'((?:[^'\\]|\\.)*)'", _dollar_quoted, joined, flags=re.DOTALL)
    try:
        words = shlex.split(joined)
    except ValueError as error:
        raise Invalid("curl_broken", detail=error) from error
    words = words[1:] if words[:1] == ["$"] else words
    if not words or words[0].rpartition("/")[2] not in {"curl", "curl.exe"}:
        raise Invalid("curl_broken", detail="curl …")
    if any(re.fullmatch(r"[|&;<>]+|\d?>.*", word) for word in words[1:]):
        raise Invalid("curl_broken", detail="| & ; < >")
    return words[1:]


def _dollar_quoted(found: re.Match[str]) -> str:
    """What bash makes of `$'…'`, in which browsers put texts with line ends and quotes."""
    signs = {"n": "\n", "t": "\t", "r": "\r"}
    told = re.sub(
        r"\\(u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)",
        lambda one: chr(int(one[1][1:], 16)) if len(one[1]) > 1 else signs.get(one[1], one[1]),
        found[1],
        flags=re.DOTALL,
    )
    return shlex.quote(told)


def _said(words: list[str]) -> Said:
    said = Said()
    for option, value in _options(words):
        _take(said, option, value)
    if not said.url:
        raise Invalid("curl_url", value="–")
    return said


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    rest = iter(words)
    for word in rest:
        if word.startswith("--") and len(word) > 2:
            option, sign, value = word[2:].partition("=")
            if option in _WITH_VALUE:
                yield option, value if sign else _next(rest, word)
            else:
                yield option, ""
        elif word.startswith("-") and len(word) > 1 and word != "--":
            yield from _short_options(word[1:], rest)
        elif word != "--":
            yield "url", word


def _short_options(letters: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    for at, letter in enumerate(letters):
        option = _SHORT.get(letter, letter)
        if option in _WITH_VALUE:
            yield option, letters[at + 1 :] or _next(rest, f"-{letter}")
            return
        yield option, ""


def _next(rest: Iterator[str], option: str) -> str:
    value = next(rest, None)
    if value is None:
        raise Invalid("curl_broken", detail=option[:40])
    return value


def _take(said: Said, option: str, value: str) -> None:
    if option in _DATA:
        if _reads_a_file(option, value):
            raise Invalid("curl_file", option=f"--{option}")
        said.data.append((option, value))
    elif option in _TAKERS:
        _TAKERS[option](said, value)
    elif option in _FLAGS:
        said.flags.add(option)
    elif option not in _IGNORED:
        dashes = "-" if len(option) == 1 else "--"
        raise Invalid("curl_option", option=f"{dashes}{ascii(option[:40])[1:-1]}")


def _reads_a_file(option: str, value: str) -> bool:
    if option == "data-urlencode":  # NAME@FILE
        return re.match(r"[^=]*@", value) is not None
    return option != "data-raw" and value.startswith("@")


def _take_url(said: Said, value: str) -> None:
    if said.url:
        raise Invalid("curl_url", value=f"{bare(said.url)}, {bare(value)}")
    said.url = value if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", value) else f"http://{value}"


def _take_header(said: Said, value: str) -> None:
    if value.startswith("@"):
        raise Invalid("curl_file", option="--header")
    name, sign, told = value.partition(":")
    if sign and told.strip():
        said.headers.append((name.strip(), told.strip()))


def _take_cookie(said: Said, value: str) -> None:
    if "=" not in value:
        raise Invalid("curl_file", option="--cookie")
    said.headers.append(("Cookie", value))


def _take_seconds(said: Said, value: str) -> None:
    try:
        said.seconds = float(value)
    except ValueError:
        raise Invalid("curl_broken", detail="--max-time") from None


def _take_query(said: Said, value: str) -> None:
    if re.match(r"[^=]*@", value):
        raise Invalid("curl_file", option="--url-query")
    said.query.append(form_text("data-urlencode", value))


_TAKERS: Final[Mapping[str, Callable[[Said, str], None]]] = {
    "url": _take_url,
    "header": _take_header,
    "cookie": _take_cookie,
    "max-time": _take_seconds,
    "url-query": _take_query,
    "request": lambda said, value: setattr(said, "method", value),
    "user": lambda said, value: setattr(said, "user", value),
    "user-agent": lambda said, value: said.headers.append(("User-Agent", value)),
    "referer": lambda said, value: said.headers.append(("Referer", value)),
    "oauth2-bearer": lambda said, value: said.headers.append(("Authorization", f"Bearer {value}")),
}


def form_text(option: str, text: str) -> str:
    if option != "data-urlencode":
        return text
    name, sign, value = text.partition("=")
    if not sign:
        return quote_plus(text)
    return f"{name}={quote_plus(value)}" if name else quote_plus(value)


def bare(url: str) -> str:
    """A URL for an error, without what may be a secret."""
    return quote(url.partition("?")[0].rpartition("@")[2][:100], safe="/:.-_~{}")
