"""langchain-openai: its chat model over both of OpenAI's interfaces, and its embeddings."""

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel
from scenes import KEYS, QUESTION, REAL, RESULT, URL, VENDORS, play, refused


class Tea(BaseModel):
    """A tea."""

    name: str
    degrees: int


@tool
def weather(city: str, unit: str = "") -> str:
    """Tell the weather."""
    return RESULT


FRONTS = {"chat": {}, "responses": {"use_responses_api": True}}


def model(name, key="full", front="chat", **more):
    given = {"max_retries": 0} | FRONTS[front] | more
    return ChatOpenAI(model=name, base_url=f"{URL}/v1", api_key=KEYS[key], **given)


def told(message):
    return {
        "text": message.text,
        "calls": [
            {"id": c["id"], "name": c["name"], "arguments": c["args"]} for c in message.tool_calls
        ],
        "finish": message.response_metadata.get("finish_reason"),
        "usage": message.usage_metadata and dict(message.usage_metadata),
    }


async def streamed(name, front="chat"):
    whole, deltas = None, []
    async for chunk in model(name, front=front, stream_usage=True).astream("tea"):
        deltas.append(chunk.text)
        whole = chunk if whole is None else whole + chunk
    return told(whole) | {"deltas": [delta for delta in deltas if delta]}


async def tools(vendor, front):
    given = {"include": ["reasoning.encrypted_content"]} if front == "responses" else {}
    at = model(f"{vendor}/tools", front=front, **given).bind_tools([weather])
    talk = [HumanMessage(f"{QUESTION} [{front}]")]
    chunks = [chunk async for chunk in at.astream(talk)]
    streamed = chunks[0]
    for chunk in chunks[1:]:
        streamed = streamed + chunk
    first = await at.ainvoke(talk)
    results = [ToolMessage(RESULT, tool_call_id=call["id"]) for call in first.tool_calls]
    second = await at.ainvoke([*talk, first, *results])
    third = await at.ainvoke([*talk, streamed, *results])
    return {
        "streamed": told(streamed),
        "first": told(first),
        "second": told(second),
        "third": told(third),
    }


async def structured(vendor, front, method):
    at = model(f"{vendor}/object", front=front).with_structured_output(Tea, method=method)
    return (await at.ainvoke("tea")).model_dump()


async def ask(name, key="full", **more):
    return told(await model(name, key, **more).ainvoke("tea"))


async def left(vendor):
    stream = model(f"{vendor}/hang").astream("tea")
    heard = await anext(chunk.text async for chunk in stream if chunk.text)
    await stream.aclose()
    return heard


async def rated():
    first = await ask("chat/text", "rated")
    return {"first": first["text"], "second": await refused(ask("chat/text", "rated"))}


async def embeddings():
    at = OpenAIEmbeddings(
        model="chat/embed",
        base_url=f"{URL}/v1",
        api_key=KEYS["full"],
        check_embedding_ctx_length=False,
    )
    return await at.aembed_documents(["tea", "茶"])


async def real():
    return [
        {"chat": await ask(model, front=front, max_tokens=16)} for front in FRONTS for model in REAL
    ]


play(
    {
        **{f"streamed {f} {v}": streamed(f"{v}/text", f) for f in FRONTS for v in VENDORS},
        **{f"tools {f} {v}": tools(v, f) for f in FRONTS for v in VENDORS},
        **{
            f"structured {f} {m} {v}": structured(v, f, m)
            for f in FRONTS
            for m in ("json_schema", "json_mode")
            for v in ("chat", "claude", "gemini")
        },
        "empty": ask("gemini/empty"),
        **{f"cut {f}": refused(streamed("claude/cut", f)) for f in FRONTS},
        **{f"left {v}": left(v) for v in ("chat", "claude", "gemini")},
        **{f"late {f}": streamed("claude/late", f) for f in FRONTS},
        "no provider": refused(ask("none/none")),
        "wrong key": refused(ask("chat/text", "wrong")),
        "narrow key": refused(ask("claude/text", "narrow")),
        "rated key": rated(),
        "poor key": refused(ask("chat/text", "poor", max_retries=2)),
        "too long": refused(ask("claude/fail-context")),
        "too long for responses": refused(ask("claude/fail-context", front="responses")),
        "rate": refused(ask("chat/fail-429")),
        "down": refused(ask("claude/fail-503")),
        "embeddings": embeddings(),
        "real": real(),
    }
)
