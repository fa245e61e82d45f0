"""litellm, as a client of three of our dialects: its providers `openai` and `anthropic` and
`ollama_chat`."""

import json

import litellm
from scenes import KEYS, OBJECT, PARAMETERS, QUESTION, REAL, RESULT, URL, VENDORS, play, refused

litellm.suppress_debug_info = True
BASES = {
    "openai": f"{URL}/v1",
    "anthropic": URL,
    "ollama_chat": f"{URL}/ollama",
}
FRONTS = tuple(BASES)
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "", "parameters": PARAMETERS},
}


def user(text):
    return {"role": "user", "content": text}


def ask(model, front="openai", key="full", messages=None, **more):
    return litellm.acompletion(
        model=f"{front}/{model}",
        api_base=BASES[front],
        api_key=KEYS[key],
        messages=messages or [user("tea")],
        **({"num_retries": 0, "max_retries": 0} | more),
    )


def told(reply):
    choice = reply.choices[0]
    message = choice.message
    usage = getattr(reply, "usage", None)
    return {
        "text": message.content,
        "thought": getattr(message, "reasoning_content", None),
        "calls": [
            {"id": c.id, "name": c.function.name, "arguments": json.loads(c.function.arguments)}
            for c in message.tool_calls or []
        ],
        "finish": choice.finish_reason,
        "usage": usage and usage.model_dump(),
    }


async def whole(model, front="openai", key="full", **more):
    return told(await ask(model, front, key, **more))


async def streamed(model, front="openai"):
    stream = await ask(model, front, stream=True, stream_options={"include_usage": True})
    chunks = [chunk async for chunk in stream]
    deltas = [c.choices[0].delta.content for c in chunks if c.choices]
    rebuilt = litellm.stream_chunk_builder(chunks)
    return told(rebuilt) | {"deltas": [delta for delta in deltas if delta]}


async def tools(vendor, front):
    """Streamed calls, their results, and the whole message back."""
    given, model = {"tools": [TOOL]}, f"{vendor}/tools"
    if front == "anthropic":
        given["thinking"] = {"type": "enabled", "budget_tokens": 1024}
        given["allowed_openai_params"] = ["thinking"]  # it knows no model of these names
        given["max_tokens"] = 2000
    talk = [user(f"{QUESTION} [{front}]")]
    stream = await ask(model, front, messages=talk, stream=True, **given)
    streamed = litellm.stream_chunk_builder([chunk async for chunk in stream])
    first = await ask(model, front, messages=talk, **given)
    message = first.choices[0].message
    talk.append(message.model_dump(exclude_none=True))
    talk += [
        {"role": "tool", "tool_call_id": call.id, "content": RESULT} for call in message.tool_calls
    ]
    second = await ask(model, front, messages=talk, **given)
    return {"streamed": told(streamed), "first": told(first), "second": told(second)}


async def structured(vendor, front):
    schema = {"name": "tea", "strict": True, "schema": OBJECT}
    form = {"type": "json_schema", "json_schema": schema}
    return (await whole(f"{vendor}/object", front, response_format=form))["text"]


async def left(vendor, front):
    stream = await ask(f"{vendor}/hang", front, stream=True)
    pieces = (chunk.choices[0].delta.content async for chunk in stream)
    heard = await anext(piece async for piece in pieces if piece)
    await stream.aclose()
    return heard


async def rated():
    first = await whole("chat/text", key="rated")
    return {"first": first["text"], "second": await refused(ask("chat/text", key="rated"))}


async def embeddings():
    found = await litellm.aembedding(
        model="openai/chat/embed", api_base=BASES["openai"], api_key=KEYS["full"], input=["tea"]
    )
    return [row["embedding"] for row in found.data]


async def real():
    return [{"chat": await whole(model, front, max_tokens=4)} for front in FRONTS for model in REAL]


play(
    {
        **{f"streamed {f} {v}": streamed(f"{v}/text", f) for f in FRONTS for v in VENDORS},
        **{f"tools {f} {v}": tools(v, f) for f in FRONTS for v in VENDORS},
        **{
            f"structured {f} {v}": structured(v, f)
            for f in ("openai", "ollama_chat")
            for v in ("chat", "claude", "gemini")
        },
        **{f"empty {f}": whole("claude/empty", f) for f in FRONTS},
        **{f"cut {f}": refused(streamed("claude/cut", f)) for f in FRONTS},
        **{f"left {f}": left("gemini", f) for f in FRONTS},
        **{f"late {f}": streamed("claude/late", f) for f in FRONTS},
        **{f"no provider {f}": refused(ask("none/none", f)) for f in FRONTS},
        **{f"wrong key {f}": refused(ask("chat/text", f, "wrong")) for f in FRONTS},
        **{f"narrow key {f}": refused(ask("claude/text", f, "narrow")) for f in FRONTS},
        "rated key": rated(),
        "poor key": refused(ask("chat/text", key="poor", max_retries=2)),
        **{f"too long {f}": refused(ask("gemini/fail-context", f)) for f in FRONTS},
        "filtered": refused(ask("claude/fail-filter")),
        **{f"rate {f}": refused(ask("chat/fail-429", f)) for f in FRONTS},
        **{f"down {f}": refused(ask("claude/fail-503", f)) for f in FRONTS},
        "embeddings": embeddings(),
        "real": real(),
    }
)
