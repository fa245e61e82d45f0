"""Plays the scenes of a judge all at once, and prints what came of each as one line of JSON."""

import asyncio
import json
import sys
import traceback

GIVEN = json.loads(sys.argv[1])
URL, KEYS = GIVEN["url"], GIVEN["keys"]
REAL = GIVEN.get("real", [])  # models of llama.cpp's, when nothing else is behind the house
VENDORS = ("chat", "gpt", "claude", "gemini", "ollama")
QUESTION = "How is the weather in Paris and in 東京?"
RESULT = "18 degrees, 多云"
LONGEST_S = 200
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city"],
}
OBJECT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["name", "degrees"],
    "additionalProperties": False,
}


def play(scenes):
    """`scenes`: coroutines by name."""
    for name in [name for name in scenes if (name == "real") != bool(REAL)]:
        scenes.pop(name).close()
    print(json.dumps(asyncio.run(_all(scenes))))


async def _all(scenes):
    told = await asyncio.gather(*map(_one, scenes.values()))
    return dict(zip(scenes, told, strict=True))


async def _one(scene):
    try:
        async with asyncio.timeout(LONGEST_S):
            return await scene
    except Exception:
        return {"broke": traceback.format_exc()}


async def refused(asking):
    """What the SDK makes of a refusal."""
    try:
        told = await asking
    except Exception as error:
        body = getattr(error, "body", None)
        inner = body.get("error", body) if isinstance(body, dict) else {}
        response = getattr(error, "response", None)
        headers = getattr(response, "headers", None) or {}
        return {
            "error": type(error).__name__,
            "bases": [base.__name__ for base in type(error).__mro__],
            "status": getattr(error, "status_code", None),
            "code": getattr(error, "code", None) or (inner or {}).get("code"),
            "type": (inner or {}).get("type"),
            "retry_after": headers.get("retry-after"),
            "message": str(error),
        }
    return {"error": None, "told": repr(told)[:500]}
