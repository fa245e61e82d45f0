"""Fixtures that every test may use."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("teahouse.testing.contract")
# The machine may be busy: an example that takes long is no fault.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under xdist one worker alone has the local model: two at a time would starve each other.

    The browser comes last: Playwright keeps an event loop in the thread, where async tests want
    their own.
    """
    for item in items:
        if item.get_closest_marker("model"):
            item.add_marker(pytest.mark.xdist_group("model"))
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
