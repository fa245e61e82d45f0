"""The filter as the kernel reads it, run here by a small interpreter of the same instructions."""

from __future__ import annotations

import errno
import struct

import pytest

from teahouse.tools.sandbox import seccomp
from teahouse.tools.sandbox.command import Wall

ALLOW, KILL = 0x7FFF0000, 0x80000000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(program: bytes, machine: str, number: int, *arguments: int) -> int:
    words = [*arguments, *([0] * (6 - len(arguments)))]
    data = struct.pack("=iIQ6Q", number, ARCHITECTURES[machine], 0, *words)
    code = list(struct.iter_unpack("=HBBI", program))
    at, value = 0, 0
    while True:
        operation, yes, no, operand = code[at]
        at += 1
        match operation:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x06:
                return operand
            case 0x15:
                at += yes if value == operand else no
            case 0x25:
                at += yes if value > operand else no
            case 0x45:
                at += yes if value & operand else no
            case _:
                raise AssertionError(operation)


def refused(error: int) -> int:
    return 0x00050000 | error


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("wall", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("call", seccomp._PLAIN)
def test_a_dangerous_call_is_refused(machine: str, wall: Wall, call: str) -> None:
    program = seccomp.program(wall, 7, machine)
    number = seccomp._CALLS[call][machine == "aarch64"]

    if number is not None:
        assert verdict(program, machine, number) == refused(errno.EPERM)


@pytest.mark.parametrize(
    ("machine", "numbers"),
    [("x86_64", (0, 1, 2, 57, 59, 39, 257, 9)), ("aarch64", (63, 64, 56, 221, 172, 222, 260))],
)
@pytest.mark.parametrize("wall", ["bubblewrap", "landlock"])
def test_what_every_program_needs_is_allowed(
    machine: str, numbers: tuple[int, ...], wall: Wall
) -> None:
    program = seccomp.program(wall, 7, machine)

    assert {verdict(program, machine, number) for number in numbers} == {ALLOW}


def test_another_machine_s_calls_end_the_process() -> None:
    assert verdict(seccomp.program("bubblewrap", 0, "x86_64"), "aarch64", 63) == KILL


@pytest.mark.parametrize("number", [463, 1000, 0x40000000 + 39, 0xFFFFFFF])
def test_calls_that_are_newer_than_the_filter_do_not_exist(number: int) -> None:
    program = seccomp.program("bubblewrap", 0, "x86_64")

    assert verdict(program, "x86_64", number) == refused(errno.ENOSYS)


@pytest.mark.parametrize(
    ("wall", "call", "arguments", "result"),
    [
        ("bubblewrap", "clone", (0x01200011,), ALLOW),  # fork
        ("bubblewrap", "clone", (0x003D0F00,), ALLOW),  # a thread
        ("bubblewrap", "clone", (0x10000011,), refused(errno.EPERM)),
        ("bubblewrap", "clone", (0x40000011,), refused(errno.EPERM)),
        ("bubblewrap", "clone3", (1, 64), refused(errno.ENOSYS)),
        ("bubblewrap", "ioctl", (0, 0x5412), refused(errno.EPERM)),
        ("bubblewrap", "ioctl", (0, 0x77_0000_5412), refused(errno.EPERM)),
        ("bubblewrap", "ioctl", (0, 0x5413), ALLOW),  # the size of a terminal
        ("bubblewrap", "personality", (0xFFFFFFFF,), ALLOW),
        ("bubblewrap", "personality", (0x0400000,), refused(errno.EPERM)),
        ("bubblewrap", "socket", (1,), ALLOW),
        ("bubblewrap", "socket", (10,), ALLOW),
        ("bubblewrap", "socket", (16,), refused(errno.EAFNOSUPPORT)),
        ("landlock", "socket", (1,), refused(errno.EAFNOSUPPORT)),
        ("landlock", "socket", (2,), refused(errno.EAFNOSUPPORT)),
        ("landlock", "socketpair", (1,), ALLOW),
        ("landlock", "socketpair", (2,), refused(errno.EAFNOSUPPORT)),
        ("landlock", "utimensat", (3, 0), ALLOW),
        ("landlock", "utimensat", (3, 0x1000), refused(errno.EPERM)),
        ("landlock", "utimensat", (3, 0x1_0000_0000), refused(errno.EPERM)),
        ("landlock", "prlimit64", (0, 7), ALLOW),
        ("landlock", "prlimit64", (1234, 7), refused(errno.EPERM)),
    ],
)
def test_what_a_call_is_asked_to_do_decides(
    wall: Wall, call: str, arguments: tuple[int, ...], result: int
) -> None:
    number = seccomp._CALLS[call][0]
    assert number is not None

    assert verdict(seccomp.program(wall, 7, "x86_64"), "x86_64", number, *arguments) == result


@pytest.mark.parametrize(("abi", "result"), [(6, ALLOW), (5, refused(errno.EPERM))])
def test_signals_pass_only_where_landlock_keeps_them_in(abi: int, result: int) -> None:
    assert verdict(seccomp.program("landlock", abi, "x86_64"), "x86_64", 62, 1, 9) == result
