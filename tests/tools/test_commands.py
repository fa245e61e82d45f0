from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teahouse.testing.case_files import read_cases
from teahouse.testing.shell_cases import judge as judge_cases
from teahouse.tools.commands import judge
from teahouse.tools.shell_words import read_script

CASES = Path(__file__).parents[1] / "cases"
TRICKS = [
    ";", "&", "|", "&&", "||", "|&", "\n", "\r", "\t", " ", "  ", "(", ")", "{", "}", "$", "`", "'",
    '"', "\\", "\\\n", "<", ">", ">>", "<<", "<<<", "<(", ">(", "$(", "${", "$'", '$"', "$((", "))",
    "#", " #", "~", "!", "*", "?", "[", "]", "=", "%", "^", "@", "-", "--", "X=1", "{a,b}", "1..3",
    "\u00a0", "\u2028", "\u200b", "\x0b", "\x0c", "\x85", "中", "é", "''", '""', "E", "x", "rec",
    "mak", "all", "mak all", "it", "eval", "exec", "command", "env", "if", "then", "fi",
    "for", "in", "do", "done", "case", "esac", "while", "function", "f()", "time", "coproc", "[[",
    "]]", ":", "IFS", "$IFS", "$@", "\\x41", "\\141", "\0",
]  # fmt: skip
tricks = st.lists(st.sampled_from(TRICKS), min_size=1, max_size=4).map("".join)
quoted = st.one_of(
    tricks.map(lambda text: f"'{text}'"),
    tricks.map(lambda text: f'"{text}"'),
    tricks.map("\\{}".format),
)
lines = st.lists(tricks | quoted, min_size=1, max_size=3).map("".join)


def test_all_cases_are_judged_as_they_say() -> None:
    for file in sorted(CASES.glob("shell*.jsonl")):
        assert not [one.id for one in judge_cases(read_cases(file)) if not one.passed]
    assert len(read_cases(CASES / "shell_more.jsonl")) >= 150


class Recorder:
    """A folder in which nothing exists but programs that note how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "cwd"
        self.folder.mkdir()
        self._log = folder / "log"
        self._programs = folder / "programs"
        self._programs.mkdir()
        for name in ("mak", "rec"):
            program = self._programs / name
            program.write_text(
                f"#!/bin/bash\n{{ printf '%s\\0' {name} \"$@\"; printf '\\n\\0'; }}"
                f" >> '{self._log}'\n"
            )
            program.chmod(0o755)

    def run(self, shell: str, line: str) -> tuple[list[list[bytes]], set[str]]:
        """What a real shell makes of `line`: the programs it calls, and the files it leaves."""
        self._log.write_bytes(b"")
        subprocess.run(
            [shell, "-c", line],
            cwd=self.folder,
            env={"PATH": str(self._programs)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        calls = [call.split(b"\0")[:-1] for call in self._log.read_bytes().split(b"\n\0") if call]
        left = {one.name for one in self.folder.iterdir()}
        for one in self.folder.iterdir():
            one.unlink()
        return calls, left


@settings(max_examples=500, deadline=None)
@given(st.tuples(st.sampled_from(["mak all", "mak", "rec x", ""]), lines, lines))
def test_what_runs_by_a_grant_is_that_one_command_in_a_real_shell(
    parts: tuple[str, str, str],
) -> None:
    start, middle, end = parts
    line = f"{start} {middle} {end}"
    if judge(line, ["mak all *", "rec x *"]) != "run":
        return
    script = read_script(line.strip(" \t\n"))
    (command,) = script.commands
    if any(word.pattern for word in command.words):
        return  # names of files may take its place, which the grant's star covers
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        for shell in ("bash", "dash"):
            calls, left = recorder.run(f"/bin/{shell}", line)
            assert calls == [[os.fsencode(text) for text in command.texts]]
            assert not left


@settings(deadline=None)
@given(lines, lines)
def test_a_line_with_anything_odd_never_runs(before: str, after: str) -> None:
    for trick in ("$(x)", "`x`", "\n", "$x", "; rec", "| rec", "& rec", "> x", "< x"):
        quoted_before = before.replace("'", "").replace('"', "").replace("\\", "")
        line = f"mak all {quoted_before}{trick} {after}x"
        assert judge(line, ["mak all *"]) != "run"


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_gets_a_judgement(line: str) -> None:
    assert judge(line, [line, "*"]) in {"run", "ask", "deny"}


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Zs", "Zl", "Zp", "Co",
       "Cn"], exclude_characters="'"), max_size=6), min_size=1, max_size=5))  # fmt: skip
def test_quoted_words_are_read_as_they_are(words: list[str]) -> None:
    script = read_script(" ".join(f"'{word}'" for word in ["rec", *words]))
    assert script.plain
    assert script.commands[0].texts == ["rec", *words]


@pytest.mark.parametrize(
    "command",
    ["rm -rf build", "rm -rf node_modules /tmp/cache", "git push --force", "dd if=a of=b",
     "sudo systemctl restart nginx", "find . -name '*.pyc' -delete", "chmod -R 755 public",
     "docker system prune -af", "mkfs.ext4 image.img", "shred -u secret.txt", "cp -r / backup",
     "du -sh /", "ls -R /", "tar czf etc.tgz /etc", "rsync -a /home/me/ /mnt/backup/",
     "grep -r 'rm -rf /' .", "echo 'mkfs.ext4 /dev/sda' > notes.txt", "cat /dev/sda | head -c 512",
     "rm -rf /home/me/old", "mv /etc/hosts.bak /etc/hosts", "chown me /etc/hosts"],
)  # fmt: skip
def test_commands_that_only_look_like_the_end_of_the_host_are_not_denied(command: str) -> None:
    assert judge(command) != "deny"
