"""Which system calls a sandboxed command may not make, as the program that the kernel runs.

Namespaces hide things; this takes away the calls whose bugs break out of namespaces (io_uring,
bpf, keyrings, userfaultfd, …), and those that would build new ones. Refused are the known bad
ones, and all that are newer than this list. Built by hand: it is a chain of comparisons, and a
library for it would need one of the system's.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import Literal, TypeAlias

from msgspec import Struct

from teahouse.tools.sandbox.command import Wall

# Linux numbers calls by machine; since 424 the numbers are the same on all.
_CALLS: dict[str, tuple[int | None, int | None]] = {  # (x86_64, aarch64)
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "vhangup": (153, 58),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "uselib": (134, None),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "vmsplice": (278, 75),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "mount_setattr": (442, 442),
    "quotactl_fd": (443, 443),
    "memfd_secret": (447, 447),
    # looked at more closely, or refused behind Landlock alone
    "clone": (56, 220),
    "clone3": (435, 435),
    "ioctl": (16, 29),
    "personality": (135, 92),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "chmod": (90, None),
    "chown": (92, None),
    "lchown": (94, None),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
}
_PLAIN = tuple(_CALLS)[: tuple(_CALLS).index("clone")]
_NEWEST = 462  # mseal; what came later is not known here, and refused
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_UNIX, _INET, _INET6 = 1, 2, 10
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # type into the terminal
_SAME_PERSONALITY, _ASK_PERSONALITY = 0, 0xFFFFFFFF
_NOT_OURS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal")
_BY_PATH = (  # Landlock looks at none of these
    *("chmod", "chown", "lchown", "fchmodat", "fchmodat2", "fchownat"),
    *("setxattr", "lsetxattr", "removexattr", "lremovexattr", "utime", "utimes", "futimesat"),
)

Test: TypeAlias = Literal["any", "is", "is_not", "has"]


class _Rule(Struct, frozen=True):
    """Refuse `call` with `error` where a word of its arguments passes the test: is one of the
    values, is none of them, or has one of their bits. An argument has two words of 32 bits, the low
    one first."""

    call: str
    error: int = errno.EPERM
    test: Test = "any"
    word: int = 0
    values: tuple[int, ...] = ()


def known(machine: str = platform.machine()) -> bool:
    return machine in _MACHINES


def program(wall: Wall, abi: int = 0, machine: str = platform.machine()) -> bytes:
    """The filter for commands behind `wall`; `abi` is Landlock's, 0 behind bubblewrap.

    Raises KeyError on a machine that is not `known`.
    """
    column, architecture = _MACHINES[machine]
    code = [
        _ins(_LOAD, _ARCHITECTURE),
        _ins(_JUMP_EQUAL, architecture, 1, 0),
        _ins(_RETURN, _KILL),
        _ins(_LOAD, _NUMBER),
        _ins(_JUMP_GREATER, _NEWEST, 0, 1),
        _ins(_RETURN, _refuse(errno.ENOSYS)),
    ]
    for rule in _rules(wall, abi):
        number = _CALLS[rule.call][column]
        if number is not None:
            body = _body(rule)
            code += [_ins(_JUMP_EQUAL, number, 0, len(body)), *body]
    code.append(_ins(_RETURN, _ALLOW))
    return b"".join(code)


def _rules(wall: Wall, abi: int) -> tuple[_Rule, ...]:
    both = (
        *(_Rule(call) for call in _PLAIN),
        _Rule("clone", test="has", values=(_NAMESPACES,)),
        _Rule("clone3", errno.ENOSYS),  # its flags lie in memory; the libraries fall back to clone
        _Rule("ioctl", test="is", word=2, values=(_TIOCSTI, _TIOCLINUX)),
        _Rule("personality", test="is_not", values=(_SAME_PERSONALITY, _ASK_PERSONALITY)),
    )
    if wall == "bubblewrap":  # an empty net of its own
        families = (_UNIX, _INET, _INET6)
        return (*both, _Rule("socket", errno.EAFNOSUPPORT, "is_not", values=families))
    alone = () if abi >= 6 else tuple(_Rule(call) for call in _NOT_OURS)
    return (
        *both,
        *alone,
        *(_Rule(call) for call in _BY_PATH),
        *(_Rule("utimensat", test="is_not", word=word, values=(0,)) for word in (2, 3)),  # a path
        _Rule("prlimit64", test="is_not", values=(0,)),
        _Rule("setpriority"),
        _Rule("socket", errno.EAFNOSUPPORT),
        _Rule("socketpair", errno.EAFNOSUPPORT, "is_not", values=(_UNIX,)),
        *(_Rule(call) for call in ("msgget", "semget", "mq_open")),
    )


def _body(rule: _Rule) -> list[bytes]:
    """The rest of a rule, once the number is right. What it lets pass meets the rules below it."""
    refusal = _ins(_RETURN, _refuse(rule.error))
    if rule.test == "any":
        return [refusal]
    jump = _JUMP_BITS if rule.test == "has" else _JUMP_EQUAL
    over = 1 if rule.test == "is_not" else 0  # where a match leads: over the refusal, or to it
    last = len(rule.values) - 1
    tests = [
        _ins(jump, value, last - at + over, int(at == last and not over))
        for at, value in enumerate(rule.values)
    ]
    return [_ins(_LOAD, _ARGUMENTS + 4 * rule.word), *tests, refusal, _ins(_LOAD, _NUMBER)]


_LOAD, _RETURN = 0x20, 0x06
_JUMP_EQUAL, _JUMP_GREATER, _JUMP_BITS = 0x15, 0x25, 0x45
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where they stand in seccomp_data; little-endian
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000


def _ins(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _refuse(error: int) -> int:
    return _ERROR | error
