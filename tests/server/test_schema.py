"""The schemas and the page's TypeScript are what the code says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from teahouse.core.events import Event
from teahouse.server.schema import documents, events_schema, openapi_schema
from tests.server.conftest import Web

GENERATED = Path(__file__).parents[2] / "web" / "src" / "api" / "generated"


@pytest.mark.parametrize("name", ["api.ts", "events.schema.json", "openapi.json", "vendors.ts"])
def test_the_generated_files_are_up_to_date(name: str) -> None:
    told = "run: python -m teahouse.server.schema web/src/api/generated"

    assert (GENERATED / name).read_bytes() == documents()[name], told


def test_every_event_has_its_name_and_is_told_apart_by_it() -> None:
    schema = events_schema()
    union = schema["components"]["schemas"]["Event"]
    tags = {str(kind.__struct_config__.tag) for kind in get_args(Event)}

    assert set(schema["x-names"]["events"]) == tags
    assert set(union["discriminator"]["mapping"]) == tags


def test_operations_have_stable_names_of_their_own() -> None:
    names = [
        operation["operationId"]
        for path in openapi_schema()["paths"].values()
        for operation in path.values()
    ]

    assert len(names) == len(set(names))
    assert {"login", "send_message", "list_agents", "follow_run"} <= set(names)


def test_every_reference_points_somewhere() -> None:
    for document in (openapi_schema(), events_schema()):
        known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}

        assert set(references(document)) <= known


def references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [found for item in value for found in references(item)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [found for item in value.values() for found in references(item)]


@pytest.mark.anyio
async def test_the_description_is_there_after_login(web: Web) -> None:
    answer = await web.call("GET", "/api/openapi.json", who=web.owner)

    assert answer.json["openapi"].startswith("3.1")
    assert "/api/messages" in answer.json["paths"]
