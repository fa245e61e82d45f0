"""Commands against a running house, as a person or a script calls them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.cli.conftest import PATIENCE_S, Teahouse


def test_ask_prints_the_answer_and_nothing_else(house: Teahouse) -> None:
    done = house("ask", "Why is tea bitter? 茶")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "echo: Why is tea bitter? 茶\n"


def test_ask_adds_standard_input_to_the_question(house: Teahouse) -> None:
    told = house.json("ask", "Summarise", stdin="one\ntwo\n")

    assert told["text"] == "echo: Summarise\n\none\ntwo"
    assert set(told) == {"text", "usage", "run", "conversation", "ending"}
    assert told["usage"]["output"] > 0
    assert told["run"].startswith("r_")


def test_ask_takes_all_of_its_question_from_a_pipe(house: Teahouse) -> None:
    assert house("ask", stdin="\ufeffhello\n").stdout == "echo: hello\n"


def test_ask_goes_on_with_a_conversation(house: Teahouse) -> None:
    first = house.json("ask", "one")
    second = house.json("ask", "two", "--conversation", "last")
    third = house.json("ask", "three", "--conversation", first["conversation"][:20])

    assert first["conversation"] == second["conversation"] == third["conversation"]
    shown = house("sessions", "show", first["conversation"]).stdout
    assert shown.count("\necho: ") == 3


def test_ask_uses_the_agent_and_the_model_that_it_is_told(house: Teahouse) -> None:
    agents = house.json("agents", "list")["items"]
    told = house.json("ask", "hi", "--agent", agents[1]["name"].lower(), "--model", "fake/other")

    export = json.loads(house("sessions", "show", told["conversation"], "--json").stdout)
    assert export["conversation"]["agents"] == [agents[1]["id"]]
    wrong = house("ask", "hi", "--model", "nobody/other")
    assert wrong.returncode == 1
    assert "nobody/other" in wrong.stderr


def test_a_tool_does_not_disturb_what_ask_prints(house: Teahouse) -> None:
    done = house("ask", "[tool now] x")

    assert done.stdout.startswith("echo: [tool now] x now: ")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("question", "stdin", "part", "said"),
    [
        ("[fail 401]", "", "", "401"),
        ("[cut]", "", "echo: \n", "cut"),
        ("[html]", "", "", "dialect"),
        ("   ", "", "", "question"),
        ("", b"\xb0\xa1", "", "UTF-8"),
        ("x" * 200_001, "", "", "200"),
    ],
)
def test_an_answer_that_fails_says_so_and_leaves_with_1(
    house: Teahouse, question: str, stdin: str | bytes, part: str, said: str
) -> None:
    if len(question) > 1000:
        question, stdin = "", question
    done = house("ask", *([question] if question else []), stdin=stdin)

    assert (done.returncode, done.stdout) == (1, part)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) >= 2, "a hint says what to do"
    assert "Traceback" not in done.stderr


def test_a_name_that_is_no_agents_is_told_with_those_there_are(house: Teahouse) -> None:
    agents = house.json("agents", "list")["items"]
    done = house("ask", "hi", "--agent", agents[0]["name"] + "x")

    assert done.returncode == 1
    assert agents[0]["name"] in done.stderr.splitlines()[1]


def test_an_agent_is_added_edited_and_removed(house: Teahouse, tmp_path: Path) -> None:
    soul = tmp_path / "soul.md"
    soul.write_bytes("你是一位耐心的茶艺师。请用简体中文回答所有关于茶的问题。".encode("gb18030"))

    made = house.json("agents", "add", "Barista", "--soul", str(soul), "--description", "Pours")
    edited = house.json("agents", "edit", "barista", "--temperature", "0.5", "--model", "fake/fake")
    house("agents", "edit", "Barista", "--soul", "-", stdin="You pour coffee.")
    asked = house("ask", "hi", "--agent", "Barista")
    unsure = house("agents", "remove", "Barista")
    gone = house.json("agents", "remove", "Barista", "--yes")

    assert made["soul"].startswith("你是一位耐心的茶艺师")
    assert (edited["temperature"], edited["model"]) == (0.5, "fake/fake")
    assert asked.returncode == 0
    assert unsure.returncode == 1
    assert "--yes" in unsure.stderr
    assert gone == {"id": made["id"], "removed": True}
    assert "Barista" not in house("agents", "list").stdout


def test_an_editor_changes_the_soul(house: Teahouse, tmp_path: Path) -> None:
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\necho "You love oolong." >> "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    made = house.json("agents", "add", "Edited", "--soul", "/dev/null")

    done = house("agents", "edit", made["id"], env={"EDITOR": f"'{editor}'"})
    still = house("agents", "edit", made["id"], env={"EDITOR": "true"})
    broken = house("agents", "edit", made["id"], env={"EDITOR": "/no/such/editor"})
    none = house("agents", "edit", made["id"])

    assert done.returncode == 0, done.stderr
    assert "Nothing has changed" in still.stdout
    assert "/no/such/editor" in broken.stderr
    assert "--soul" in none.stderr
    shown = house.json("agents", "edit", made["id"], "--description", "x")
    assert shown["soul"] == "You love oolong.\n"


def test_an_archived_agent_can_be_brought_back(house: Teahouse) -> None:
    made = house.json("agents", "add", "Sleeper")

    house.json("agents", "edit", "Sleeper", "--archive")
    names = [one["name"] for one in house.json("agents", "list")["items"]]
    back = house.json("agents", "edit", "Sleeper", "--restore")

    assert "Sleeper" not in names
    assert (back["id"], back["archived"]) == (made["id"], False)


def test_conversations_are_listed_exported_and_deleted(house: Teahouse, tmp_path: Path) -> None:
    conversation = house.json("ask", "keep this")["conversation"]
    file = tmp_path / "talk.json"

    listed = house.json("sessions", "list", "--limit", "1")
    markdown = house("sessions", "export", conversation)
    house.json("sessions", "export", conversation, "--format", "json", "--output", str(file))
    nowhere = house("sessions", "export", conversation, "--output", "/no/such/folder/x")
    unsure = house("sessions", "delete", conversation)
    deleted = house.json("sessions", "delete", conversation, "--yes")
    again = house("sessions", "show", conversation)

    assert [one["id"] for one in listed["items"]] == [conversation]
    assert "echo: keep this" in markdown.stdout
    assert len(json.loads(file.read_text(encoding="utf-8"))["posts"]) == 2
    assert nowhere.returncode == 1
    assert "/no/such/folder/x" in nowhere.stderr
    assert unsure.returncode == 1
    assert deleted == {"id": conversation, "deleted": True}
    assert again.returncode == 1


def test_people_come_in_with_the_password_they_are_given(house: Teahouse) -> None:
    made_up = house.json("people", "add", "Ana", "--role", "guest")
    house("people", "add", "Bo", "--password-stdin", stdin="a good password\n")
    short = house("people", "add", "Cy", "--password", "short")
    renewed = house.json("people", "password", "ana")
    people = {one["name"]: one["role"] for one in house.json("people", "list")["items"]}
    house.json("people", "remove", "Ana", "--yes")

    assert len(made_up["password"]) >= 16
    assert renewed["password"] != made_up["password"]
    assert (people["Ana"], people["Bo"]) == ("guest", "member")
    assert "Cy" not in people
    assert short.returncode == 1
    assert "Ana" not in house("people", "list").stdout


def test_the_owner_may_forget_the_password_on_the_machine_itself(house: Teahouse) -> None:
    short = house("people", "password", "owner", "--password", "short")
    house.json("people", "password", "owner", "--password", "a better password")

    assert short.returncode == 1
    assert _can_log_in(house, "a better password")
    assert not _can_log_in(house, "short")


def _can_log_in(house: Teahouse, password: str) -> bool:
    word = json.loads((house.home / "run" / "server.json").read_text(encoding="utf-8"))
    body = json.dumps({"password": password}).encode()
    headers = {"Content-Type": "application/json"}
    try:
        with urlopen(
            Request(f"{word['url']}/api/login", body, headers), timeout=PATIENCE_S
        ) as told:
            return told.status == 200
    except HTTPError as error:
        with error:
            return False


def test_a_key_is_shown_once_and_removed_by_its_name(house: Teahouse) -> None:
    made = house.json("keys", "create", "--name", "laptop")

    assert set(made) == {"id", "key"}
    listed = house.json("keys", "list")["items"]
    assert [one["name"] for one in listed] == ["laptop"]
    assert made["key"] not in json.dumps(listed)
    assert house.json("keys", "remove", "laptop") == {"id": made["id"], "removed": True}
    assert house("keys", "remove", "laptop").returncode == 1


def test_a_key_is_made_for_some_things_and_with_limits(house: Teahouse) -> None:
    scopes = ("--scope", "openai/*", "--scope", "models")
    house.json("keys", "create", "bot", *scopes, "--budget", "0.5", "--rate", "60")
    [listed] = house.json("keys", "list")["items"]
    table = house("keys", "list").stdout
    wrong = house("keys", "create", "bot", "--scope", "everything")

    assert listed["scopes"] == ["openai/*", "models"]
    assert (listed["budget"], listed["rate"], listed["concurrent"]) == (0.5, 60, None)
    for word in ("openai/*, models", "0.5", "60"):
        assert word in table
    assert wrong.returncode == 1
    assert "agent/NAME" in wrong.stderr
    house.json("keys", "remove", "bot")


def test_settings_are_changed_shown_and_undone(house: Teahouse) -> None:
    file = Path(house("config", "path").stdout.strip())
    changed = house.json("config", "set", "limits.steps", "7")
    secret = house("config", "set", "providers.deep.api_key", stdin="sk-0123456789abcd\n")
    shown = house.json("config", "get", "providers.deep.api_key")
    text = file.read_text(encoding="utf-8")
    house.json("config", "undo")

    assert changed == {"key": "limits.steps", "value": 7}
    assert house("config", "get", "limits.steps").stdout == "7\n"
    assert "sk-" not in secret.stdout + text
    assert shown == "••••abcd"
    assert "deep" not in house.json("config", "get", "providers")
    house.json("config", "set", "limits.steps", "--unset")
    assert house.json("config", "get")["limits"]["steps"] == 25


def test_a_setting_with_quotes_and_a_whole_table_are_shown_as_they_were_set(
    house: Teahouse,
) -> None:
    quoted = house("config", "set", 'prices."mine/gpt-4.1"', "[1, 2]")
    table = house("config", "set", "aliases.fast", '{"mine/gpt-4.1": 1}')
    for key in ("prices", "aliases"):
        house("config", "set", key, "--unset")

    assert (quoted.returncode, quoted.stdout) == (0, 'prices."mine/gpt-4.1" = 1.0, 2.0\n')
    assert (table.returncode, table.stdout) == (0, 'aliases.fast = {"mine/gpt-4.1": 1.0}\n')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("set", "limits.stepz", "7"), "limits.steps"),
        (("set", "limits.steps", "many"), "1 … 1000"),
        (("set", "default_model", "a/b"), "TEAHOUSE_DEFAULT_MODEL"),
        (("get", "limits.stepz"), "limits.stepz"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_to_do(
    house: Teahouse, arguments: tuple[str, ...], said: str
) -> None:
    done = house("config", *arguments)

    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr


def test_usage_is_added_up_and_an_unknown_price_is_said(house: Teahouse) -> None:
    house("models", "test")
    by_model = {row["id"]: row for row in house.json("models", "usage", "--by", "model")["items"]}
    table = house("models", "usage", "--by", "model").stdout

    one = next(row for name, row in by_model.items() if name.startswith("fake/"))
    assert one["calls"] >= one["unpriced"] > 0  # what was refused at once cost nothing
    assert "unknown" in table
    assert house("models", "usage", "--by", "moon").returncode == 2


def test_models_are_listed_and_tested(house: Teahouse) -> None:
    listed = house.json("models", "list")["items"]
    good = house.json("models", "test")
    wrong = house("models", "test", "nobody/x")

    assert "fake/fake" in [one["id"] for one in listed]
    assert (good["ok"], good["model"]) == (True, "fake/fake")
    assert wrong.returncode == 1
    assert "nobody/x" in wrong.stderr


def test_words_come_in_the_language_of_the_environment(house: Teahouse) -> None:
    done = house("ask", "hi", "--agent", "nobody", env={"TEAHOUSE_LANGUAGE": "zh-CN"})
    refused = house("config", "set", "limits.steps", "0", env={"TEAHOUSE_LANGUAGE": "zh-HK"})

    assert "没有叫 nobody 的智能体" in done.stderr
    assert "設定項" in refused.stderr


def test_a_pipe_that_is_closed_early_is_no_error(house: Teahouse) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            house.command("ask", "[long 20000]"),
            env=house.environment,
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
            check=False,
        )
    finally:
        os.close(write)

    assert (done.returncode, done.stderr) == (0, b"")


def test_no_colour_reaches_a_pipe(house: Teahouse) -> None:
    for arguments in (("agents", "list"), ("config", "get"), ("doctor",)):
        assert "\x1b" not in house(*arguments).stdout


def test_doctor_finds_a_sound_house_sound(house: Teahouse) -> None:
    found = house.json("doctor")

    assert found["ok"]
    assert [one["name"] for one in found["checks"]] == [
        "settings",
        "home",
        "disk",
        "store",
        "port",
        "page",
        "model",
        "answer",
        "sandbox",
        "locale",
    ]
