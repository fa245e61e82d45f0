"""Settings: the file, the environment over it, and what a person is told when one is wrong."""

from __future__ import annotations

import logging
import stat
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teahouse.config import keys, tree
from teahouse.config.file import SettingsFile, line_of, undo, write_atomically
from teahouse.config.home import FILE, home_folder, language, surroundings
from teahouse.config.keys import EMBEDDED
from teahouse.config.live import LiveSettings, mask
from teahouse.config.load import load, variable
from teahouse.core import i18n
from teahouse.core.errors import SettingsError, StorageFull
from teahouse.llm.local.provider import NAME as LOCAL
from teahouse.llm.settings import ProviderSettings

EXAMPLE = {
    "TEAHOUSE_PROVIDERS__FAKE__WIRE": "openai_chat",
    "TEAHOUSE_PROVIDERS__FAKE__BASE_URL": "http://127.0.0.1:9100/v1",
    "TEAHOUSE_DEFAULT_MODEL": "fake/fake",
    "TEAHOUSE_OWNER_PASSWORD": "open sesame",
    "TEAHOUSE_HOME": "/nowhere",
    "PATH": "/bin",
}
WRITTEN = """\
# mine
language = "zh-HK"  # as at home

[server]
port = 9000

[providers.MyProv]
base_url = "https://api.example.com/v1"
headers = { "X-Api-Key" = "abcdefghijkl1234", User-Agent = "tea" }
"""


def write(home: Path, text: str, mode: int = 0o600) -> Path:
    home.mkdir(exist_ok=True)
    file = home / "config.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def refused(home: Path, environ: Mapping[str, str] | None = None) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load(home, environ or {})
    return caught.value


