"""Knows command lines that plainly destroy the host: those are not even worth asking about.

A courtesy and no wall: who wants to hide such a command can. The wall is the sandbox.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from teahouse.tools.shell_words import Command, read_script

_LONGEST: Final = 100_000
_DEEPEST: Final = 4  # scripts inside of scripts
_ASSIGNMENT: Final = re.compile(r"\w+\+?=")
_AMOUNT: Final = re.compile(r"[0-9.]+[smhd]?")
_BOMB: Final = re.compile(r"(?:function)?([^\s;|&(){}]+)(?:\(\))?\{\1\|\1&\};?\1")
_DISK: Final = re.compile(
    r"/dev/(sd|hd|vd|xvd)[a-z*?\[]|/dev/(nvme|mmcblk|md|dm-)[0-9*?\[]|/dev/(disk|mapper)/|/dev/k?mem$"
)
_SYSTEM: Final = frozenset(
    {"/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/root", "/sbin"}
    | {"/sys", "/usr", "/usr/bin", "/usr/lib", "/usr/sbin", "/var", "/var/lib", "/home", "/opt"}
    | {"/System", "/Library", "/Users", "/Applications", "/run", "/srv"}
)
_KEYWORDS: Final = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "for", "!", "{", "coproc"}
)
_SHELLS: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh", "mksh", "su", "runuser"}
)
_WRAPPERS: Final = _SHELLS | frozenset(
    {"sudo", "doas", "pkexec", "env", "nice", "nohup", "time", "timeout", "exec", "command"}
    | {"builtin", "xargs", "busybox", "toybox", "setsid", "stdbuf", "ionice", "chrt", "taskset"}
    | {"unshare", "strace", "ltrace", "watch", "systemd-run", "gosu", "caffeinate", "parallel"}
)
_FORMATS: Final = re.compile(r"mkfs(\..+)?|mke2fs|mkswap|shred|blkdiscard|badblocks|tee|truncate")
_DISK_TOOLS: Final = {
    "wipefs": {"-a", "--all", "-af", "-fa"},
    "sgdisk": {"-Z", "--zap-all", "-o", "--clear", "-z", "--zap"},
    "sfdisk": {"--delete"},
    "parted": {"mklabel", "mktable", "rm"},
    "cryptsetup": {"luksFormat", "erase", "luksErase"},
}
_SELECTS: Final = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin"}
    | {
        "-atime",
        "-ctime",
        "-cmin",
        "-amin",
        "-newer",
        "-size",
        "-user",
        "-group",
        "-empty",
        "-perm",
    }
)


def destroys(line: str, depth: int = 0) -> bool:
    line = line[:_LONGEST]
    if depth > _DEEPEST:
        return False
    if _BOMB.search(re.sub(r"\s+", "", line)):
        return True
    script = read_script(line)
    at_root = False
    for place, command in enumerate(script.commands):
        words = _bare(command.texts)
        program, arguments = _program(words), words[1:]
        if any(map(_is_disk, command.targets)) or _harms(words, at_root, depth):
            return True
        if _feeds_shell(script.commands, place) and destroys(" ".join(arguments), depth + 1):
            return True
        if program in {"cd", "pushd"}:
            at_root = [_normal(text) for text in arguments] == ["/"]
    return any(destroys(inner, depth + 1) for inner in script.inner)


def _bare(words: Sequence[str]) -> list[str]:
    """Without keywords and assignments before the command."""
    start = 0
    while start < len(words) and (words[start] in _KEYWORDS or _ASSIGNMENT.match(words[start])):
        start += 1
    return list(words[start:])


def _program(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2] if words else ""


def _feeds_shell(commands: Sequence[Command], place: int) -> bool:
    """Whether it is an echo into a shell."""
    here = commands[place]
    if here.joint not in {"|", "|&"} or place + 1 == len(commands):
        return False
    after = _bare(commands[place + 1].texts)
    reads = _program(after) in _WRAPPERS and any(_program([one]) in _SHELLS for one in after[:4])
    return reads and _program(here.texts) in {"echo", "printf"}


def _harms(words: Sequence[str], at_root: bool, depth: int) -> bool:
    program, arguments = _program(words), list(words[1:])
    if program in _WRAPPERS:
        scripts = [text for text in arguments if re.search(r"\s", text)]
        return any(destroys(text, depth + 1) for text in scripts) or any(
            _harms(arguments[start:], at_root, depth) for start in _starts(arguments)
        )
    if program == "eval":
        return destroys(" ".join(arguments), depth + 1)
    disks = any(map(_is_disk, arguments))
    if _FORMATS.fullmatch(program) or program in _DISK_TOOLS:
        return disks and (program not in _DISK_TOOLS or bool(_DISK_TOOLS[program] & set(arguments)))
    if program in {"dd", "cp", "mv"} and _writes_disk(program, arguments):
        return True
    return _harms_files(program, arguments, at_root)


def _harms_files(program: str, arguments: Sequence[str], at_root: bool) -> bool:
    vital = [text for text in arguments if _is_vital(text, at_root)]
    match program:
        case "rm":
            return bool(vital) and _recursive(arguments)
        case "chmod" | "chown" | "chgrp":
            return bool(vital) and _recursive(arguments)
        case "mv":
            return any(text in vital for text in arguments[:-1])
        case "find":
            acts = "-delete" in arguments or any(
                flag in {"-exec", "-execdir"} and _program([run]) in {"rm", "shred"}
                for flag, run in pairwise(arguments)
            )
            return acts and bool(vital) and not _SELECTS & set(arguments)
        case _:
            return False


def _starts(arguments: Sequence[str]) -> list[int]:
    """Where the wrapped command may begin: after the options, or after an option's value."""
    starts: list[int] = []
    for place, text in enumerate(arguments):
        if text.startswith("-") or _ASSIGNMENT.match(text) or _AMOUNT.fullmatch(text):
            continue
        starts.append(place)
        if place == 0 or not arguments[place - 1].startswith("-"):
            break
    return starts[:8]


def _recursive(arguments: Sequence[str]) -> bool:
    return any(
        "--recursive".startswith(text) and text.startswith("--r")
        if text.startswith("--")
        else text.startswith("-") and bool({"r", "R"} & set(text))
        for text in arguments
    )


def _writes_disk(program: str, arguments: Sequence[str]) -> bool:
    if program == "dd":
        return any(text.startswith("of=") and _is_disk(text[3:]) for text in arguments)
    return bool(arguments) and _is_disk(arguments[-1])


def _is_disk(text: str) -> bool:
    return bool(_DISK.match(_normal(text)))


def _is_vital(text: str, at_root: bool) -> bool:
    """Whether it is the root, all in it, or a folder that the system cannot be without."""
    if not text.startswith("/"):
        if not at_root or text.startswith("-"):
            return False
        text = f"/{text}"
    above, _, last = text.rstrip("/").rpartition("/")
    everything = bool(re.fullmatch(r"[*?.{},\[\]!]+", last)) and last not in {".", ".."}
    return _normal(above or "/" if everything else text) in _SYSTEM


def _normal(path: str) -> str:
    return posixpath.normpath("/" + path.lstrip("/")) if path.startswith("/") else path
