"""Which IP addresses are the public internet: the ground on which `egress` refuses all others.

The registry in Python's `ipaddress` is not enough: its versions differ, and it takes NAT64,
v4-compatible and multicast addresses for global ones.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

FAKE_IPS: Final = IPv4Network("198.18.0.0/15")
"""For measuring networks; many proxies answer every name with an address out of it."""

_CLOUD_HOST: Final = IPv4Address("168.63.129.16")  # Azure's host service, in a public range
_NOT_PUBLIC_4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_UNICAST_6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_6: Final = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20")
)
_COMPATIBLE: Final = IPv6Network("::/96")
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_ISATAP: Final = (0x00005EFE, 0x02005EFE)  # a tunnel: the third quarter of the address


def is_public(address: Address, *, fake_ips: bool = False) -> bool:
    """Whether `address` is global unicast, and everything that it carries is too.

    `fake_ips` lets 198.18.0.0/15 pass, for owners behind a proxy that answers with it.
    """
    if isinstance(address, IPv4Address):
        if address in FAKE_IPS:
            return fake_ips
        inside = any(address in network for network in _NOT_PUBLIC_4)
        return not inside and address != _CLOUD_HOST
    if address.scope_id is not None:
        return False
    carried = carried_by(address)
    if carried:
        return all(is_public(one) for one in carried)
    if address not in _UNICAST_6 or any(address in network for network in _NOT_PUBLIC_6):
        return False
    number = int(address)
    return number >> 32 & 0xFFFFFFFF not in _ISATAP or is_public(IPv4Address(number & 0xFFFFFFFF))


def is_private_place(address: Address) -> bool:
    """Whether an owner who allows a name can have meant this: a machine of the house's own.

    Never the link-local range, where clouds keep credentials, nor what is no machine at all.
    """
    if isinstance(address, IPv6Address):
        if address.scope_id is not None or address == IPv6Address("fd00:ec2::254"):
            return False
        carried = carried_by(address)
        if address != IPv6Address("::1") and carried:
            return all(is_public(one) or is_private_place(one) for one in carried)
    elif address == _CLOUD_HOST or address in IPv4Network("0.0.0.0/8"):
        return False
    return not (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or (address.is_reserved and not address.is_loopback)
    )


def carried_by(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that `address` is only a form of."""
    number = int(address)
    if any(address in network for network in (_COMPATIBLE, _MAPPED, _NAT64)):
        return (IPv4Address(number & 0xFFFFFFFF),)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    return ()
