"""The contract of `Log`: what is received is kept, once, in order, and for its members alone."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from teahouse.chat.ports import ConversationChanges, Run
from teahouse.core.errors import Conflict, Invalid, NotFound
from teahouse.core.ids import new_id
from teahouse.core.messages import Thinking, ToolCall
from teahouse.testing.contract.store_house import House, Kept, OpenAgain


class LogContract:
    async def test_what_was_received_is_there_after_opening_again(
        self, house: House, open_again: OpenAgain
    ) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        received = await house.say(talk, mei, "你好\0 ∑ 🫖")

        async with open_again() as store:
            page = await store.log.posts(mei.id, talk.id, limit=10)
            run = await store.log.run(mei.id, received.runs[0].id)
            found = await store.log.post(mei.id, received.post.id)

        assert page.items == (received.post,) == (found,)
        assert run == received.runs[0]

    async def test_a_run_keeps_who_pays_for_it_through_every_door(
        self, house: House, open_again: OpenAgain
    ) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        log, post = house.store.log, house.post(talk, mei, "hello", "x1")
        made = structs.replace(house.run(post, mei), key="k_1", allowance=0.35)

        received = await log.receive(post, mei.id, [made])

        assert received.runs == (made,) == (await log.run(mei.id, made.id),)
        repeated = house.post(talk, mei, "hello", "x1")
        again = structs.replace(house.run(repeated, mei), key="k_2", allowance=None)
        assert (await log.receive(repeated, mei.id, [again])).runs == (made,)
        async with open_again() as store:
            [lease] = await store.queue.lease(1)
            stopped = await store.log.ask_stop(mei.id, made.id)
        for run in (lease.run, stopped):
            assert (run.key, run.allowance) == ("k_1", 0.35)

    async def test_a_post_keeps_every_part_and_field(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        first = await house.say(talk, mei, "first")
        thought = Thinking(text="hm", opaque={"signature": "0xff"})
        call = ToolCall(id="k", name="now", arguments={"深": [1, None, {"x": 1.5}]})
        made = structs.replace(
            house.made_of(talk, mei, (thought, call)),
            reply_to=first.post.id,
            mentions=("a_1", "a_2"),
        )

        received = await house.store.log.receive(made, mei.id, [])

        assert received.post == structs.replace(made, parent=first.post.id)
        assert await house.store.log.post(mei.id, made.id) == received.post

    async def test_the_same_client_id_makes_one_post_and_one_run(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        first = await house.say(talk, mei, "once", client_id="x1")

        again = await house.say(talk, mei, "once more", client_id="x1")

        assert first.fresh
        assert again == structs.replace(first, fresh=False)
        assert await house.texts(talk, mei) == ["once"]
        assert len(await house.store.queue.lease(10)) == 1

    async def test_the_same_client_id_at_once_makes_one_post(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(house.say(talk, mei, "once", client_id="x1")) for _ in range(20)
            ]

        assert len({task.result().post.id for task in tasks}) == 1
        assert sum(task.result().fresh for task in tasks) == 1

    async def test_a_client_id_belongs_to_its_author_and_conversation(self, house: House) -> None:
        mei, liu = await house.person("Mei"), await house.person("Liu")
        shared, own = await house.talk(mei, liu), await house.talk(mei)

        for talk, person in ((shared, mei), (shared, liu), (own, mei)):
            assert (await house.say(talk, person, "x", client_id="x1")).fresh

    async def test_many_writers_at_once_lose_nothing_and_share_no_place(self, house: House) -> None:
        mei = await house.person()
        talks = [await house.talk(mei) for _ in range(4)]

        async def send(number: int) -> None:
            for turn in range(5):
                await house.say(talks[number % 4], mei, f"{number}.{turn}")

        async with asyncio.TaskGroup() as group:
            for number in range(64):
                group.create_task(send(number))

        said: list[str] = []
        for talk in talks:
            posts = (await house.store.log.posts(mei.id, talk.id, limit=500)).items
            assert [post.parent for post in posts] == [None, *(post.id for post in posts[:-1])]
            assert (await house.store.log.conversation(mei.id, talk.id)).posts == len(posts) == 80
            said += [post.text for post in posts]
        assert sorted(said) == sorted(f"{n}.{t}" for n in range(64) for t in range(5))

    async def test_a_refused_post_takes_none_of_its_neighbours_along(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        strange = structs.replace(talk, id="c_unknown")
        taken = await house.say(talk, mei, "first")

        async def send(number: int) -> str:
            try:
                if number % 3 == 0:
                    await house.say(strange, mei, "nowhere")
                elif number % 3 == 1:  # an id that is taken: found out only while writing
                    post = structs.replace(house.post(talk, mei, "twice"), id=taken.post.id)
                    await house.store.log.receive(post, mei.id, [])
                else:
                    await house.say(talk, mei, str(number))
            except (NotFound, Conflict) as error:
                return type(error).__name__
            return "kept"

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(send(number)) for number in range(30)]

        assert [task.result() for task in tasks] == ["NotFound", "Conflict", "kept"] * 10
        assert len(await house.texts(talk, mei)) == 11

    async def test_pages_go_both_ways_without_gap_or_overlap(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        posts = [(await house.say(talk, mei, str(n))).post for n in range(7)]
        log = house.store.log

        newest = await log.posts(mei.id, talk.id, limit=3)
        older = await log.posts(mei.id, talk.id, before=newest.next, limit=3)
        oldest = await log.posts(mei.id, talk.id, before=older.next, limit=3)
        assert [*oldest.items, *older.items, *newest.items] == posts
        assert (newest.next, older.next, oldest.next) == (posts[4].id, posts[1].id, None)

        later = await log.posts(mei.id, talk.id, after=posts[2].id, limit=2)
        last = await log.posts(mei.id, talk.id, after=later.next, limit=2)
        assert [*later.items, *last.items] == posts[3:]
        assert (later.next, last.next) == (posts[4].id, None)
        between = await log.posts(mei.id, talk.id, after=posts[0].id, before=posts[3].id, limit=9)
        assert list(between.items) == posts[1:3]
        with pytest.raises(NotFound):
            await log.posts(mei.id, talk.id, before="p_unknown", limit=3)

    async def test_the_list_shows_pinned_first_then_newest_activity(self, house: House) -> None:
        mei = await house.person()
        talks = [await house.talk(mei) for _ in range(5)]
        log = house.store.log
        await log.change(mei.id, talks[1].id, ConversationChanges(pinned=True))
        await log.change(mei.id, talks[3].id, ConversationChanges(pinned=True))
        await log.change(mei.id, talks[4].id, ConversationChanges(archived=True))
        await house.say(talks[0], mei, "  newest\n post  ")

        listed: list[str] = []
        cursor = None
        while True:
            page = await log.conversations(mei.id, before=cursor, limit=1)
            listed += [talk.id for talk in page.items]
            cursor = page.next
            if cursor is None:
                break

        assert listed == [talks[n].id for n in (3, 1, 0, 2)]
        archived = await log.conversations(mei.id, before=None, limit=9, archived=True)
        assert [talk.id for talk in archived.items] == [talks[4].id]
        found = await log.conversation(mei.id, talks[0].id)
        assert found.last is not None
        assert (found.last.author, found.last.text) == (mei.id, "newest post")
        for cursor in (
            "",
            "nonsense",
            "2.3.c_1",
            "1.9999999999999999999.c",
            "1.²3.c_1",
            "1.999999999999999999.c_1",
        ):
            with pytest.raises(Invalid):
                await log.conversations(mei.id, before=cursor, limit=1)

    async def test_pins_are_each_persons_own_and_the_title_is_everybodys(
        self, house: House
    ) -> None:
        mei, liu = await house.person("Mei"), await house.person("Liu")
        talk = await house.talk(mei, liu)
        changes = ConversationChanges(title="Tea", title_by="person", pinned=True)

        changed = await house.store.log.change(mei.id, talk.id, changes)

        seen = await house.store.log.conversation(liu.id, talk.id)
        assert (changed.title, changed.title_by, changed.pinned) == ("Tea", "person", True)
        late = ConversationChanges(title="Coffee", title_by="model", archived=True)
        kept = await house.store.log.change(mei.id, talk.id, late)
        assert (kept.title, kept.title_by, kept.archived) == ("Tea", "person", True)
        assert (seen.title, seen.title_by, seen.pinned) == ("Tea", "person", False)
        assert seen.people == (mei.id, liu.id)
        assert seen.agents == talk.agents

    async def test_creating_the_same_conversation_again_answers_the_first(
        self, house: House
    ) -> None:
        mei, liu = await house.person("Mei"), await house.person("Liu")
        talk = await house.talk(mei)
        await house.say(talk, mei, "hello")

        again = await house.store.log.create(structs.replace(talk, title="other"))

        assert (again.id, again.title, again.posts) == (talk.id, "", 1)
        with pytest.raises(Conflict):
            await house.store.log.create(structs.replace(talk, people=(liu.id,)))

    async def test_to_others_a_conversation_does_not_exist(self, house: House) -> None:
        mei, liu = await house.person("Mei"), await house.person("Liu")
        talk = await house.talk(mei)
        received = await house.say(talk, mei, "private")
        run, post, log = received.runs[0].id, received.post.id, house.store.log
        own = await house.talk(liu)
        answering = structs.replace(house.post(own, liu, "?"), reply_to=post)

        for attempt in (
            log.conversation(liu.id, talk.id),
            log.change(liu.id, talk.id, ConversationChanges(title="mine")),
            log.delete(liu.id, talk.id),
            log.posts(liu.id, talk.id, limit=5),
            log.posts(liu.id, own.id, before=post, limit=5),
            log.post(liu.id, post),
            log.run(liu.id, run),
            log.steps(liu.id, run),
            log.ask_stop(liu.id, run),
            log.receive(house.post(talk, liu, "let me in"), liu.id, []),
            log.receive(answering, liu.id, []),
        ):
            with pytest.raises(NotFound):
                await attempt
        assert (await log.conversations(liu.id, before=None, limit=9)).items[0].id == own.id
        assert await house.texts(talk, mei) == ["private"]
        assert (await log.run(mei.id, run)).stop_asked is False

    async def test_stopping_a_queued_run_ends_it_with_an_empty_post(self, house: House) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        run = (await house.say(talk, mei, "wait")).runs[0]

        stopped = await house.store.log.ask_stop(mei.id, run.id)

        assert stopped.status == "stopped"
        assert stopped.ended_at is not None
        post = await house.store.log.post(mei.id, stopped.post or "")
        assert (post.author, post.parts, post.ending, post.run) == ("a_1", (), "stopped", run.id)
        assert await house.store.queue.lease(10) == ()

    async def test_stopping_a_running_run_marks_it_and_an_ended_one_stays(
        self, house: House
    ) -> None:
        mei = await house.person()
        talk = await house.talk(mei)
        run = (await house.say(talk, mei, "go")).runs[0]
        [lease] = await house.store.queue.lease(1)

        asked = await house.store.log.ask_stop(mei.id, run.id)
        assert (asked.status, asked.stop_asked, asked.post) == ("running", True, None)

        await house.answer(lease, "done")
        ended = await house.store.log.run(mei.id, run.id)
        assert await house.store.log.ask_stop(mei.id, run.id) == ended
        assert (ended.status, ended.stop_asked) == ("done", True)

    async def test_a_deleted_conversation_leaves_nothing_behind(
        self, house: House, open_again: OpenAgain, kept: Kept
    ) -> None:
        mei = await house.person()
        gone, stays = await house.talk(mei), await house.talk(mei)
        word, other = "Lapsang-Souchong-7731", "Keemun-4242"
        run: Run | None = None
        for number in range(40):
            said = await house.say(gone, mei, f"{word} {number} " * (1 + number * 7))
            await house.say(stays, mei, f"{other} {number}")
            run = said.runs[0]
            for lease in await house.store.queue.lease(1):
                ours = lease.run.conversation == gone.id
                await house.answer(lease, f"{word if ours else other}, really?")
        log = house.store.log
        await log.change(mei.id, gone.id, ConversationChanges(title=word))
        assert kept(word.encode())

        await log.delete(mei.id, gone.id)

        assert not kept(word.encode())
        assert kept(other.encode())
        assert run is not None
        for attempt in (
            log.conversation(mei.id, gone.id),
            log.run(mei.id, run.id),
            log.delete(mei.id, gone.id),
            house.say(gone, mei, "anybody there?"),
        ):
            with pytest.raises(NotFound):
                await attempt
        async with open_again() as store:
            assert not kept(word.encode())
            assert (await store.log.conversation(mei.id, stays.id)).posts >= 40

    async def test_an_unknown_person_sees_an_empty_list(self, house: House) -> None:
        page = await house.store.log.conversations(new_id("u"), before=None, limit=9)

        assert page.items == ()
