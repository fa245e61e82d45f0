from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from teahouse.agent.directory import AgentChanges, AgentDraft, Directory
from teahouse.core.clock import SystemClock
from teahouse.core.errors import Conflict, Invalid, NotAllowed, NotFound, TooLarge
from teahouse.core.i18n import LANGUAGES, Language
from teahouse.core.messages import Person, PersonRole
from teahouse.store.home import open_store

pytestmark = pytest.mark.anyio


def person(name: str, role: PersonRole) -> Person:
    return Person(id=f"u_{name}", name=name, role=role, epoch=1, created_at=datetime.now(UTC))


OWNER, MO, GUS = person("ow", "owner"), person("mo", "member"), person("gus", "guest")
ADMIN = person("ad", "admin")


@pytest.fixture
async def directory(tmp_path: Path) -> AsyncIterator[Directory]:
    clock = SystemClock()
    async with open_store(tmp_path, clock) as store:
        for one in (OWNER, MO, GUS, ADMIN):
            await store.people.add(one, None)
        yield Directory(store.agents, tmp_path / "agents", clock)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_new_house_has_three_agents_with_souls(
    directory: Directory, language: Language
) -> None:
    await directory.ensure_starters(OWNER, language)
    await directory.ensure_starters(OWNER, language)

    agents = await directory.list(MO)
    assert len({agent.name for agent in agents}) == 3
    assert len({agent.hue for agent in agents}) == 3
    assert all([(await directory.get(MO, agent.id)).soul for agent in agents])


async def test_a_starter_that_cannot_be_read_or_renamed_keeps_no_house_shut(
    directory: Directory, tmp_path: Path
) -> None:
    await directory.ensure_starters(OWNER, "en-US")
    first, second, third = await directory.list(OWNER)
    (tmp_path / "agents" / first.workspace / "SOUL.md").write_bytes(b"x" * 300_000)
    await directory.create(OWNER, AgentDraft(name="书童"))

    await directory.ensure_starters(OWNER, "zh-CN")

    names = [agent.name for agent in await directory.list(OWNER)]
    assert names == [first.name, second.name, "工匠", "书童"]
    assert third.name != "工匠"


async def test_what_is_refused_changes_nothing(directory: Directory) -> None:
    made = await directory.create(OWNER, AgentDraft(name="Ada"))

    with pytest.raises(TooLarge):
        await directory.change(OWNER, made.id, AgentChanges(name="Eve", soul="x" * 300_000))

    assert (await directory.get(OWNER, made.id)).name == "Ada"


async def test_changes_side_by_side_are_all_kept(directory: Directory) -> None:
    made = await directory.create(OWNER, AgentDraft(name="Ada"))

    async with asyncio.TaskGroup() as group:
        for changes in (
            AgentChanges(name="Eve"),
            AgentChanges(description=" quick "),
            AgentChanges(temperature=0.5),
            AgentChanges(model="fake/fake"),
        ):
            group.create_task(directory.change(OWNER, made.id, changes))

    found = await directory.get(OWNER, made.id)
    assert (found.name, found.description) == ("Eve", "quick")
    assert (found.temperature, found.model) == (0.5, "fake/fake")


async def test_starters_learn_the_language_that_is_chosen_later_unless_somebody_changed_them(
    directory: Directory,
) -> None:
    await directory.ensure_starters(OWNER, "en-US")
    first, second, third = await directory.list(OWNER)
    await directory.change(OWNER, second.id, AgentChanges(soul="mine"))

    await directory.ensure_starters(OWNER, "zh-CN")

    agents = await directory.list(OWNER)
    assert [agent.id for agent in agents] == [first.id, second.id, third.id]
    assert [agent.name for agent in agents] == ["掌柜", second.name, "工匠"]
    assert "掌柜" in ((await directory.get(OWNER, first.id)).soul or "")


async def test_the_folder_is_the_agent_whatever_editor_changes_it(
    directory: Directory, tmp_path: Path
) -> None:
    agent = await directory.create(OWNER, AgentDraft(name="掌柜", soul="old"))
    (tmp_path / "agents" / "掌柜" / "SOUL.md").write_bytes(
        "你是新掌柜，换了东家。".encode("gb18030")
    )

    assert (await directory.get(OWNER, agent.id)).soul == "你是新掌柜，换了东家。"


