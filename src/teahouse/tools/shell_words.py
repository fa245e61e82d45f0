"""Reads a command line as a shell would, as far as it is plain; and says where it is not.

Plain are words, quoted in any way, in simple commands that `;`, `&&`, `||` and `|` join. Whatever
else a shell knows (variables, substitution, redirection, braces, keywords …) makes the line not
plain. The reading goes on nevertheless, for those who look for harm in it, but is no promise then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

_PLAIN_JOINTS: Final = frozenset({";", "&&", "||", "|"})
_JOINT: Final = re.compile(r"\|\||&&|\|&|;;&|;;|;&|[;&|]")
_REDIRECTION: Final = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||[<>]")
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})

_CODE: Final = re.compile(
    r"\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL
)


class Word(Struct, frozen=True):
    """A word without its quotes. `pattern`: it holds `*`, `?` or `[` that are not quoted."""

    text: str
    pattern: bool = False


class Command(Struct):
    """`targets` are what it is redirected to or from; `joint` is what stands behind it."""

    words: list[Word] = field(default_factory=list[Word])
    targets: list[str] = field(default_factory=list[str])
    joint: str = ""

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]


class Script(Struct):
    """`inner` are the scripts inside of substitutions. All is a guess where `plain` is false."""

    commands: list[Command] = field(default_factory=list[Command])
    inner: list[str] = field(default_factory=list[str])
    plain: bool = True


def read_script(line: str) -> Script:
    reader = _Reader(line)
    reader.read()
    script = reader.script
    *before, last = script.commands or [Command()]
    complete = bool(last.words) and not last.joint and all(one.words for one in before)
    assigns = any("=" in text for one in script.commands for text in one.texts[:1])
    script.plain = script.plain and complete and not assigns and line.isprintable()
    return script


class _Reader:
    def __init__(self, line: str) -> None:
        self.script = Script()
        self._line, self._at = line, 0
        self._command = Command()
        self._word: list[str] | None = None
        self._pattern = False
        self._redirection: str | None = None
        self._steps: dict[str, Callable[[], None]] = {
            "'": self._single,
            '"': self._double,
            "\\": self._escape,
            "$": self._dollar,
            "`": self._backtick,
            "#": self._hash,
            "~": self._tilde,
            "\n": self._line_end,
            **dict.fromkeys(" \t", self._blank),
            **dict.fromkeys("()", self._parenthesis),
            **dict.fromkeys("{}!", self._odd),
            **dict.fromkeys("*?[", self._wild),
            **dict.fromkeys("<>", self._redirect),
            **dict.fromkeys(";|&", self._join),
        }

    def read(self) -> None:
        while self._at < len(self._line):
            self._steps.get(self._line[self._at], self._letter)()
        self._end_word()
        if self._command.words or self._command.targets or self._command.joint:
            self.script.commands.append(self._command)
        elif self.script.commands and self.script.commands[-1].joint:
            self.script.plain = False

    def _take(self, text: str, length: int) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)
        self._at += length

    def _letter(self) -> None:
        end = self._at + 1
        while end < len(self._line) and self._line[end] not in self._steps:
            end += 1
        self._take(self._line[self._at : end], end - self._at)

    def _odd(self) -> None:
        self.script.plain = False
        self._take(self._line[self._at], 1)

    def _wild(self) -> None:
        self._pattern = True
        self._take(self._line[self._at], 1)

    def _tilde(self) -> None:
        before = "".join(self._word or [])[-1:]
        if before in {"", ":", "="}:
            self.script.plain = False
        self._take("~", 1)

    def _hash(self) -> None:
        if self._word is None:
            self.script.plain = False
            end = self._line.find("\n", self._at)
            self._at = len(self._line) if end < 0 else end
        else:
            self._take("#", 1)

    def _blank(self) -> None:
        self._end_word()
        self._at += 1

    def _single(self) -> None:
        end = self._closing("'", self._at + 1)
        self._take(self._line[self._at + 1 : end], end + 1 - self._at)

    def _double(self) -> None:
        self._take("", 1)
        while self._at < len(self._line) and self._line[self._at] != '"':
            match self._line[self._at]:
                case "\\" if self._line[self._at + 1 : self._at + 2] in set('$`"\\\n'):
                    self._escape()
                case "$":
                    self._dollar(quoted=True)
                case "`":
                    self._backtick()
                case letter:
                    self._take(letter, 1)
        self.script.plain &= self._at < len(self._line)
        self._at += 1

    def _escape(self) -> None:
        letter = self._line[self._at + 1 : self._at + 2]
        if letter in {"", "\n"}:  # a line goes on: what stands around it is one word
            self.script.plain = False
            self._at += 2
        else:
            self._take(letter, 2)

    def _dollar(self, *, quoted: bool = False) -> None:
        self.script.plain = False
        follows = self._line[self._at + 1 : self._at + 2]
        if follows == "(":
            end = self._matching(self._at + 1)
            self.script.inner.append(self._line[self._at + 2 : end])
            self._take("", end + 1 - self._at)
        elif follows == "'" and not quoted:
            end = self._closing("'", self._at + 2)
            text = _CODE.sub(_decoded, self._line[self._at + 2 : end])
            self._take(text, end + 1 - self._at)
        elif follows == '"' and not quoted:
            self._at += 1
        else:
            self._take("$", 1)

    def _backtick(self) -> None:
        end = self._closing("`", self._at + 1)
        self.script.plain = False
        self.script.inner.append(self._line[self._at + 1 : end])
        self._take("", end + 1 - self._at)

    def _parenthesis(self) -> None:
        self.script.plain = False
        self._at += 1
        self._end_command("(")

    def _line_end(self) -> None:
        self.script.plain = False
        self._end_word()
        self._at += 1
        if self._command.joint == "<<":  # the rest is text, unless a shell reads it
            program = "".join(self._command.texts[:1]).rpartition("/")[2]
            if program not in _SHELLS:
                self._at = len(self._line)
            self._command.joint = ""
        self._end_command("\n")

    def _redirect(self) -> None:
        found = _REDIRECTION.match(self._line, self._at)
        assert found
        self.script.plain = False
        if "".join(self._word or ["x"]).isdigit():
            self._word = None
        self._end_word()
        self._at = found.end()
        self._redirection = found[0]
        if found[0].startswith("<<") and found[0] != "<<<":
            self._command.joint = "<<"

    def _join(self) -> None:
        if _REDIRECTION.match(self._line, self._at):
            return self._redirect()
        found = _JOINT.match(self._line, self._at)
        assert found
        self._at = found.end()
        self.script.plain &= found[0] in _PLAIN_JOINTS
        self._end_command(found[0])
        return None

    def _end_word(self) -> None:
        if self._word is None:
            return
        text = "".join(self._word)
        if self._redirection is not None:
            self._command.targets.append(text)
        else:
            self._command.words.append(Word(text, self._pattern))
        self._word, self._pattern, self._redirection = None, False, None

    def _end_command(self, joint: str) -> None:
        self._end_word()
        if not self._command.words and not self._command.targets:
            self.script.plain = False
        self._command.joint = joint
        self.script.commands.append(self._command)
        self._command, self._redirection = Command(), None

    def _closing(self, quote: str, start: int) -> int:
        end = self._line.find(quote, start)
        if end < 0:
            self.script.plain = False
            return len(self._line)
        return end

    def _matching(self, start: int) -> int:
        depth = 0
        for place in range(start, len(self._line)):
            depth += {"(": 1, ")": -1}.get(self._line[place], 0)
            if depth == 0:
                return place
        return len(self._line)


def _decoded(code: re.Match[str]) -> str:
    """One escape of `$'…'`; those for white space stay letters, as nothing here depends on them."""
    hexadecimal, octal = code[1] or code[2], code[3]
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    return chr(int(octal, 8)) if octal else code[4]
