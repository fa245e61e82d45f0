"""Which models a house offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from teahouse.testing.answers import json_answer
from teahouse.testing.endpoint import Endpoint
from tests.app.test_serve import fake, running

pytestmark = pytest.mark.anyio

LISTED = json_answer({"data": [{"id": "one"}, {"id": "two"}]})


@pytest.mark.parametrize(
    ("named", "offered"),
    [({}, {"fake/one", "fake/two"}), ({"TEAHOUSE_PROVIDERS__FAKE__MODELS": "two"}, {"fake/two"})],
)
async def test_a_provider_offers_what_it_lists_unless_the_settings_name_models(
    tmp_path: Path, named: dict[str, str], offered: set[str]
) -> None:
    async with Endpoint(models=LISTED) as endpoint:
        environ = fake(endpoint) | named | {"TEAHOUSE_DEFAULT_MODEL": "fake/mine"}
        async with running(tmp_path, **environ) as guest:
            found = (await guest.get("/api/models"))["items"]

    assert {one["id"] for one in found} == offered | {"fake/mine"}
