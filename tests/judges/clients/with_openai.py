"""OpenAI's own Python SDK."""

import openai
from pydantic import BaseModel
from scenes import KEYS, OBJECT, PARAMETERS, QUESTION, REAL, RESULT, URL, VENDORS, play, refused


class weather(BaseModel):  # noqa: N801  the name of the tool
    city: str
    unit: str | None = None


class Tea(BaseModel):
    name: str
    degrees: int


def client(key="full", **more):
    return openai.AsyncOpenAI(
        base_url=f"{URL}/v1", api_key=KEYS[key], **({"max_retries": 0} | more)
    )


def user(text):
    return {"role": "user", "content": text}


def told(completion):
    choice = completion.choices[0]
    message = choice.message
    return {
        "text": message.content,
        "thought": getattr(message, "reasoning_content", None),
        "calls": [
            {"id": c.id, "name": c.function.name, "arguments": c.function.arguments}
            for c in message.tool_calls or []
        ],
        "finish": choice.finish_reason,
        "model": completion.model,
        "usage": completion.usage and completion.usage.model_dump(),
    }


async def streamed(model, **more):
    async with client() as at:
        async with at.chat.completions.stream(
            model=model, messages=[user("tea")], stream_options={"include_usage": True}, **more
        ) as stream:
            deltas = [event.delta async for event in stream if event.type == "content.delta"]
            whole = await stream.get_final_completion()
        return told(whole) | {"deltas": deltas}


async def tools(vendor):
    """Two calls at once, their results, and the thought back with its signature."""
    async with client() as at:
        messages, given = [user(f"{QUESTION} [chat]")], [openai.pydantic_function_tool(weather)]
        async with at.chat.completions.stream(
            model=f"{vendor}/tools", messages=messages, tools=given
        ) as stream:
            first = await stream.get_final_completion()
        message = first.choices[0].message
        parsed = [c.function.parsed_arguments.model_dump() for c in message.tool_calls]
        messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": RESULT}
            for call in message.tool_calls
        ]
        second = await at.chat.completions.create(
            model=f"{vendor}/tools", messages=messages, tools=given
        )
        whole = await at.chat.completions.create(
            model=f"{vendor}/tools", messages=messages[:1], tools=given
        )
        return {
            "first": told(first),
            "parsed": parsed,
            "second": told(second),
            "whole": told(whole),
        }


def said(response):
    thoughts = [p.text for i in response.output if i.type == "reasoning" for p in i.summary]
    return {
        "text": response.output_text,
        "thought": "".join(thoughts),
        "calls": [
            {"id": i.call_id, "name": i.name, "arguments": i.arguments}
            for i in response.output
            if i.type == "function_call"
        ],
        "status": response.status,
        "usage": response.usage and response.usage.model_dump(),
    }


def function(name="weather"):
    tool = {"type": "function", "name": name, "description": "", "strict": False}
    return tool | {"parameters": PARAMETERS}


async def steps(vendor):
    """As `tools`, over the Responses API: all items go back."""
    async with client() as at:
        items, given = (
            [user(f"{QUESTION} [responses]")],
            {"model": f"{vendor}/tools", "tools": [function()]},
        )
        given |= {"store": False, "include": ["reasoning.encrypted_content"]}
        async with at.responses.stream(input=items, **given) as stream:
            kinds = [event.type async for event in stream]
            first = await stream.get_final_response()
        items += [item.model_dump(exclude_none=True) for item in first.output]
        for call in [item for item in first.output if item.type == "function_call"]:
            output = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
            items.append(output)
        second = await at.responses.create(input=items, **given)
        return {"first": said(first), "second": said(second), "last": kinds[-1]}


async def response_streamed(model):
    async with client() as at, at.responses.stream(model=model, input="tea") as stream:
        deltas = [e.delta async for e in stream if e.type == "response.output_text.delta"]
        return said(await stream.get_final_response()) | {"deltas": deltas}


async def structured(vendor):
    async with client() as at:
        chat = await at.chat.completions.parse(
            model=f"{vendor}/object", messages=[user("tea")], response_format=Tea
        )
        response = await at.responses.parse(model=f"{vendor}/object", input="tea", text_format=Tea)
        form = {"name": "tea", "strict": True, "schema": OBJECT}
        plain = await at.chat.completions.create(
            model=f"{vendor}/object",
            messages=[user("tea")],
            response_format={"type": "json_schema", "json_schema": form},
        )
        return {
            "chat": chat.choices[0].message.parsed.model_dump(),
            "responses": response.output_parsed.model_dump(),
            "plain": plain.choices[0].message.content,
        }


async def long(vendor):
    given = {"model": f"{vendor}/long", "messages": [user("tea")], "tools": [tool("write")]}
    async with client() as at, at.chat.completions.stream(**given) as stream:
        return told(await stream.get_final_completion())


def tool(name):
    return {"type": "function", "function": {"name": name, "parameters": PARAMETERS}}


async def ask(model, key="full", **more):
    async with client(key, **more) as at:
        return told(await at.chat.completions.create(model=model, messages=[user("tea")]))


