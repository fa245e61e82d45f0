from __future__ import annotations

import pytest

from teahouse.core.errors import ToolFailed
from teahouse.core.messages import Text
from teahouse.llm.tool import ToolContext
from teahouse.tools.session_title import MAX_TITLE, SessionTitle

pytestmark = pytest.mark.anyio


class Conversation:
    """Has a title; one that a person chose stays."""

    def __init__(self, title: str = "", *, by_person: bool = False) -> None:
        self.title, self.by_person = title, by_person

    async def rename(self, context: ToolContext, title: str) -> str:
        if not self.by_person:
            self.title = title
        return self.title


async def told(conversation: Conversation, title: object) -> str:
    (part,) = await SessionTitle(conversation.rename)({"title": title}, ToolContext())
    assert isinstance(part, Text)
    return part.text


async def test_a_title_is_given_in_one_line() -> None:
    conversation = Conversation()

    assert "Garden plans" in await told(conversation, "  Garden\n plans ")
    assert conversation.title == "Garden plans"


async def test_the_model_is_told_when_a_person_has_chosen_the_title() -> None:
    words = await told(Conversation("Mine", by_person=True), "Garden plans")

    assert "Mine" in words
    assert "Garden plans" not in words


@pytest.mark.parametrize("title", ["", "  ", "x" * (MAX_TITLE + 1)])
async def test_a_title_has_a_sensible_length(title: str) -> None:
    with pytest.raises(ToolFailed):
        await told(Conversation(), title)
