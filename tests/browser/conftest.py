"""A real house on a fresh home, a scripted model behind it, and Debian's Chromium in front."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from teahouse.testing.anthropic_answers import text_answer
from teahouse.testing.endpoint import Endpoint

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "a long enough password"
STARTS_WITHIN_S = 30.0
LOOPBACK = re.compile(r"^(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|^(data|blob|about):")
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
BUILT = Path(__file__).parents[2] / "src" / "teahouse" / "server" / "static" / "index.html"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


class House:
    """A server process on its own home; it may be stopped and started again."""

    def __init__(self, home: Path, model: str, **environ: str) -> None:
        self.home, self.port = home, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environ = {
            **{name: value for name, value in os.environ.items() if "TEAHOUSE" not in name},
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "TEAHOUSE_LOCAL_MODEL__ENABLED": "false",
            "TEAHOUSE_PROVIDERS__FAKE__WIRE": "openai_chat",
            "TEAHOUSE_PROVIDERS__FAKE__BASE_URL": model,
            **environ,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self.home / "server.log").open("ab")
        command = [sys.executable, "-m", "teahouse", "serve"]
        self._process = subprocess.Popen(
            [*command, "--home", str(self.home), "--port", str(self.port)],
            env=self._environ,
            stdout=log,
            stderr=log,
        )
        log.close()
        wait_for(f"{self.url}/healthz", self._process)

    def stop(self) -> None:
        if self._process is not None:
            end(self._process)
            self._process = None

    def kill(self) -> None:
        """As a power cut would: no goodbye to anybody."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the process behind {url} ended with {process.returncode}"
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=1):
            return
        time.sleep(0.05)
    pytest.fail(f"{url} did not answer within {STARTS_WITHIN_S} s")


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.fixture(scope="session")
def model() -> Iterator[str]:
    """The base URL of a scripted model; its commands stand in `teahouse.testing.answers`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "teahouse.testing.endpoint"], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    url = process.stdout.readline().decode().strip()
    yield url
    end(process)


@pytest.fixture
def anthropic() -> Iterator[Endpoint]:
    """A model that speaks the Anthropic dialect, and says the same to everybody."""
    answers = [text_answer(["Good ", "tea."])] * 20
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Endpoint(answers)) as endpoint,
    ):
        yield endpoint


@pytest.fixture
def new_house(tmp_path: Path, model: str) -> Iterator[House]:
    """A house in which nobody has been yet."""
    house = House(tmp_path, model)
    house.start()
    yield house
    house.stop()


@pytest.fixture
def new_house_without_model(tmp_path: Path) -> Iterator[House]:
    """Nobody has been here, and the only provider is not at home."""
    house = House(tmp_path, f"http://127.0.0.1:{free_port()}/v1")
    house.start()
    yield house
    house.stop()


@pytest.fixture
def new_house_with_owner(tmp_path: Path, model: str) -> Iterator[House]:
    """A house of one test's own, to be killed and started again."""
    house = House(
        tmp_path,
        model,
        TEAHOUSE_OWNER_PASSWORD=PASSWORD,
        TEAHOUSE_LANGUAGE="zh-CN",
        TEAHOUSE_DEFAULT_MODEL="fake/fake",
    )
    house.start()
    yield house
    house.stop()


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory: pytest.TempPathFactory, model: str) -> Iterator[House]:
    house = House(
        tmp_path_factory.mktemp("house"),
        model,
        TEAHOUSE_OWNER_PASSWORD=PASSWORD,
        TEAHOUSE_LANGUAGE="zh-CN",
        TEAHOUSE_DEFAULT_MODEL="fake/fake",
    )
    house.start()
    yield house
    house.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    assert BUILT.is_file(), "the page is not built: make web"
    assert Path(CHROMIUM).is_file(), "Chromium is not installed: make system"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Visitor:
    """Opens pages, and notes whatever no page may ever do."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []
        self.expected: list[str] = []

    def __call__(
        self,
        house: House,
        path: str = "/",
        *,
        language: str = "zh-CN",
        theme: str = "light",
        size: ViewportSize = DESK,
        log_in: bool = True,
    ) -> Page:
        phone = size["width"] < 600
        context = self._browser.new_context(
            base_url=house.url,
            viewport=size,
            locale=language,
            color_scheme="dark" if theme == "dark" else "light",
            has_touch=phone,
            is_mobile=phone,
            reduced_motion="reduce",
        )
        context.set_default_timeout(10_000)
        self._contexts.append(context)
        if log_in:
            answer = context.request.post(
                "/api/login", data={"password": PASSWORD}, headers={"Origin": house.url}
            )
            assert answer.ok, answer.text()
        page = context.new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("request", self._asked)
        page.goto(path)
        return page

    def expect(self, words: str) -> None:
        """A console line with these words is part of the story, such as a refused password."""
        self.expected.append(words)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text}")

    def _asked(self, request: Any) -> None:
        if not LOOPBACK.match(request.url):
            self.faults.append(f"left the machine: {request.url}")

    def close(self) -> None:
        for context in self._contexts:
            context.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visitor]:
    """Every page it opened must have been quiet on the console and have stayed on loopback."""
    visitor = Visitor(browser)
    yield visitor
    visitor.close()
    faults = [one for one in visitor.faults if not any(word in one for word in visitor.expected)]
    assert faults == []


@pytest.fixture
def picture(tmp_path: Path) -> Callable[[Page, str], Path]:
    """Keeps a screenshot; `TEAHOUSE_PICTURES` names a folder that outlives the test."""
    folder = Path(os.environ.get("TEAHOUSE_PICTURES") or tmp_path)

    def take(page: Page, name: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        page.screenshot(path=path, animations="disabled")
        return path

    return take
