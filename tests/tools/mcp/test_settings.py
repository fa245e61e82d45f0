"""How a server is written down: by us, and by others whose JSON people paste."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from teahouse.config.live import LiveSettings
from teahouse.core.errors import SettingsError
from teahouse.tools.mcp.names import LONGEST, tool_name
from teahouse.tools.mcp.settings import ServerSettings, read_pasted
from tests.tools.mcp.ground import MemoryVault

TIME = {"command": "uvx", "args": ["mcp-server-time"], "env": {"TZ": "Asia/Shanghai"}}


@pytest.mark.parametrize("table", ["mcpServers", "servers", None])
def test_what_makers_of_servers_print_can_be_pasted(table: str | None) -> None:
    servers = {"time": TIME}
    assert read_pasted(json.dumps({table: servers} if table else servers)) == {
        "time": ServerSettings(
            command="uvx", args=("mcp-server-time",), env={"TZ": "Asia/Shanghai"}
        )
    }


@pytest.mark.parametrize("key", ["url", "serverUrl", "httpUrl"])
def test_a_server_on_the_network_is_read_under_each_of_its_names(key: str) -> None:
    told = {"type": "http", key: "https://x.example/mcp", "headers": {"X-Key": "k"}}
    assert read_pasted(json.dumps({"mcpServers": {"My server!": told}})) == {
        "My-server": ServerSettings(url="https://x.example/mcp", headers={"X-Key": "k"})
    }


@pytest.mark.parametrize("switch", [{"disabled": True}, {"enabled": False}])
def test_a_server_that_was_switched_off_stays_so(switch: dict[str, bool]) -> None:
    (server,) = read_pasted(json.dumps({"mcpServers": {"a": {**TIME, **switch}}})).values()
    assert not server.enabled


def test_bare_numbers_in_the_environment_mean_their_text() -> None:
    told = {"command": "x", "env": {"PORT": 8080, "DEBUG": True}}
    (server,) = read_pasted(json.dumps({"a": told})).values()
    assert server.env == {"PORT": "8080", "DEBUG": "true"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "mcp_pasted"),
        ("[]", "mcp_pasted"),
        ("{}", "mcp_pasted"),
        ('{"mcpServers": []}', "mcp_pasted"),
        ('{"mcpServers": {"a": "b"}}', "mcp_pasted"),
        ('{"a": {"command": ["no", "text"]}}', "mcp_pasted"),
        ('{"!!": {"command": "x"}}', "mcp_pasted"),
        ('{"a": {"args": ["no", "command"]}}', "mcp_settings"),
        ('{"a": {"command": "x", "url": "https://y.example"}}', "mcp_settings"),
        ('{"a": {"type": "sse", "url": "https://y.example"}}', "mcp_pasted_sse"),
        ("[" * 100_000, "mcp_pasted"),
    ],
)
def test_what_is_no_server_is_refused(text: str, code: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read_pasted(text)
    assert raised.value.code == code


def test_a_secret_is_in_no_representation() -> None:
    assert "geheim" not in repr(ServerSettings(url="https://x.example", headers={"K": "geheim"}))


def test_a_plain_name_stays_as_it_is() -> None:
    assert tool_name("files", "read_file") == "mcp__files__read_file"


def test_every_pair_has_a_name_of_its_own_that_every_vendor_takes() -> None:
    pairs = [
        *(("a", "b__c"), ("a__b", "c"), ("a", "_b"), ("a_", "b"), ("a", "b.c"), ("a", "b_c")),
        *(("a", "b c"), ("a", "时间"), ("a", "时"), ("a", ""), ("a", "x" * 100), ("a", "x" * 101)),
        *(("a" * 64, "b"), ("a" * 64, "c"), ("a", "\ud800")),
    ]
    names = [tool_name(*pair) for pair in pairs]
    assert len(set(names)) == len(names)
    for name in names:
        assert name.startswith("mcp__")
        assert len(name) <= LONGEST
        assert name.isascii()
        assert not set(name) - set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
        )
    assert [tool_name(*pair) for pair in pairs] == names


@pytest.mark.anyio
async def test_secrets_of_a_server_are_sealed_and_reach_it_opened(tmp_path: Path) -> None:
    vault = MemoryVault()
    live = await LiveSettings.open(tmp_path, {}, vault)
    await live.patch(
        {
            "mcp": {
                "servers": {
                    "time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"KEY": "k-1"}},
                    "far": {
                        "url": "https://x.example/mcp",
                        "headers": {"Authorization": "Bearer b-1"},
                        "client_secret": "s-1",
                    },
                }
            }
        }
    )
    written = (tmp_path / "config.toml").read_text()
    assert not any(secret in written for secret in ("k-1", "b-1", "s-1"))
    assert vault.kept == {
        "mcp/time/env/KEY": "k-1",
        "mcp/far/headers/Authorization": "Bearer b-1",
        "mcp/far/client_secret": "s-1",
    }
    servers = live.mcp_servers
    assert servers["time"].env == {"KEY": "k-1"}
    assert servers["far"].headers == {"Authorization": "Bearer b-1"}
    assert servers["far"].client_secret == "s-1"
    shown = json.dumps(live.public())
    assert not any(secret in shown for secret in ("k-1", "b-1", "s-1"))


@pytest.mark.anyio
async def test_a_new_secret_is_a_change_and_a_kept_one_does_not_follow_to_another_address(
    tmp_path: Path,
) -> None:
    live = await LiveSettings.open(tmp_path, {}, MemoryVault())
    far = {"url": "https://x.example/mcp", "headers": {"X-Key": "one"}}
    await live.patch({"mcp": {"servers": {"far": far}}})
    heard: list[str] = []

    async def listen(now: LiveSettings) -> None:
        heard.append(now.mcp_servers["far"].headers["X-Key"])

    live.on_change(listen)
    await live.patch({"mcp": {"servers": {"far": {"headers": {"X-Key": "two"}}}}})
    assert heard == ["two"]
    with pytest.raises(SettingsError) as raised:
        await live.patch({"mcp.servers.far.url": "https://evil.example/mcp"})
    assert raised.value.code == "setting_key_for_new_address"


def test_nothing_heavy_is_loaded_before_a_server_is_entered() -> None:
    asked = (
        "import sys, teahouse.tools.mcp.servers, teahouse.cli.main, teahouse.config.live\n"
        "print(*({'mcp', 'mcp_types', 'httpx2', 'pydantic', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
