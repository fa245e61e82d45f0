"""Commands on a home without a server, next to one, and where the world is in the way."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import socket
import stat
import subprocess
from pathlib import Path

from teahouse.llm.local.model_file import model_file
from tests.cli.conftest import PATIENCE_S, Teahouse


def test_a_command_opens_a_home_that_nobody_serves_and_leaves_no_trace_of_a_server(
    empty: Teahouse,
) -> None:
    first = empty.json("ask", "hello")
    second = empty.json("sessions", "list")

    assert first["text"] == "echo: hello"
    assert [one["id"] for one in second["items"]] == [first["conversation"]]
    assert not (empty.home / "run" / "server.json").exists()
    assert stat.S_IMODE(empty.home.stat().st_mode) == 0o700


def test_a_command_uses_the_server_that_has_the_home_and_a_second_server_is_refused(
    empty: Teahouse,
) -> None:
    with empty.serving() as opened:
        known = json.loads((empty.home / "run" / "server.json").read_text(encoding="utf-8"))
        asked = empty("ask", "hello")
        second = empty("serve", "--port", "0")
        alone = empty("--no-browser")

    assert known["url"] == opened["url"]
    assert asked.stdout == "echo: hello\n"
    assert (second.returncode, second.stdout) == (3, "")
    assert str(empty.home) in second.stderr
    assert "Traceback" not in second.stderr
    assert opened["url"] in alone.stdout
    assert alone.returncode == 0
    assert not (empty.home / "run" / "server.json").exists()


def test_teahouse_alone_opens_the_house_and_tells_where_to_set_the_password(
    empty: Teahouse,
) -> None:
    with empty.serving("--no-browser", end=signal.SIGINT) as opened:
        assert opened["setup"] == opened["url"]
        assert empty("people", "password", "owner", "--password", "a good password").returncode == 0
    with empty.serving("--no-browser") as opened:
        assert opened["setup"] is None


def test_an_answer_goes_on_when_the_server_dies_and_comes_back(empty: Teahouse) -> None:
    with empty.serving(end=signal.SIGKILL):
        asking = subprocess.Popen(
            empty.command("ask", "[slow 60 50]"),
            env=empty.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert asking.stdout is not None
        begun = ""
        while " 3" not in begun:
            begun += os.read(asking.stdout.fileno(), 4096).decode()
    with empty.serving():
        rest, _ = asking.communicate(timeout=PATIENCE_S)
        told = empty("sessions", "show", "last").stdout

    assert asking.returncode == 0
    assert rest.rstrip().endswith(" 58 59 60")
    assert told.count(" 58 59 60") == 1


def test_a_home_that_is_locked_and_silent_is_told_and_leaves_with_3(empty: Teahouse) -> None:
    empty.home.mkdir()
    handle = os.open(empty.home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        asked = empty("ask", "hello")
        doctor = empty("doctor", "--json")
    finally:
        os.close(handle)

    assert (asked.returncode, asked.stdout) == (3, "")
    assert str(empty.home) in asked.stderr
    assert "--home" in asked.stderr
    found = {one["name"]: one["status"] for one in json.loads(doctor.stdout)["checks"]}
    assert (doctor.returncode, found["answer"]) == (1, "failed")


def test_word_of_a_server_that_died_is_not_believed(empty: Teahouse) -> None:
    word = empty.home / "run" / "server.json"
    word.parent.mkdir(parents=True)
    for text in ('{"url": "http://127.0.0.1:1", "key": "th_x", "pid": 1}', "{", "[]"):
        word.write_text(text, encoding="utf-8")

        assert empty("ask", "hello").stdout == "echo: hello\n"


def test_a_port_that_is_taken_is_told(empty: Teahouse) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = empty("serve", "--port", port)
        examined = empty("doctor", "--json", stdin="")
        doctor = subprocess.run(
            empty.command("doctor", "--json"),
            env=empty.environment | {"TEAHOUSE_SERVER__PORT": port},
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )

    assert done.returncode == 1
    assert port in done.stderr
    found = {one["name"]: one for one in json.loads(doctor.stdout)["checks"]}
    assert found["port"]["status"] == "failed"
    assert "--port" in found["port"]["hint"]
    assert examined.returncode == 0


def test_an_unknown_setting_keeps_the_house_shut_and_undo_opens_it(empty: Teahouse) -> None:
    assert empty.json("config", "set", "log.level", "debug")["value"] == "debug"
    file = empty.home / "config.toml"
    good = file.read_text(encoding="utf-8")
    (empty.home / "config.toml.previous").write_text(good, encoding="utf-8")
    file.write_text(good + "levle = 1\n", encoding="utf-8")

    shut = empty("ask", "hello")
    mistyped = empty("ask", "hello", env={"TEAHOUSE_SERVER_PORT": "1"})
    doctor = json.loads(empty("doctor", "--json").stdout)
    undone = empty("config", "undo")

    assert shut.returncode == 1
    assert f"{file}:{len(good.splitlines()) + 1}" in shut.stderr
    assert "log.level" in shut.stderr
    assert mistyped.returncode == 1
    assert doctor["checks"][0]["status"] == "failed"
    assert undone.returncode == 0
    assert empty("ask", "hello").stdout == "echo: hello\n"


def test_a_model_that_cannot_be_reached_is_told_with_what_to_do(tmp_path: Path) -> None:
    teahouse = Teahouse(tmp_path / "home", "http://127.0.0.1:9/v1")

    done = teahouse("ask", "hello")
    doctor = teahouse("doctor", "--json")

    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) >= 2
    found = {one["name"]: one for one in json.loads(doctor.stdout)["checks"]}
    assert doctor.returncode == 1
    assert found["answer"]["hint"]


def test_a_house_without_any_model_says_how_to_get_one(tmp_path: Path) -> None:
    teahouse = Teahouse(tmp_path / "home")

    done = teahouse("ask", "hello")
    listed = teahouse("models", "list")

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) >= 2
    assert "teahouse models pull" in listed.stderr


def test_a_damaged_database_is_found_by_the_doctor(empty: Teahouse) -> None:
    empty.json("ask", "hello")
    database = empty.home / "teahouse.db"
    data = bytearray(database.read_bytes())
    data[4096 * 2 : 4096 * 4] = b"\xff" * 8192
    database.write_bytes(data)

    doctor = empty("doctor", "--json")

    found = {one["name"]: one for one in json.loads(doctor.stdout)["checks"]}
    assert doctor.returncode == 1
    assert found["store"]["status"] == "failed"
    assert str(empty.home) in found["store"]["hint"]


def test_a_model_file_that_is_there_is_not_fetched_again(empty: Teahouse, tmp_path: Path) -> None:
    model = model_file("qwen2.5-coder-0.5b")
    file = tmp_path / model.file
    file.touch()
    os.truncate(file, model.size)
    mark = {"sha256": model.sha256, "size": model.size, "mtime_ns": file.stat().st_mtime_ns}
    file.with_suffix(".verified").write_text(json.dumps(mark), encoding="utf-8")
    empty.environment["TEAHOUSE_LOCAL_MODEL__FOLDER"] = str(tmp_path)

    told = empty.json("models", "pull")

    assert told == {"id": model.id, "file": str(file), "size": model.size}
    assert not (empty.home / "teahouse.db").exists()


def test_the_local_model_is_known_by_its_file_without_opening_the_house(
    empty: Teahouse,
) -> None:
    unknown = empty("models", "pull", "gpt-9")

    assert unknown.returncode == 1
    assert "qwen2.5-coder-0.5b" in unknown.stderr
    assert not (empty.home / "teahouse.db").exists()


def test_streams_that_are_closed_are_no_place_for_a_socket(empty: Teahouse) -> None:
    command = shlex.join(empty.command("agents", "list"))

    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["/bin/sh", "-c", f"{command} {closed}"],
            env=empty.environment,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, closed


def test_an_output_that_takes_no_more_is_told_in_a_sentence(empty: Teahouse) -> None:
    talk = empty.json("ask", "hello")["conversation"]

    for command in (["agents", "list"], ["sessions", "export", talk]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                empty.command(*command),
                env=empty.environment,
                stdout=full,
                stderr=subprocess.PIPE,
                timeout=PATIENCE_S,
                check=False,
            )
        assert done.returncode == 1
        assert done.stderr.decode().startswith("The output cannot be written: ")
        assert len(done.stderr.splitlines()) == 1


def test_input_without_end_is_not_read_to_its_end(empty: Teahouse) -> None:
    with Path("/dev/zero").open("rb") as endless:
        asked = subprocess.run(
            empty.command("ask"),
            env=empty.environment,
            stdin=endless,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
            check=False,
        )
    added = empty("agents", "add", "Host 2", "--soul", "/dev/zero")

    assert asked.returncode == added.returncode == 1
    assert b"larger than" in asked.stderr
    assert "larger than" in added.stderr
