"""The one door from tools to the network: what is connected to is what was checked.

A name is looked up once for each hop, every address of the answer must be public, and the
connection goes to those addresses and no others. Redirects are followed by hand through the same
check. Places that are private are reached only where the owner's list names them.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from typing import Annotated, Final, Protocol, TypeVar

from msgspec import Meta, Struct

from teahouse.tools.addresses import FAKE_IPS, Address, is_private_place, is_public
from teahouse.tools.refusal import Refused
from teahouse.tools.web_address import WebAddress, host_name, read_redirect, read_url

MOST_SHOWN: Final = 200  # characters of a URL in an error

MOST_REDIRECTS: Final = 5
_SHOWN: Final = 200  # characters of a URL in an error

Found = TypeVar("Found")


class EgressRefused(Refused):
    pass


class Resolver(Protocol):
    """Every address that `host` has now; none where there is no such name."""

    async def __call__(self, host: str, port: int, /) -> Sequence[str]: ...


class EgressRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the owner has set. `allow`: `host:port` of private places that tools may reach."""

    allow: tuple[Annotated[str, Meta(pattern=r"^\S+:[0-9]{1,5}$")], ...] = ()
    fake_ips: bool = False


class Hop(Struct, frozen=True, kw_only=True):
    """A place that may be connected to, at these addresses and no others."""

    to: WebAddress
    addresses: tuple[Address, ...]


async def look_up(host: str, port: int, /) -> Sequence[str]:
    """Ask the system's resolver."""
    loop = asyncio.get_running_loop()
    try:
        rows = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        return ()
    return [str(row[4][0]) for row in rows]


class Egress:
    """`rules` is asked each time, so that a change of the settings counts at once."""

    def __init__(
        self,
        rules: Callable[[], EgressRules] = EgressRules,
        *,
        resolver: Resolver = look_up,
    ) -> None:
        self._rules, self._resolver = rules, resolver

    async def admit(self, url: str) -> Hop:
        """Check one hop; raises `EgressRefused`."""
        try:
            to = read_url(url)
        except ValueError as error:
            raise EgressRefused("egress_url", url=shown(url)) from error
        return await self.admit_address(to)

    async def admit_address(self, to: WebAddress) -> Hop:
        rules = self._rules()
        allowed = to.place in {_place(entry) for entry in rules.allow}
        if not to.usual_port and not allowed:
            raise EgressRefused("egress_port", url=shown(to.url), port=to.port)
        addresses = await self._addresses(to)
        for address in addresses:
            private_but_meant = allowed and is_private_place(address)
            if not private_but_meant and not is_public(address, fake_ips=rules.fake_ips):
                code = "egress_fake_ip" if address in FAKE_IPS else "egress_private"
                raise EgressRefused(code, place=to.place, address=address)
        return Hop(to=to, addresses=addresses)

    async def walk(self, url: str, visit: Callable[[Hop], Awaitable[Found | str]]) -> Found:
        """Visit `url`, and where a visit returns a string, go on to that redirect."""
        hop = await self.admit(url)
        redirects = 0
        while isinstance(found := await visit(hop), str):
            redirects += 1
            if redirects > MOST_REDIRECTS:
                raise EgressRefused("egress_redirects", url=shown(url), limit=MOST_REDIRECTS)
            try:
                to = read_redirect(hop.to, found)
            except ValueError as error:
                raise EgressRefused("egress_url", url=shown(found)) from error
            hop = await self.admit_address(to)
        return found

    async def _addresses(self, to: WebAddress) -> tuple[Address, ...]:
        if to.literal is not None:
            return (to.literal,)
        try:
            found = [ip_address(text) for text in await self._resolver(to.host, to.port)]
        except ValueError:
            found = []
        if not found:
            raise EgressRefused("egress_unresolved", host=to.host)
        return tuple(dict.fromkeys(found))


def _place(entry: str) -> str:
    """An entry of the owner's list in the form of `WebAddress.place`; what is none fits nothing."""
    host, _, port = entry.strip().rpartition(":")
    try:
        name = host_name(host)
    except ValueError:
        return ""
    return f"[{name}]:{port}" if host.startswith("[") else f"{name}:{port}"


def shown(url: str) -> str:
    """A URL for an error: short, and without characters that do things."""
    return ascii(url[:_SHOWN])[1:-1]
