"""Reads URLs strictly, so that there is one reading of each: the one that is checked and used.

What several parsers understand in several ways (credentials, backslashes, numbers for addresses)
is refused, not mended.
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from urllib.parse import quote, urljoin

from msgspec import Struct

from teahouse.tools.addresses import Address

LONGEST: Final = 8192
# ASCII: without it a long s is an s
_URL: Final = re.compile(r"(?i:(https?))://([^/?#]+)([^#]*)(?:#.*)?", re.ASCII)
_AUTHORITY: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@%]+)(?::([0-9]{0,5}))?")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_BROWSERS_BLOCK: Final = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6679, 6697, 10080}
    | set(range(6665, 6670))
)


class WebAddress(Struct, frozen=True, kw_only=True):
    """A URL in its one form. `host` is lower case and ASCII; `literal` is set where it is an
    address and no name. `path` begins with `/` and holds the query."""

    scheme: str
    host: str
    port: int
    path: str
    literal: Address | None = None

    @property
    def place(self) -> str:
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def url(self) -> str:
        usual = self.port == _DEFAULT_PORTS[self.scheme]
        place = self.place.rpartition(":")[0] if usual else self.place
        return f"{self.scheme}://{place}{self.path}"

    @property
    def usual_port(self) -> bool:
        """Whether it is a port of the web, or one that no other well-known service has."""
        return self.port in {80, 443} or (self.port >= 1024 and self.port not in _BROWSERS_BLOCK)


def read_url(text: str) -> WebAddress:
    """Raises `ValueError` for what is no http(s) URL of exactly one meaning."""
    if len(text) > LONGEST or "\\" in text or any(map(_is_unfit, text)):
        raise ValueError("characters")
    found = _URL.fullmatch(text)
    authority = found and _AUTHORITY.fullmatch(found[2])
    if not found or not authority:
        raise ValueError("form")
    scheme = found[1].lower()
    host, literal = _read_host(authority[1])
    port = int(authority[2] or _DEFAULT_PORTS[scheme])
    if not 0 < port < 65536:
        raise ValueError("port")
    rest = quote(found[3], safe="/?%:@!$&'()*+,;=-._~[]")
    path = rest if rest.startswith("/") else f"/{rest}"
    return WebAddress(scheme=scheme, host=host, port=port, path=path, literal=literal)


def read_redirect(base: WebAddress, location: str) -> WebAddress:
    """Where an answer of `base` sends us. Raises `ValueError`."""
    if "\\" in location or any(map(_is_unfit, location)):
        raise ValueError("characters")
    return read_url(urljoin(base.url, location))


def host_name(text: str) -> str:
    """The one form of a host's name; raises `ValueError` for what is none."""
    return _read_host(text)[0]


def _read_host(text: str) -> tuple[str, Address | None]:
    if text.startswith("["):
        literal = IPv6Address(text[1:-1])
        return str(literal), literal
    name = (text if text.isascii() else _ascii(text)).lower()
    name = name.removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _read_number(text, name)
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise ValueError("host")
    return name, None


def _read_number(text: str, name: str) -> tuple[str, Address]:
    """An IPv4 address, in the one way to write it: octal, hexadecimal and short ones mean this to
    some and that to others."""
    if text != name:
        raise ValueError("host")
    try:
        literal = IPv4Address(name)
    except AddressValueError as error:
        raise ValueError("host") from error
    return name, literal


def _ascii(name: str) -> str:
    import idna

    if any(unicodedata.category(character) == "Cf" for character in name):
        raise ValueError("host")
    try:
        return idna.encode(name, uts46=True).decode()
    except idna.IDNAError as error:
        raise ValueError("host") from error


def _is_unfit(character: str) -> bool:
    """Control characters, white space of any kind, and halves of characters."""
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cs", "Zs", "Zl", "Zp"}
