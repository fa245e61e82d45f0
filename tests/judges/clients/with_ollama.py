"""Ollama's own Python client."""

import ollama
from scenes import KEYS, OBJECT, PARAMETERS, QUESTION, REAL, RESULT, URL, VENDORS, play, refused

TOOL = {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}


def client(key="full", **more):
    headers = {"Authorization": f"Bearer {KEYS[key]}"}
    return ollama.AsyncClient(host=f"{URL}/ollama", headers=headers, **more)


def user(text):
    return {"role": "user", "content": text}


def told(reply):
    message = reply.message
    return {
        "text": message.content,
        "thought": message.thinking,
        "calls": [
            {"name": c.function.name, "arguments": dict(c.function.arguments)}
            for c in message.tool_calls or []
        ],
        "finish": reply.done_reason,
        "model": reply.model,
        "usage": [reply.prompt_eval_count, reply.eval_count],
    }


async def ask(model, key="full", **more):
    return told(await client(key).chat(model=model, messages=[user("tea")], **more))


async def streamed(model, **more):
    parts = [
        part
        async for part in await client().chat(
            model=model, messages=[user("tea")], stream=True, **more
        )
    ]
    return told(parts[-1]) | {
        "deltas": [part.message.content for part in parts if part.message.content],
        "ends": [part.done for part in parts].count(True),
    }


async def tools(vendor):
    at, talk = client(), [user(QUESTION)]
    given = {"model": f"{vendor}/tools", "tools": [TOOL], "think": True}
    parts = [part async for part in await at.chat(messages=talk, stream=True, **given)]
    calls = [call for part in parts for call in part.message.tool_calls or []]
    first = await at.chat(messages=talk, **given)
    talk.append(first.message)
    talk += [
        {"role": "tool", "tool_name": call.function.name, "content": RESULT}
        for call in first.message.tool_calls
    ]
    second = await at.chat(messages=talk, **given)
    return {
        "streamed": [dict(call.function.arguments) for call in calls],
        "thought": "".join(part.message.thinking or "" for part in parts),
        "first": told(first),
        "second": told(second),
    }


async def structured(vendor):
    return (await ask(f"{vendor}/object", format=OBJECT))["text"]


async def generated(vendor):
    whole = await client().generate(model=f"{vendor}/text", prompt="tea")
    parts = [
        part.response
        async for part in await client().generate(model=f"{vendor}/text", prompt="tea", stream=True)
    ]
    return {"whole": whole.response, "streamed": "".join(parts)}


async def left(vendor):
    stream = await client().chat(model=f"{vendor}/hang", messages=[user("tea")], stream=True)
    heard = await anext(part.message.content async for part in stream if part.message.content)
    await stream.aclose()
    return heard


async def rated():
    first = await ask("chat/text", "rated")
    return {"first": first["text"], "second": await refused(ask("chat/text", "rated"))}


async def lists():
    found = [model.model for model in (await client().list()).models]
    shown = await client().show("chat/fake")
    missing = await refused(client().show("chat/none"))
    running = [model.model for model in (await client().ps()).models]
    return {
        "found": found,
        "can": shown.capabilities,
        "missing": missing,
        "running": running,
    }


async def embeddings():
    at = client()
    new = await at.embed(model="chat/embed", input=["tea", "茶"])
    old = await at.embeddings(model="chat/embed", prompt="tea")
    return {"new": [list(one) for one in new.embeddings], "old": list(old.embedding)}


async def real():
    return [await local(model) for model in REAL]


async def local(model):
    few = {"model": model, "options": {"num_predict": 4}}
    talk = {"messages": [user("Say tea.")]}
    chat = await client().chat(**few, **talk)
    parts = [part async for part in await client().chat(**few, **talk, stream=True)]
    return {"chat": told(chat), "streamed": [part.message.content for part in parts]}


play(
    {
        **{f"streamed {v}": streamed(f"{v}/text") for v in VENDORS},
        **{f"tools {v}": tools(v) for v in VENDORS},
        **{f"structured {v}": structured(v) for v in VENDORS},
        **{f"generated {v}": generated(v) for v in ("chat", "claude", "gemini")},
        **{f"empty {v}": ask(f"{v}/empty") for v in VENDORS},
        **{f"cut {v}": refused(streamed(f"{v}/cut")) for v in ("chat", "claude", "gemini")},
        **{f"left {v}": left(v) for v in ("chat", "claude", "gemini")},
        **{f"late {v}": streamed(f"{v}/late") for v in ("chat", "claude")},
        "no provider": refused(ask("none/none")),
        "wrong key": refused(ask("chat/text", "wrong")),
        "narrow key": refused(ask("claude/text", "narrow")),
        "rated key": rated(),
        "poor key": refused(ask("chat/text", "poor")),
        "too long": refused(ask("claude/fail-context")),
        "rate": refused(ask("chat/fail-429")),
        "models": lists(),
        "embeddings": embeddings(),
        "real": real(),
    }
)
