from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from teahouse.chat.perspective import project
from teahouse.core.messages import Message, Part, Post, Text, Thinking, ToolCall, ToolResult

ME, YOU = "a_me", "u_you"


def post(author: str, *parts: Part) -> Post:
    return Post(
        id="p", conversation="c", parent=None, author=author, parts=parts, at=datetime.now(UTC)
    )


def call(name: str) -> ToolCall:
    return ToolCall(id=name, name=name, arguments={})


def result(name: str) -> ToolResult:
    return ToolResult(call=name, content=(Text(text="ok"),))


def test_own_posts_are_assistant_and_all_others_user() -> None:
    posts = [post(YOU, Text(text="hi")), post(ME, Text(text="hello")), post("a_3", Text(text="hm"))]

    assert [message.role for message in project(posts, ME)] == ["user", "assistant", "user"]


def test_a_post_of_several_steps_becomes_the_messages_it_was_made_of() -> None:
    mine = post(
        ME, Text(text="look"), call("x"), call("y"), result("x"), result("y"), Text(text="so")
    )

    assert project([mine], ME) == (
        Message(role="assistant", parts=(Text(text="look"), call("x"), call("y"))),
        Message(role="tool", parts=(result("x"), result("y"))),
        Message(role="assistant", parts=(Text(text="so"),)),
    )


def test_a_thought_between_two_calls_does_not_part_them_from_their_results() -> None:
    said = (call("x"), Thinking(text="hm"), call("y"))

    assert project([post(ME, *said, result("x"), result("y"), Text(text="so"))], ME) == (
        Message(role="assistant", parts=said),
        Message(role="tool", parts=(result("x"), result("y"))),
        Message(role="assistant", parts=(Text(text="so"),)),
    )


def test_a_call_without_result_is_answered_as_interrupted() -> None:
    _, tool = project([post(ME, call("x"))], ME)

    assert isinstance(tool.parts[0], ToolResult)
    assert tool.parts[0].call == "x"
    assert tool.parts[0].is_error


def test_an_answer_that_never_came_is_left_out() -> None:
    assert project([post(ME), post(ME, Thinking(text="hm"))], ME) == ()


parts = st.one_of(
    st.builds(Text, text=st.sampled_from(["", " ", "a", "茶"])),
    st.builds(Thinking, text=st.just("hm")),
    st.builds(call, st.sampled_from("abc")),
    st.builds(result, st.sampled_from("abcd")),
)


@given(st.lists(parts, max_size=8))
def test_whatever_a_post_holds_every_call_gets_exactly_one_result(made_of: list[Part]) -> None:
    messages = project([post(ME, *made_of)], ME)

    for message, following in zip(messages, [*messages[1:], None], strict=False):
        assert message.parts
        if message.role == "assistant":
            wanted = [one.id for one in message.tool_calls]
            given = [part.call for part in following.parts] if wanted and following else []
            assert wanted == given
