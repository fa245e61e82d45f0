"""The commands that surely do nothing but read inside the workspace, with each of their options.

What is not listed is not harmless: a new option of a program, a shortened one, a path that leads
up or away. Links are not looked at; the sandbox holds those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from teahouse.tools.shell_words import Word


class _Reader(Struct, frozen=True, kw_only=True):
    """What a program may be given. Letters are short options, names long ones.

    `operands`: what the rest is; `search` begins with a text. `patterns`: a file name that looks
    like an option does no harm to it. `counts`: `-5` is an option.
    """

    flags: str = ""
    valued: str = ""
    files: str = ""
    long: str = ""
    long_valued: str = ""
    operands: Literal["files", "text", "search", "none"] = "files"
    most: int | None = None
    patterns: bool = False
    counts: bool = False


_SEARCH: Final = _Reader(
    flags="EFGPiIvwxcLlnHhoqsraRzZbUyT",
    valued="eABCmdD",
    files="f",
    long="extended-regexp fixed-strings basic-regexp perl-regexp ignore-case invert-match "
    "word-regexp line-regexp count files-without-match files-with-matches line-number "
    "with-filename no-filename only-matching quiet silent no-messages recursive text color colour",
    long_valued="regexp after-context before-context context max-count include exclude "
    "exclude-dir binary-files",
    operands="search",
    patterns=True,
    counts=True,
)
_PART: Final = _Reader(
    flags="qv", valued="nc", long="quiet verbose", long_valued="lines bytes", counts=True,
    patterns=True,
)  # fmt: skip
_SUMS: Final = _Reader(flags="bt")
_NOTHING: Final = _Reader(operands="none")
_PROGRAMS: Final[Mapping[str, _Reader]] = {
    "ls": _Reader(
        flags="aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        valued="ITw",
        long="all almost-all human-readable recursive reverse size sort time time-style color "
        "directory classify inode group-directories-first full-time file-type no-group si "
        "numeric-uid-gid literal quote-name format",
        long_valued="ignore hide width",
        patterns=True,
    ),
    "cat": _Reader(
        flags="AbeEnstTuv", patterns=True,
        long="number number-nonblank show-all show-ends show-tabs squeeze-blank show-nonprinting",
    ),
    "head": _PART,
    "tail": _PART,
    "wc": _Reader(flags="cmlLw", long="bytes chars lines words max-line-length"),
    "grep": _SEARCH,
    "egrep": _SEARCH,
    "fgrep": _SEARCH,
    "pwd": _Reader(flags="LP", operands="none"),
    "echo": _Reader(operands="text"),
    "basename": _Reader(flags="az", valued="s", operands="text"),
    "dirname": _Reader(flags="z", operands="text"),
    "which": _Reader(flags="a", operands="text"),
    "tr": _Reader(flags="cCdst", operands="text"),
    "true": _NOTHING,
    "false": _NOTHING,
    "sort": _Reader(
        flags="bdfgiMhnRrVcCmsuz", valued="kt",
        long="reverse numeric-sort unique ignore-case human-numeric-sort version-sort stable "
        "general-numeric-sort month-sort check", long_valued="key field-separator",
    ),
    "uniq": _Reader(flags="cdDiuz", valued="fsw", long="count repeated unique ignore-case", most=1),
    "cut": _Reader(
        flags="snz", valued="bcdf", long="complement only-delimited",
        long_valued="bytes characters delimiter fields output-delimiter",
    ),
    "nl": _Reader(valued="bdfhilnsvw"),
    "tac": _Reader(flags="br", valued="s"),
    "rev": _Reader(),
    "fold": _Reader(flags="bs", valued="w"),
    "paste": _Reader(flags="sz", valued="d"),
    "comm": _Reader(flags="123z"),
    "cmp": _Reader(flags="bls"),
    "diff": _Reader(
        flags="abBcdeEilnNpqrstTuvwy", valued="CUWIx",
        long="brief unified recursive side-by-side ignore-all-space ignore-blank-lines "
        "ignore-case ignore-space-change report-identical-files color text new-file",
        long_valued="exclude width",
    ),
    "md5sum": _SUMS,
    "sha1sum": _SUMS,
    "sha256sum": _SUMS,
    "sha512sum": _SUMS,
    "cksum": _Reader(),
    "stat": _Reader(flags="fLt", valued="c", long="dereference terse", long_valued="format printf"),
    "file": _Reader(flags="bihkLN", long="brief mime mime-type mime-encoding dereference"),
    "du": _Reader(
        flags="abchkmsSx", valued="dt", long="all total human-readable summarize apparent-size",
        long_valued="max-depth exclude",
    ),
    "tree": _Reader(flags="adfpsughDFiCrtn", valued="LPI", long="dirsfirst noreport"),
    "realpath": _Reader(flags="eLmPqsz"),
    "readlink": _Reader(flags="efmnqsvz"),
    "od": _Reader(flags="abcdfilosxv", valued="AjNtw"),
    "strings": _Reader(flags="a", valued="nt"),
    "base64": _Reader(flags="di", valued="w", long="decode", long_valued="wrap", most=1),
}  # fmt: skip

_LOOKS: Final = (
    "stat shortstat numstat summary patch no-patch name-only name-status color no-color "
    "word-diff minimal"
)
_GIT: Final[Mapping[str, _Reader]] = {
    "status": _Reader(
        flags="sbvz", long="short branch show-stash porcelain long verbose ignored "
        "untracked-files column no-column renames no-renames ahead-behind no-ahead-behind",
    ),
    "log": _Reader(
        flags="pz", valued="nSG", counts=True,
        long=f"oneline graph all decorate no-decorate no-merges merges first-parent reverse follow "
        f"abbrev-commit date-order topo-order branches tags remotes date pretty {_LOOKS}",
        long_valued="author grep since until after before max-count skip committer",
    ),
    "diff": _Reader(
        flags="wbpRz", valued="U", long=f"staged cached check exit-code quiet unified "
        f"ignore-all-space ignore-space-change find-renames merge-base {_LOOKS}",
    ),
    "show": _Reader(flags="psz", long=f"oneline date pretty abbrev-commit {_LOOKS}"),
    "branch": _Reader(
        flags="avr", operands="none",
        long="list all remotes show-current verbose merged no-merged color no-color column",
    ),
    "tag": _Reader(flags="l", operands="none", long="list"),
    "ls-files": _Reader(
        flags="cdmozstu", long="cached deleted modified others stage exclude-standard full-name",
    ),
    "blame": _Reader(flags="wlsfne", valued="L"),
    "rev-parse": _Reader(
        flags="q", long="show-toplevel abbrev-ref short verify git-dir is-inside-work-tree quiet",
    ),
    "describe": _Reader(long="tags always dirty all long"),
    "remote": _Reader(flags="v", operands="none"),
    "grep": _Reader(flags="inlcwvFEIHh", operands="search", patterns=True),
}  # fmt: skip
_VERSIONED: Final = frozenset(
    {"python", "python3", "node", "npm", "git", "pip", "pip3", "cargo", "rustc", "ruby", "bash"}
    | {"java", "gcc", "make", "cmake", "uv", "ruff", "pytest", "deno", "bun", "pnpm", "yarn"}
)
_TESTS_ALONE: Final = frozenset(
    {"-print", "-print0", "-empty", "-not", "-o", "-or", "-a", "-and", "(", ")", "-prune"}
    | {"-depth", "-xdev", "-mount", "-true", "-false"}
)
_TESTS_VALUED: Final = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-type", "-maxdepth"}
    | {"-mindepth", "-size", "-mtime", "-mmin", "-atime", "-ctime", "-user", "-group", "-perm"}
)
_LINES: Final = re.compile(r"(\d+|\$)(,(\d+|\$))?p")


def is_harmless(words: Sequence[Word]) -> bool:
    program, arguments = words[0], words[1:]
    if program.pattern:
        return False
    if program.text in _VERSIONED and [one.text for one in arguments] == ["--version"]:
        return True
    own = _OWN.get(program.text)
    if own is not None:
        return own(arguments)
    reader = _PROGRAMS.get(program.text)
    return reader is not None and _only_reads(reader, arguments)


def _only_reads(reader: _Reader, arguments: Sequence[Word]) -> bool:
    if reader.operands == "text" and not reader.flags:  # echo: all is text
        return all(not one.pattern or _stays(reader, one) for one in arguments)
    operands: list[Word] = []
    asks_by_option = False
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word.text == "--":
            operands += rest
            break
        if not word.text.startswith("-") or word.text == "-":
            operands.append(word)
            continue
        wants = _value_after(reader, word)
        if wants is None or (wants and (not rest or rest[0].pattern)):
            return False
        value = rest.pop(0).text if wants else ""
        if wants == "file" and not is_inside(value):
            return False
        asks_by_option = asks_by_option or _names_pattern(word.text)
    return _fits(reader, operands, asks_by_option)


def _value_after(reader: _Reader, word: Word) -> Literal["", "text", "file"] | None:
    """What must follow an option; None for one that is not listed."""
    text = word.text
    if word.pattern or "%G" in text:  # %G runs a program that checks signatures
        return None
    if text.startswith("--"):
        name, given, _ = text[2:].partition("=")
        valued = name in reader.long_valued.split()
        known = valued or name in reader.long.split()
        return ("text" if valued and not given else "") if known else None
    if reader.counts and text[1:].isascii() and text[1:].isdigit():
        return ""
    return _value_after_letters(reader, text[1:])


def _value_after_letters(reader: _Reader, letters: str) -> Literal["", "text", "file"] | None:
    rest = letters.lstrip(reader.flags)
    letter, joined = rest[:1], rest[1:]
    if not letter:
        return ""
    if letter in reader.valued:
        return "" if joined else "text"
    if letter in reader.files and is_inside(joined):
        return "" if joined else "file"
    return None


def _names_pattern(option: str) -> bool:
    """Whether a search gets its pattern by this option, and all operands are files then."""
    short = option[:1] == "-" != option[1:2]
    return bool(re.match(r"-[a-zA-Z]*[ef]", option)) if short else option.startswith("--regexp")


def _fits(reader: _Reader, operands: Sequence[Word], asks_by_option: bool) -> bool:
    if reader.operands == "none":
        return not operands
    if reader.operands == "text":
        return all(not one.pattern or _stays(reader, one) for one in operands)
    if reader.operands == "search" and not asks_by_option:
        if not operands or operands[0].pattern:
            return False
        operands = operands[1:]
    if reader.most is not None and any(one.pattern for one in operands):
        return False
    if reader.most is not None and len(operands) > reader.most:
        return False
    return all(_stays(reader, one) for one in operands)


def _stays(reader: _Reader, word: Word) -> bool:
    """Inside the workspace, also as the names that a pattern turns into."""
    if word.pattern:
        may_look_like_option = word.text[:1] in {"*", "?", "["} and not reader.patterns
        hidden = any(re.match(r"\.[^/]*[*?\[]", step) for step in word.text.split("/"))
        if may_look_like_option or hidden:
            return False
    return is_inside(word.text)


def is_inside(path: str) -> bool:
    """Whether the words of a path lead neither up nor to the root."""
    return not path.startswith("/") and ".." not in path.split("/")


def _git(arguments: Sequence[Word]) -> bool:
    match [one.text for one in arguments]:
        case ["stash", "list"]:
            return True
        case [name, *_] if name in _GIT and not arguments[0].pattern:
            return _only_reads(_GIT[name], arguments[1:])
        case _:
            return False


def _find(arguments: Sequence[Word]) -> bool:
    rest = list(arguments)
    while rest and not rest[0].text.startswith(("-", "(")):
        if rest[0].pattern or not is_inside(rest.pop(0).text):
            return False
    while rest:
        test = rest.pop(0)
        if test.pattern:
            return False
        if test.text in _TESTS_VALUED and rest and not rest[0].pattern:
            rest.pop(0)
        elif test.text not in _TESTS_ALONE:
            return False
    return True


def _sed(arguments: Sequence[Word]) -> bool:
    """Only `sed -n 1,20p files`: its language can also write files and run commands."""
    match [one.text for one in arguments]:
        case ["-n", lines, *files] if _LINES.fullmatch(lines):
            plain = not any(one.pattern or one.text.startswith("-") for one in arguments[2:])
            return plain and all(map(is_inside, files))
        case _:
            return False


def _date(arguments: Sequence[Word]) -> bool:
    texts = [one.text for one in arguments if one.text not in {"-u", "--utc", "-R", "-I"}]
    return all(text.startswith("+") for text in texts) and not any(one.pattern for one in arguments)


def _printf(arguments: Sequence[Word]) -> bool:
    if not arguments or arguments[0].text.startswith("-"):
        return False
    return not any(one.pattern for one in arguments)


_OWN: Final[Mapping[str, Callable[[Sequence[Word]], bool]]] = {
    "git": _git,
    "find": _find,
    "sed": _sed,
    "date": _date,
    "printf": _printf,
}