async def respond(model):
    async with client() as at:
        return said(await at.responses.create(model=model, input="tea"))


async def cut(vendor):
    return await refused(streamed(f"{vendor}/cut"))


async def response_cut(vendor):
    """Through `create`: it raises where the stream holds an error."""
    async with client() as at:

        async def read():
            stream = await at.responses.create(model=f"{vendor}/cut", input="tea", stream=True)
            return [event.type async for event in stream]

        return await refused(read())


async def left(vendor):
    """Hears a little, and goes."""
    async with client() as at:
        heard = []
        stream = await at.chat.completions.create(
            model=f"{vendor}/hang", messages=[user("tea")], stream=True
        )
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                heard.append(chunk.choices[0].delta.content)
                break
        await stream.close()
        return heard


async def rated():
    first = await ask("chat/text", "rated")
    return {"first": first["text"], "second": await refused(ask("chat/text", "rated"))}


async def patient():
    """Comes back after a moment, as it is told."""
    async with client(max_retries=2) as at:
        raw = await at.chat.completions.with_raw_response.create(
            model="chat/busy", messages=[user("tea")]
        )
        return {"text": told(raw.parse())["text"], "retries": raw.retries_taken}


async def lists():
    async with client() as at:
        found = [model.id async for model in at.models.list()]
        one = await at.models.retrieve("chat/fake")
        missing = await refused(at.models.retrieve("chat/none"))
        return {"found": found, "one": one.id, "missing": missing}


async def embeddings():
    async with client() as at:
        found = await at.embeddings.create(model="chat/embed", input=["tea", "茶"])
        plain = await at.embeddings.create(model="chat/embed", input="tea", encoding_format="float")
        return {
            "vectors": [row.embedding for row in found.data],
            "plain": [row.embedding for row in plain.data],
            "usage": found.usage.model_dump(),
        }


async def impatient():
    """A client that waits no longer: its own timeout, and the model is let go."""
    return await refused(ask("chat/silent", timeout=0.5))


async def real():
    return [await local(model) for model in REAL]


async def local(model):
    form = {"type": "json_schema", "json_schema": {"name": "tea", "schema": OBJECT}}
    tea = {"messages": [user("A tea and its degrees, as JSON.")], "response_format": form}
    few = {"model": model, "max_tokens": 4, "stream_options": {"include_usage": True}}
    async with client() as at:
        stream = await at.chat.completions.create(messages=[user("Say tea.")], stream=True, **few)
        chunks = [chunk async for chunk in stream]
        response = await at.responses.create(model=model, input="Say tea.", max_output_tokens=4)
        shaped = await at.chat.completions.create(model=model, max_tokens=40, **tea)
        return {
            "chat": {
                "text": "".join(c.choices[0].delta.content or "" for c in chunks if c.choices),
                "finish": next(c.choices[0].finish_reason for c in chunks[::-1] if c.choices),
                "usage": chunks[-1].usage.model_dump(),
            },
            "responses": said(response),
            "shaped": shaped.choices[0].message.content,
        }


play(
    {
        **{f"streamed {v}": streamed(f"{v}/text") for v in VENDORS},
        **{f"responses {v}": response_streamed(f"{v}/text") for v in VENDORS},
        **{f"tools {v}": tools(v) for v in VENDORS},
        **{f"steps {v}": steps(v) for v in VENDORS},
        **{f"structured {v}": structured(v) for v in VENDORS},
        **{f"long {v}": long(v) for v in ("chat", "claude", "gemini")},
        **{f"empty {v}": ask(f"{v}/empty") for v in VENDORS},
        **{f"empty responses {v}": respond(f"{v}/empty") for v in VENDORS},
        **{f"cut {v}": cut(v) for v in ("chat", "claude", "gpt")},
        **{f"cut responses {v}": response_cut(v) for v in ("chat", "gemini", "claude")},
        **{f"left {v}": left(v) for v in ("chat", "claude", "gemini")},
        **{f"slow {v}": streamed(f"{v}/slow") for v in ("chat", "claude")},
        **{f"late {v}": streamed(f"{v}/late") for v in ("chat", "claude")},
        "late responses": response_streamed("gemini/late"),
        "impatient": impatient(),
        "patient": patient(),
        "no provider": refused(ask("none/none")),
        "no model": refused(ask("chat/none")),
        "no model of Claude's": refused(ask("claude/none")),
        "wrong key": refused(ask("chat/text", "wrong")),
        "narrow key": refused(ask("claude/text", "narrow")),
        "rated key": rated(),
        "poor key": refused(ask("chat/text", "poor", max_retries=2)),
        "too long": refused(ask("claude/fail-context")),
        "filtered": refused(ask("gemini/fail-filter")),
        "quota": refused(ask("chat/fail-402", max_retries=2)),
        "rate": refused(ask("claude/fail-429")),
        "down": refused(ask("ollama/fail-503")),
        "key of the house": refused(ask("chat/fail-401", max_retries=2)),
        "wrong request": refused(ask("chat/fail-400", max_retries=2)),
        "models": lists(),
        "embeddings": embeddings(),
        "real": real(),
    }
)