async def test_a_soul_that_cannot_be_read_keeps_neither_the_house_shut_nor_a_change_out(
    directory: Directory, tmp_path: Path
) -> None:
    await directory.ensure_starters(OWNER, "en-US")
    first, *_ = await directory.list(OWNER)
    soul = tmp_path / "agents" / first.workspace / "SOUL.md"
    soul.write_bytes(b"\xff\xfe\x00")  # half a character of UTF-16

    await directory.ensure_starters(OWNER, "zh-CN")
    changed = await directory.change(OWNER, first.id, AgentChanges(name="Mine"))
    assert (changed.name, changed.soul) == ("Mine", None)
    with pytest.raises(Invalid):
        await directory.get(OWNER, first.id)

    repaired = await directory.change(OWNER, first.id, AgentChanges(soul="anew"))
    assert repaired.soul == "anew"


async def test_who_takes_an_agent_from_the_shelf_is_told_of_it(directory: Directory) -> None:
    agent = await directory.create(OWNER, AgentDraft(name="Host", shared=True))

    changed = await directory.change(ADMIN, agent.id, AgentChanges(shared=False))

    assert not changed.shared
    with pytest.raises(NotFound):
        await directory.get(ADMIN, agent.id)


async def test_what_is_changed_is_changed_and_the_rest_stays(directory: Directory) -> None:
    agent = await directory.create(OWNER, AgentDraft(name="Host", soul="s", model="a/b"))

    changed = await directory.change(OWNER, agent.id, AgentChanges(name="Hostess", model=None))

    assert (changed.name, changed.model, changed.soul) == ("Hostess", None, "s")
    assert changed.hue == agent.hue


async def test_a_private_agent_is_nobody_elses(directory: Directory) -> None:
    agent = await directory.create(OWNER, AgentDraft(name="Host"))

    assert await directory.list(MO) == []
    with pytest.raises(NotFound):
        await directory.get(MO, agent.id)
    with pytest.raises(NotFound):
        await directory.change(MO, agent.id, AgentChanges(name="Mine"))


async def test_a_shared_agent_may_be_used_but_not_changed_by_others(directory: Directory) -> None:
    agent = await directory.create(OWNER, AgentDraft(name="Host", shared=True))

    assert [one.id for one in await directory.list(MO)] == [agent.id]
    with pytest.raises(NotAllowed):
        await directory.change(MO, agent.id, AgentChanges(soul="be evil"))
    with pytest.raises(NotAllowed):
        await directory.remove(MO, agent.id)


async def test_guests_create_no_agents(directory: Directory) -> None:
    with pytest.raises(NotAllowed):
        await directory.create(GUS, AgentDraft(name="Host"))


async def test_two_agents_of_one_owner_have_two_names(directory: Directory, tmp_path: Path) -> None:
    await directory.create(OWNER, AgentDraft(name="Host"))

    with pytest.raises(Conflict):
        await directory.create(OWNER, AgentDraft(name="host"))
    assert [path.name for path in (tmp_path / "agents").iterdir()] == ["Host"]


async def test_a_removed_agent_leaves_no_folder(directory: Directory, tmp_path: Path) -> None:
    agent = await directory.create(OWNER, AgentDraft(name="Host"))

    await directory.remove(OWNER, agent.id)

    assert list((tmp_path / "agents").iterdir()) == []
    with pytest.raises(NotFound):
        await directory.get(OWNER, agent.id)


@pytest.mark.parametrize(
    "draft",
    [
        AgentDraft(name=" "),
        AgentDraft(name="Host", temperature=3),
        AgentDraft(name="Host", description="x" * 300),
    ],
)
async def test_a_bad_draft_is_refused(directory: Directory, draft: AgentDraft) -> None:
    with pytest.raises(Invalid):
        await directory.create(OWNER, draft)
    assert await directory.list(OWNER) == []


async def test_an_agent_that_is_shared_no_more_takes_no_turn_for_others(
    directory: Directory,
) -> None:
    agent = await directory.create(OWNER, AgentDraft(name="Host", soul="s", shared=True))
    assert (await directory.row_and_soul(agent.id, MO.id))[1] == "s"

    await directory.change(OWNER, agent.id, AgentChanges(shared=False))

    assert (await directory.row_and_soul(agent.id, OWNER.id))[1] == "s"
    with pytest.raises(NotFound):
        await directory.row_and_soul(agent.id, MO.id)
