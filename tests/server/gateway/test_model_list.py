"""What clients choose a model from."""

from __future__ import annotations

import json

import httpx2
import openai

from teahouse.llm.wire.model_row import model_row
from teahouse.server.gateway.anthropic import models as anthropic
from teahouse.server.gateway.openai import models as openai_models
from teahouse.server.ports import ModelEntry

ENTRIES = (
    ModelEntry(
        id="acme/large",
        provider="acme",
        context_window=8000,
        input_price=0.15,
        output_price=15,
        vision=True,
    ),
    ModelEntry(id="agent/ann", provider="agent"),
    ModelEntry(id="acme/asleep", provider="acme", ready=False, note="no key"),
)


def client(body: bytes) -> openai.OpenAI:
    answer = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body))
    return openai.OpenAI(
        api_key="k",
        base_url="http://teahouse.invalid/v1",
        http_client=httpx2.Client(transport=answer, trust_env=False),
    )


def test_the_official_client_lists_the_models_and_agents_that_can_answer() -> None:
    with client(openai_models.models(ENTRIES)) as program:
        found = list(program.models.list())
    assert [(model.id, model.object, model.owned_by) for model in found] == [
        ("acme/large", "model", "acme"),
        ("agent/ann", "model", "agent"),
    ]
    with client(openai_models.model(ENTRIES[1])) as program:
        assert program.models.retrieve("agent/ann").id == "agent/ann"


def test_another_teahouse_reads_from_a_row_what_the_model_can_do() -> None:
    row = json.loads(openai_models.model(ENTRIES[0]))
    known = model_row(row)
    assert (known.id, known.context_window, known.vision) == ("acme/large", 8000, True)
    assert row["pricing"] == {"prompt": "0.00000015", "completion": "0.000015"}
    unknown = json.loads(openai_models.model(ENTRIES[1]))
    assert unknown.keys() == {"id", "object", "created", "owned_by"}


def test_clients_of_anthropic_get_one_page_in_their_own_form() -> None:
    page = json.loads(anthropic.models(ENTRIES))
    assert [(row["type"], row["id"]) for row in page["data"]] == [
        ("model", "acme/large"),
        ("model", "agent/ann"),
    ]
    assert (page["first_id"], page["last_id"], page["has_more"]) == (
        "acme/large",
        "agent/ann",
        False,
    )
    assert json.loads(anthropic.models(())) == {
        "data": [],
        "first_id": None,
        "last_id": None,
        "has_more": False,
    }
    assert json.loads(anthropic.model(ENTRIES[0]))["id"] == "acme/large"