class Safe:
    """Secrets in memory. With `lost` those there are do not open any more, as without the home's
    key; for the name `full_for` there is no room."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.lost, self.full_for = False, ""

    async def put(self, name: str, value: str, /) -> None:
        if name == self.full_for:
            raise StorageFull("storage_full")
        self.values[name], self.lost = value, False

    async def get(self, name: str, /) -> str | None:
        if self.lost and name in self.values:
            raise SettingsError("secret_unreadable", name=name)
        return self.values.get(name)

    async def remove(self, name: str, /) -> None:
        self.values.pop(name, None)


# What is read ------------------------------------------------------------------------------------


def test_without_file_and_environment_every_setting_has_its_default(tmp_path: Path) -> None:
    config = load(tmp_path, {})

    assert (config.server.host, config.server.port) == ("127.0.0.1", 8788)
    assert config.providers == {}
    assert config.language is None
    assert config.home == tmp_path


def test_the_environment_alone_sets_up_a_provider_and_the_owner(tmp_path: Path) -> None:
    config = load(tmp_path, EXAMPLE)

    assert config.providers["fake"].base_url == "http://127.0.0.1:9100/v1"
    assert config.providers["fake"].api_key is None
    assert config.default_model == "fake/fake"
    assert config.owner_password == "open sesame"


def test_names_that_people_chose_stay_as_they_wrote_them(tmp_path: Path) -> None:
    write(tmp_path, WRITTEN)

    provider = load(tmp_path, {}).providers["MyProv"]

    assert provider.headers == {"X-Api-Key": "abcdefghijkl1234", "User-Agent": "tea"}


def test_a_variable_means_the_provider_of_the_file_in_any_case_of_letters(tmp_path: Path) -> None:
    write(tmp_path, WRITTEN)

    config = load(tmp_path, {"TEAHOUSE_PROVIDERS__MYPROV__BASE_URL": "http://localhost/v1"})

    assert list(config.providers) == ["MyProv"]
    assert config.providers["MyProv"].base_url == "http://localhost/v1"
    assert config.providers["MyProv"].headers["X-Api-Key"] == "abcdefghijkl1234"


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("SERVER__PORT", "0", lambda c: c.server.port == 0),
        ("SERVER__NAMES", "tea.example, 茶.example", lambda c: c.server.names[1] == "茶.example"),
        ("SERVER__NAMES", '["a,b"]', lambda c: c.server.names == ("a,b",)),
        ("LOCAL_MODEL__ENABLED", "false", lambda c: c.local_model.enabled is False),
        ("LIMITS__WALL_S", "1.5", lambda c: c.limits.wall_s == 1.5),
        ("LANGUAGE", "zh_HK.UTF-8", lambda c: c.language == "zh-HK"),
        ("PROVIDERS__X__API_KEY", "123", lambda c: c.providers["x"].api_key == "123"),
        (
            "PROVIDERS__X__HEADERS",
            '{"X-A": "1"}',
            lambda c: c.providers["x"].headers == {"X-A": "1"},
        ),
        (
            "PROVIDERS__X__HEADERS__X-Api-Key",
            "v",
            lambda c: c.providers["x"].headers == {"X-Api-Key": "v"},
        ),
        (
            "PROVIDERS__X__QUIRKS__VISION",
            "false",
            lambda c: c.providers["x"].quirks == {"vision": False},
        ),
        (
            "PROVIDERS__X__TIMEOUTS__IDLE_S",
            "5",
            lambda c: c.providers["x"].timeouts.idle_s == 5,
        ),
        ("SERVER__PORT", "", lambda c: c.server.port == 8788),
    ],
)
def test_a_variable_is_read_as_the_type_of_its_setting(
    tmp_path: Path, name: str, text: str, found: Any
) -> None:
    assert found(load(tmp_path, {f"TEAHOUSE_{name}": text}))


LEAVES = {
    "server.port": st.integers(0, 65535),
    "server.host": st.text(string.ascii_lowercase, min_size=1, max_size=9),
    "server.names": st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=9), max_size=3),
    "limits.steps": st.integers(1, 1000),
    "limits.wall_s": st.floats(0.5, 86_400, allow_nan=False),
    "local_model.enabled": st.booleans(),
    "local_model.start": st.sampled_from(["lazy", "eager"]),
    "log.json": st.booleans(),
    "default_model": st.text(string.ascii_lowercase + "/", min_size=1, max_size=9).filter(
        lambda text: text != "null"
    ),
    "providers.one.base_url": st.sampled_from(["http://a/v1", "https://b.example:1/"]),
    "providers.one.api_key": st.text(string.printable.strip(), min_size=1, max_size=9).filter(
        lambda text: text != "null"
    ),
}
some_leaves = st.fixed_dictionaries({}, optional=LEAVES)


def value_at(config: Any, key: str) -> Any:
    for name in key.split("."):
        config = config[name] if isinstance(config, dict) else getattr(config, name)
    return config


@settings(max_examples=60, deadline=None)
@given(in_file=some_leaves, in_environment=some_leaves)
def test_the_environment_wins_over_the_file_and_the_file_over_the_defaults(
    tmp_path_factory: pytest.TempPathFactory,
    in_file: dict[str, Any],
    in_environment: dict[str, Any],
) -> None:
    home = tmp_path_factory.mktemp("home")
    file = SettingsFile(home / FILE)
    file.write(file.edited({tuple(key.split(".")): value for key, value in in_file.items()}))
    environ = {
        variable(tuple(key.split("."))): value
        if isinstance(value, str)
        else msgspec.json.encode(value).decode()
        for key, value in in_environment.items()
    }

    config = load(home, environ)

    defaults = load(home / "empty", {})
    for key in LEAVES:
        if key in in_environment or key in in_file:
            expected = in_environment.get(key, in_file.get(key))
            found = value_at(config, key)
            assert (list(found) if isinstance(found, tuple) else found) == expected
        elif not key.startswith("providers"):
            assert value_at(config, key) == value_at(defaults, key)


def test_what_the_file_may_say_of_a_provider_is_what_the_model_layer_takes() -> None:
    ours, theirs = (
        {one.name: (one.type, one.default) for one in msgspec.structs.fields(kind)}
        for kind in (tree.Provider, ProviderSettings)
    )

    assert ours.keys() == theirs.keys()
    for name in ours.keys() - {"api_key", "api_keys", "headers"}:
        assert ours[name] == theirs[name]


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "suggestion"),
    [
        ("[server]\nprot = 1", 2, "server.port"),
        ("port = 1", 1, "server.port"),
        ('defualt_model = "a/b"', 1, "default_model"),
        ('[providers.x]\nbaseurl = "http://a"', 2, "providers.x.base_url"),
        ("[sever]\nport = 1", 1, "server"),
        ('\n\nserver.prt = 1\nlanguage = "en"', 3, "server.port"),
    ],
)
def test_an_unknown_key_of_the_file_is_refused_with_its_line_and_a_suggestion(
    tmp_path: Path, text: str, line: int, suggestion: str
) -> None:
    file = write(tmp_path, text)

    error = refused(tmp_path)

    assert error.code == "setting_mistyped"
    assert error.values["source"] == f"{file}:{line}"
    assert error.values["suggestion"] == suggestion


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("TEAHOUSE_SERVER_PORT", "TEAHOUSE_SERVER__PORT"),
        ("TEAHOUSE_SERVER__PROT", "TEAHOUSE_SERVER__PORT"),
        ("TEAHOUSE_PORT", "TEAHOUSE_SERVER__PORT"),
        ("TEAHOUSE_PROVIDERS__FAKE__BASEURL", "TEAHOUSE_PROVIDERS__FAKE__BASE_URL"),
        ("TEAHOUSE_DEFAULTMODEL", "TEAHOUSE_DEFAULT_MODEL"),
    ],
)
def test_an_unknown_variable_is_refused_with_one_that_exists(
    tmp_path: Path, name: str, suggestion: str
) -> None:
    error = refused(tmp_path, {name: "1"})

    assert error.values["source"] == name
    assert error.values["suggestion"] == suggestion
    assert suggestion in (error.problem("zh-CN").hint or "")


@pytest.mark.parametrize("name", ["TEAHOUSE_QQQQ", "TEAHOUSE_SERVER", "TEAHOUSE_PROVIDERS__X"])
def test_what_resembles_nothing_is_refused_all_the_same(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, {name: "1"}).code == "setting_unknown"


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ('[server]\nport = "8788"', "server.port", "0 … 65535"),
        ("[server]\nport = 65536", "server.port", "0 … 65535"),
        ('server = "here"', "server", "{KEY = …}"),
        ('[local_model]\nstart = "now"', "local_model.start", "lazy, eager"),
        ("log.json = 1", "log.json", "true, false"),
        ('language = "fr"', "language", "en-US, zh-CN, zh-HK"),
        ("[providers.x]\nmodels = 1", "providers.x.models", '["…", "…"]'),
        ("limits.wall_s = 0", "limits.wall_s", "> 0 … 86400"),
        ("prices = 1", "prices", "{NAME = [0.5, 2]}"),
    ],
)
def test_a_wrong_value_is_refused_with_what_the_setting_takes(
    tmp_path: Path, text: str, key: str, expected: str
) -> None:
    write(tmp_path, text)

    error = refused(tmp_path)

    assert (error.code, error.values["key"]) == ("setting_wrong", key)
    assert error.values["expected"] == expected


@pytest.mark.parametrize("url", ["localhost:9100", "ftp://a/v1", "http://", "http://a b/v1", "x"])
def test_a_base_url_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    error = refused(tmp_path, {"TEAHOUSE_PROVIDERS__X__BASE_URL": url})

    assert error.code == "setting_not_url"


def test_a_password_in_a_base_url_is_refused_unseen(tmp_path: Path) -> None:
    write(tmp_path, '[providers.x]\nbase_url = "https://me:hunter2@example.com/v1"')

    error = refused(tmp_path)

    assert error.code == "setting_url_secret"
    assert "hunter2" not in str(error)


def test_the_embedded_models_name_is_taken(tmp_path: Path) -> None:
    error = refused(tmp_path, {"TEAHOUSE_PROVIDERS__LOCAL__BASE_URL": "http://127.0.0.1:1/v1"})

    assert error.code == "provider_name_reserved"
    assert EMBEDDED == LOCAL


def test_a_pasted_key_loses_the_end_of_its_line_and_keeps_no_second_one(tmp_path: Path) -> None:
    def key(text: str) -> dict[str, str]:
        return {"TEAHOUSE_PROVIDERS__X__API_KEY": text}

    assert load(tmp_path, key(" sk-1\r\n")).providers["x"].api_key == "sk-1"
    error = refused(tmp_path, key("sk-1\r\nX-More: 1"))
    assert error.code == "setting_wrong"
    assert "sk-1" not in str(error)


def nested(levels: int) -> Any:
    return {"a": nested(levels - 1)} if levels else 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    "value",
    [{"a": None}, [None], [[[]], 2**63], float("inf"), -(10**30), nested(9), nested(300)],
    ids=lambda value: str(value)[:20],
)
async def test_what_the_file_cannot_hold_is_refused_and_breaks_no_later_change(
    tmp_path: Path, value: Any
) -> None:
    live = await LiveSettings.open(tmp_path, {}, Safe())

    with pytest.raises(SettingsError) as caught:
        await live.patch({"providers.x.quirks": {"q": value}})
    await live.patch({"providers.x.quirks": {"q": nested(8)}, "log.level": "debug"})

    assert caught.value.code == "setting_wrong"
    assert live.config.log.level == "debug"
    assert load(tmp_path, {}).providers["x"].quirks == {"q": nested(8)}


@pytest.mark.anyio
async def test_a_change_to_a_file_that_cannot_be_edited_is_refused(tmp_path: Path) -> None:
    deep = "{a = " * 250 + "1" + "}" * 250
    write(tmp_path, f"providers.x.quirks.q = {deep}")
    file = SettingsFile(tmp_path / FILE)

    with pytest.raises(SettingsError) as caught:
        file.edited({("log", "level"): "debug"})

    assert caught.value.code == "settings_file_broken"


def test_a_vendor_that_nobody_knows_is_refused_with_one_that_is_known(tmp_path: Path) -> None:
    error = refused(tmp_path, {"TEAHOUSE_PROVIDERS__X__VENDOR": "deepsek"})

    assert (error.code, error.values["known"]) == ("provider_vendor", "deepseek")


def test_a_key_of_the_wrong_type_is_never_shown(tmp_path: Path) -> None:
    write(tmp_path, '[providers.x]\napi_key = ["sk-very-secret"]')

    assert "sk-very-secret" not in str(refused(tmp_path))


@pytest.mark.parametrize("data", [b"server = \n", b"\xff\xfe=1", b"a = 1\na = 2\n"])
def test_a_broken_file_is_refused_by_its_name(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(data)
    file.chmod(0o600)

    error = refused(tmp_path)

    assert error.code == "settings_file_broken"
    assert error.values["path"] == str(file)


def test_the_owners_password_is_refused_in_a_file(tmp_path: Path) -> None:
    write(tmp_path, 'owner_password = "x"')

    assert refused(tmp_path).code == "setting_environment_only"


@pytest.mark.parametrize("name", ["a.b", "a b", "", "a/b", "-a", "x" * 65])
def test_a_name_that_no_model_could_be_written_with_is_no_providers(name: str) -> None:
    with pytest.raises(keys.Unknown):
        keys.kind_of(("providers", name, "wire"))


def test_a_windows_editor_does_no_harm_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbf[server]\r\nport = 9\r\n")

    assert load(tmp_path, {}).server.port == 9


def test_a_file_that_others_could_read_is_closed_to_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(tmp_path, WRITTEN, mode=0o644)

    with caplog.at_level(logging.WARNING):
        load(tmp_path, {})

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert str(file) in caplog.text


@given(st.text(max_size=200))
def test_looking_for_a_line_takes_any_text(text: str) -> None:
    found = line_of(text, ("server", "port"))

    assert found is None or 1 <= found <= len(text.splitlines())


# What is written ---------------------------------------------------------------------------------


def test_a_change_keeps_comments_and_order(tmp_path: Path) -> None:
    write(tmp_path, WRITTEN)
    file = SettingsFile(tmp_path / FILE)

    changed = file.edited({("server", "port"): 1234, ("log", "level"): "debug"})

    assert changed.startswith(WRITTEN.replace("9000", "1234").rstrip())
    assert changed.endswith('[log]\nlevel = "debug"\n')


def test_a_file_is_written_for_its_owner_alone_and_leaves_no_draft(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "new" / "home" / FILE)

    file.write("language = 'en'\n")
    file.write("language = 'zh-CN'\n")

    written = tmp_path / "new" / "home"
    assert {path.name for path in written.iterdir()} == {"config.toml", "config.toml.previous"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in written.iterdir()} == {0o600}


def test_a_write_that_fails_leaves_the_old_text_and_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "config.toml"
    target.mkdir()  # cannot be replaced by a file

    with pytest.raises(SettingsError) as caught:
        write_atomically(target, "x")

    assert caught.value.code == "settings_file_unwritable"
    assert [path.name for path in tmp_path.iterdir()] == ["config.toml"]


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("", encoding="utf-8")
    (tmp_path / "config.toml").symlink_to(real)

    SettingsFile(tmp_path / FILE).write("language = 'en'\n")

    assert (tmp_path / "config.toml").is_symlink()
    assert real.read_text(encoding="utf-8") == "language = 'en'\n"


def test_undo_brings_back_the_version_before_and_twice_is_as_never(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / FILE)
    with pytest.raises(SettingsError):
        undo(tmp_path / FILE)
    file.write("language = 'en'\n")
    undo(tmp_path / FILE)
    assert SettingsFile(tmp_path / FILE).tree == {}
    undo(tmp_path / FILE)
    SettingsFile(tmp_path / FILE).write("language = 'zh-CN'\n")

    undo(tmp_path / FILE)
    assert SettingsFile(tmp_path / FILE).tree == {"language": "en"}
    undo(tmp_path / FILE)
    assert SettingsFile(tmp_path / FILE).tree == {"language": "zh-CN"}


def test_undo_helps_when_the_file_is_broken(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / FILE)
    file.write("language = 'en'\n")
    file.write("language = 'zh-CN'\n")
    (tmp_path / "config.toml").write_text("language = ", encoding="utf-8")

    undo(tmp_path / FILE)

    assert load(tmp_path, {}).language == "en-US"


# While the house is open -------------------------------------------------------------------------


@pytest.mark.anyio
async def test_settings_are_shown_with_their_secrets_masked(tmp_path: Path) -> None:
    write(tmp_path, WRITTEN + 'api_key = "sk-0123456789abcd"\n')

    shown = (await LiveSettings.open(tmp_path, EXAMPLE, Safe())).public()

    provider = shown["providers"]["MyProv"]
    assert provider["api_key"] == "••••abcd"
    assert provider["headers"] == {"X-Api-Key": "••••1234", "User-Agent": "tea"}
    assert "owner_password" not in shown
    assert "sesame" not in str(shown)
    assert shown["locked"] == [
        "default_model",
        "providers.fake.base_url",
        "providers.fake.wire",
    ]
    assert msgspec.json.decode(msgspec.json.encode(shown)) == shown


def test_of_a_short_secret_nothing_is_shown() -> None:
    assert mask("hunter2") == "••••"


@pytest.mark.anyio
async def test_a_key_given_by_patch_is_sealed_and_the_file_names_only_its_place(
    tmp_path: Path,
) -> None:
    safe = Safe()
    live = await LiveSettings.open(tmp_path, {}, safe)

    await live.patch(
        {
            "providers": {
                "deep": {
                    "base_url": "https://api.example.com/v1",
                    "api_key": "sk-0123456789abcd",
                    "headers": {"X-A.B": "tok", "User-Agent": "tea"},
                    "api_keys": {"second": "sk-second90123456"},
                }
            }
        }
    )

    text = (tmp_path / "config.toml").read_text(encoding="utf-8")
    assert "sk-0123456789abcd" not in text
    assert "tok" not in text
    assert "sk-second" not in text
    assert safe.values == {
        "provider/deep": "sk-0123456789abcd",
        "provider/deep/X-A.B": "tok",
        "provider/deep/api_keys/second": "sk-second90123456",
    }
    assert live.providers["deep"].api_keys == {"second": "sk-second90123456"}
    assert live.providers["deep"].api_key == "sk-0123456789abcd"
    assert live.providers["deep"].headers == {"X-A.B": "tok", "User-Agent": "tea"}
    again = await LiveSettings.open(tmp_path, {}, safe)
    assert again.providers == live.providers
    shown = again.public()["providers"]["deep"]
    assert (shown["api_key"], shown["api_keys"]) == ("••••abcd", {"second": "••••3456"})


@pytest.mark.anyio
async def test_a_secret_that_no_longer_opens_keeps_no_house_shut_and_can_be_entered_again(
    tmp_path: Path,
) -> None:
    safe = Safe()
    live = await LiveSettings.open(tmp_path, {}, safe)
    await live.patch({"providers.deep.api_key": "sk-0123456789abcd"})

    safe.lost = True
    live = await LiveSettings.open(tmp_path, {}, safe)
    assert live.providers["deep"].api_key is None
    await live.patch({"providers.deep.api_key": "sk-fresh0123456789"})

    assert live.providers["deep"].api_key == "sk-fresh0123456789"


@pytest.mark.anyio
async def test_a_change_that_fails_halfway_leaves_every_secret_as_it_was(tmp_path: Path) -> None:
    safe = Safe()
    live = await LiveSettings.open(tmp_path, {}, safe)
    await live.patch({"providers.deep.api_key": "sk-0123456789abcd"})
    before = dict(safe.values)

    safe.full_for = "provider/wide"
    with pytest.raises(StorageFull):
        await live.patch({"providers": {"deep": {"api_key": "sk-new"}, "wide": {"api_key": "x"}}})

    assert safe.values == before


@pytest.mark.anyio
async def test_a_dotted_key_may_end_in_a_name_with_dots(tmp_path: Path) -> None:
    live = await LiveSettings.open(tmp_path, {}, Safe())

    await live.patch({"prices.mine/gpt-5.4-mini": "[1, 2]", "aliases.fast.mine/gpt-5.4": "5"})
    await live.patch({"fallbacks.mine/gpt-5.4": "a/b, c/d", "limits.steps": "7"})
    await live.patch({"windows.mine/gpt-5.4": "4096"})
    await live.patch({"windows.mine/gpt-5.4": None})

    assert live.config.prices == {"mine/gpt-5.4-mini": (1, 2)}
    assert live.config.aliases == {"fast": {"mine/gpt-5.4": 5}}
    assert live.config.fallbacks == {"mine/gpt-5.4": ("a/b", "c/d")}
    assert (live.config.windows, live.config.limits.steps) == ({}, 7)


@pytest.mark.anyio
async def test_a_name_may_have_the_quotes_that_it_has_in_the_file(tmp_path: Path) -> None:
    live = await LiveSettings.open(tmp_path, {}, Safe())

    await live.patch({'prices."mine/gpt-5.4"': "[1, 2]", "aliases.fast.'mine/gpt-5.4'": "5"})

    assert live.config.prices == {"mine/gpt-5.4": (1, 2)}
    assert live.config.aliases == {"fast": {"mine/gpt-5.4": 5}}


@pytest.mark.anyio
async def test_a_whole_table_may_be_given_as_text(tmp_path: Path) -> None:
    live = await LiveSettings.open(tmp_path, {}, Safe())

    await live.patch({"fallbacks": '{"a/b": ["c/d"]}', "budgets": '{"day": 20}'})

    assert live.config.fallbacks == {"a/b": ("c/d",)}
    assert live.config.budgets.day == 20
    for text in ("{", "20", '["day"]'):
        with pytest.raises(SettingsError) as caught:
            await live.patch({"budgets": text})
        assert caught.value.code == "setting_wrong"


@pytest.mark.anyio
async def test_what_lies_deep_within_a_quirk_is_shown_as_it_was_written(tmp_path: Path) -> None:
    write(
        tmp_path,
        "[providers.gpt]\nvendor = 'openai'\n"
        "quirks = { extra = { reasoning = { effort = 'high', tags = ['a'] } } }\n",
    )

    live = await LiveSettings.open(tmp_path, {}, Safe())

    shown = live.public()["providers"]["gpt"]["quirks"]
    assert shown == {"extra": {"reasoning": {"effort": "high", "tags": ["a"]}}}


@pytest.mark.anyio
async def test_sending_back_what_was_shown_changes_nothing(tmp_path: Path) -> None:
    live = await LiveSettings.open(tmp_path, {}, Safe())
    await live.patch({"providers.deep.api_key": "sk-0123456789abcd"})
    before = (tmp_path / "config.toml").read_text(encoding="utf-8")

    await live.patch({"providers": live.public()["providers"]})

    assert live.providers["deep"].api_key == "sk-0123456789abcd"
    assert 'api_key = {secret = "provider/deep"}' in before
    assert live.public()["providers"]["deep"]["api_key"] == "••••abcd"


@pytest.mark.anyio
async def test_removing_a_provider_forgets_its_key_once_undo_cannot_reach_it(
    tmp_path: Path,
) -> None:
    safe = Safe()
    live = await LiveSettings.open(tmp_path, {}, safe)
    await live.patch({"providers.deep.api_key": "sk-0123456789abcd"})

    await live.patch({"providers": {"deep": None}})
    assert live.config.providers == {}
    await live.undo()
    assert live.providers["deep"].api_key == "sk-0123456789abcd"

    await live.patch({"providers.deep": None})
    await live.patch({"log.level": "debug"})
    assert safe.values == {}


@pytest.mark.anyio
async def test_what_the_environment_fixes_cannot_be_changed(tmp_path: Path) -> None:
    live = await LiveSettings.open(tmp_path, EXAMPLE, Safe())

    for changes in ({"default_model": "a/b"}, {"providers": {"fake": None}}):
        with pytest.raises(SettingsError) as caught:
            await live.patch(changes)
        assert caught.value.code == "setting_locked"
        assert caught.value.values["variable"].startswith("TEAHOUSE_")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"log": {"level": "loud"}}, "setting_wrong"),
        ({"sever.port": 1}, "setting_mistyped"),
        ({"server": 1}, "setting_wrong"),
        ({"owner_password": "x"}, "setting_environment_only"),
        ({"providers.x.base_url": "nowhere"}, "setting_not_url"),
        ({"server.host": ""}, "setting_wrong"),
        ({"server.host": " "}, "setting_wrong"),
        ({"local_model.folder": "\x00"}, "setting_wrong"),
        ({"server.names": ["a\nb"]}, "setting_wrong"),
        ({"providers.x.headers": {"X-A": "a\r\nB: c"}}, "setting_wrong"),
        ({"home": "/tmp"}, "setting_unknown"),
        ({"": 1}, "setting_unknown"),
        ({"locked": ["x"]}, "setting_unknown"),
    ],
)
async def test_a_change_with_one_wrong_part_changes_nothing(
    tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    safe = Safe()
    live = await LiveSettings.open(tmp_path, {}, safe)

    with pytest.raises(SettingsError) as caught:
        await live.patch({"providers.y.api_key": "k", **changes})

    assert caught.value.code == code
    assert not (tmp_path / "config.toml").exists()
    assert safe.values == {}
    assert live.config == load(tmp_path, {})


@pytest.mark.anyio
async def test_a_key_is_not_kept_when_the_file_cannot_be(tmp_path: Path) -> None:
    safe = Safe()
    safe.values["provider/x"] = "old"
    write(tmp_path, WRITTEN)
    live = await LiveSettings.open(tmp_path, {}, safe)
    (tmp_path / "config.toml.previous").mkdir()  # cannot be replaced by a file

    with pytest.raises(SettingsError):
        await live.patch({"providers.x.api_key": "new", "providers.z.api_key": "new"})

    assert safe.values == {"provider/x": "old"}
    assert (tmp_path / "config.toml").read_text(encoding="utf-8") == WRITTEN


@pytest.mark.anyio
async def test_text_is_read_as_on_the_command_line(tmp_path: Path) -> None:
    live = await LiveSettings.open(tmp_path, {}, Safe())

    await live.patch({"server.port": "9001", "server.names": "a, b", "log.json": "true"})

    assert live.config.server.port == 9001
    assert live.config.server.names == ("a", "b")
    assert live.config.log.json is True


@pytest.mark.anyio
async def test_listeners_hear_of_changes_and_only_of_changes(tmp_path: Path) -> None:
    live = await LiveSettings.open(tmp_path, {}, Safe())
    heard: list[str | None] = []

    async def listen(now: LiveSettings) -> None:
        heard.append(now.config.default_model)

    live.on_change(listen)
    await live.patch({"default_model": "a/b"})
    await live.patch({"default_model": "a/b"})
    await live.patch({"default_model": None})

    assert heard == ["a/b", None]


@pytest.mark.anyio
async def test_what_a_person_wrote_into_the_file_meanwhile_stays_and_counts(
    tmp_path: Path,
) -> None:
    live = await LiveSettings.open(tmp_path, {}, Safe())
    write(tmp_path, WRITTEN)

    await live.patch({})
    assert live.language == "zh-HK"
    await live.patch({"server.port": 7})

    assert (tmp_path / "config.toml").read_text(encoding="utf-8") == WRITTEN.replace("9000", "7")


# Home and language -------------------------------------------------------------------------------


def test_the_home_is_what_was_asked_for_else_the_variables_else_the_users() -> None:
    assert home_folder(Path("/a"), {"TEAHOUSE_HOME": "/b"}) == Path("/a")
    assert home_folder(None, {"TEAHOUSE_HOME": "/b"}) == Path("/b")
    assert home_folder(None, {}) == Path.home() / ".teahouse"


def test_the_language_is_the_environments_then_the_settings_then_the_systems(
    tmp_path: Path,
) -> None:
    everything = {"TEAHOUSE_LANGUAGE": "en", "LC_ALL": "", "LANG": "zh_CN.UTF-8"}
    assert language(tmp_path, {}) == "en-US"
    assert language(tmp_path, {"LC_ALL": "zh_TW.UTF-8", "LANG": "en_US"}) == "zh-HK"
    assert language(tmp_path, {"LANG": "zh_CN.UTF-8"}) == "zh-CN"
    write(tmp_path, WRITTEN)
    assert language(tmp_path, {"LANG": "zh_CN.UTF-8"}) == "zh-HK"
    assert language(tmp_path, everything) == "en-US"
    write(tmp_path, "= broken")
    assert language(tmp_path, {"LANG": "zh_CN.UTF-8"}) == "zh-CN"


def test_colour_and_editor_follow_the_usual_variables() -> None:
    assert not surroundings({"NO_COLOR": "1"}).color
    assert surroundings({"EDITOR": "ed", "VISUAL": "vi"}).editor == "vi"


def test_every_setting_says_what_it_is_for() -> None:
    for key, _, _ in keys.reference():
        assert i18n.has(f"cli.setting.{'.'.join(key)}"), key


@pytest.mark.anyio
async def test_settings_may_lie_in_a_file_of_another_name_and_are_changed_there(
    tmp_path: Path,
) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text('language = "zh-CN"\n', encoding="utf-8")
    home = tmp_path / "home"
    settings = await LiveSettings.open(home, {}, Safe(), file)
    await settings.patch({"default_model": "a/b"})

    assert load(home, {}, file).default_model == "a/b"
    assert load(home, {}, file).language == "zh-CN"
    assert not (home / FILE).exists()
    await settings.undo()
    assert load(home, {}, file).default_model is None


def test_a_settings_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, {}, tmp_path / "none.toml")
    assert caught.value.code == "settings_file_missing"
