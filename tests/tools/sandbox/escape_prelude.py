"""What every escape begins with; it runs inside the sandbox, and outside as a control."""

import ctypes
import json
import os
import struct  # noqa: F401  for the escapes
import sys

globals().update(json.loads(sys.argv[1]))
libc = ctypes.CDLL(None, use_errno=True)


def got(it: object = True) -> None:
    if it:
        print("ESCAPED")


def ok(it: object = True) -> None:
    if it:
        print("ALLOWED")


def call_number(number: int, *arguments: object) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def call(name: str, *arguments: object) -> int:
    return call_number(numbers[name], *arguments)  # noqa: F821  one of the globals


def gone(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)  # noqa: PTH108


def relink(target: str, path: str) -> None:
    gone(path)
    os.symlink(target, path)  # noqa: PTH211
