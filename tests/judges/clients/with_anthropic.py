"""Anthropic's own Python SDK."""

import anthropic
from pydantic import BaseModel
from scenes import KEYS, PARAMETERS, QUESTION, REAL, RESULT, URL, VENDORS, play, refused

TOOL = {"name": "weather", "description": "Tell the weather.", "input_schema": PARAMETERS}


class Tea(BaseModel):
    name: str
    degrees: int


def client(key="full", **more):
    return anthropic.AsyncAnthropic(base_url=URL, api_key=KEYS[key], **({"max_retries": 0} | more))


def asking(model, text="tea", **more):
    return {"model": model, "max_tokens": 2000, "messages": [user(text)]} | more


def user(content):
    return {"role": "user", "content": content}


def told(message):
    return {
        "text": "".join(b.text for b in message.content if b.type == "text"),
        "thought": "".join(b.thinking for b in message.content if b.type == "thinking"),
        "signed": [bool(b.signature) for b in message.content if b.type == "thinking"],
        "calls": [
            {"id": b.id, "name": b.name, "arguments": b.input}
            for b in message.content
            if b.type == "tool_use"
        ],
        "kinds": [b.type for b in message.content],
        "finish": message.stop_reason,
        "model": message.model,
        "usage": message.usage.model_dump(),
    }


async def streamed(model):
    async with client() as at, at.messages.stream(**asking(model)) as stream:
        deltas = [piece async for piece in stream.text_stream]
        return told(await stream.get_final_message()) | {"deltas": deltas}


async def tools(vendor):
    """Two calls at once, their results, and all blocks back as they came."""
    model, thinking = f"{vendor}/tools", {"type": "enabled", "budget_tokens": 1024}
    first = asking(model, f"{QUESTION} [messages]", tools=[TOOL], thinking=thinking)
    async with client() as at:
        async with at.messages.stream(**first) as stream:
            kinds = [event.type async for event in stream]
            message = await stream.get_final_message()
        results = [
            {"type": "tool_result", "tool_use_id": b.id, "content": RESULT}
            for b in message.content
            if b.type == "tool_use"
        ]
        answer = {"role": "assistant", "content": message.content}
        talk = [*first["messages"], answer, user(results)]
        second = await at.messages.create(**first | {"messages": talk})
        whole = await at.messages.create(**first)
        return {
            "first": told(message),
            "second": told(second),
            "whole": told(whole),
            "thought aloud": "thinking" in kinds,
            "arguments aloud": "input_json" in kinds,
        }


async def run_tools(vendor):
    """The SDK's own loop."""
    asked = []

    @anthropic.beta_async_tool
    async def weather(city: str, unit: str = "") -> str:
        """Tell the weather."""
        asked.append(city)
        return RESULT

    async with client() as at:
        runner = at.beta.messages.tool_runner(
            **asking(f"{vendor}/tools", f"{QUESTION} [loop]", tools=[weather])
        )
        last = await runner.until_done()
        return {"asked": asked, "text": last.content[-1].text}


async def structured(vendor):
    async with client() as at:
        message = await at.messages.parse(**asking(f"{vendor}/object"), output_format=Tea)
        return message.parsed_output.model_dump()


async def long(vendor):
    tool = {"name": "write", "input_schema": PARAMETERS}
    given = asking(f"{vendor}/long", tools=[tool])
    async with client() as at, at.messages.stream(**given) as stream:
        return told(await stream.get_final_message())


async def ask(model, key="full", **more):
    async with client(key, **more) as at:
        return told(await at.messages.create(**asking(model)))


async def left(vendor):
    """Hears a little, and goes."""
    async with client() as at, at.messages.stream(**asking(f"{vendor}/hang")) as stream:
        return await anext(aiter(stream.text_stream))


async def bearer():
    """Claude Code sends the key so, where it is given as a token."""
    async with anthropic.AsyncAnthropic(base_url=URL, auth_token=KEYS["full"]) as at:
        return told(await at.messages.create(**asking("chat/text")))["text"]


async def rated():
    first = await ask("chat/text", "rated")
    return {"first": first["text"], "second": await refused(ask("chat/text", "rated"))}


async def lists():
    async with client() as at:
        found = [model.id async for model in at.models.list()]
        one = await at.models.retrieve("chat/fake")
        missing = await refused(at.models.retrieve("chat/none"))
        return {"found": found, "one": one.id, "missing": missing}


async def count():
    async with client() as at:
        given = {"model": "gemini/text", "messages": [user("tea " * 100)]}
        few = await at.messages.count_tokens(**given)
        more = await at.messages.count_tokens(**given, tools=[TOOL])
        return [few.input_tokens, more.input_tokens]


async def real():
    return [await local(model) for model in REAL]


async def local(model):
    given = asking(model, "Say tea.", max_tokens=4)
    call = {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Paris"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": RESULT}
    talk = [user(QUESTION), {"role": "assistant", "content": [call]}, user([result])]
    async with client() as at:
        async with at.messages.stream(**given) as stream:
            chat = told(await stream.get_final_message())
        after = await at.messages.create(**given | {"messages": talk}, tools=[TOOL])
        return {"chat": chat, "after a result": told(after)}


play(
    {
        **{f"streamed {v}": streamed(f"{v}/text") for v in VENDORS},
        **{f"tools {v}": tools(v) for v in VENDORS},
        **{f"loop {v}": run_tools(v) for v in ("chat", "gpt", "claude", "gemini")},
        **{f"structured {v}": structured(v) for v in VENDORS},
        **{f"long {v}": long(v) for v in ("chat", "claude", "gemini")},
        **{f"empty {v}": ask(f"{v}/empty") for v in VENDORS},
        **{f"cut {v}": refused(streamed(f"{v}/cut")) for v in ("chat", "claude", "gemini")},
        **{f"left {v}": left(v) for v in ("chat", "claude", "gemini")},
        **{f"slow {v}": streamed(f"{v}/slow") for v in ("chat", "gemini")},
        **{f"late {v}": streamed(f"{v}/late") for v in ("gpt", "claude")},
        "impatient": refused(ask("claude/silent", timeout=0.5)),
        "bearer": bearer(),
        "no provider": refused(ask("none/none")),
        "no model": refused(ask("chat/none")),
        "wrong key": refused(ask("chat/text", "wrong")),
        "narrow key": refused(ask("claude/text", "narrow")),
        "rated key": rated(),
        "poor key": refused(ask("chat/text", "poor", max_retries=2)),
        "too long": refused(ask("gemini/fail-context")),
        "filtered": refused(ask("claude/fail-filter")),
        "quota": refused(ask("chat/fail-402", max_retries=2)),
        "rate": refused(ask("chat/fail-429")),
        "down": refused(ask("claude/fail-503")),
        "wrong request": refused(ask("chat/fail-400", max_retries=2)),
        "models": lists(),
        "count": count(),
        "real": real(),
    }
)
