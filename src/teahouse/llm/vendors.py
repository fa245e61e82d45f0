"""Vendors as rows: where they are and how they differ. A new one is a line here, no code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from teahouse.llm.profiles import DEFAULT, Profile
from teahouse.llm.settings import WireName


class Vendor(Struct, frozen=True, kw_only=True):
    """`base_url` is None where the owner must say it; `path` goes behind one that is but a host.
    `key`: whether one is needed, and `key_header` bears it where that is not the dialect's own.
    `wire` is the dialect that it speaks best; the owner may choose another that it speaks too."""

    name: str
    base_url: str | None
    path: str = ""
    key_header: str | None = None
    wire: WireName = "openai_chat"
    profile: Profile = DEFAULT
    key: bool = True


_OWN_SERVER = Profile(think_tags=True, empty_content="string")  # a server one runs oneself

_OPENAI = Profile(
    max_tokens="max_completion_tokens",
    reasoning_back="never",
    effort="reasoning_effort",
    pdf=True,
)

VENDORS: Final[Mapping[str, Vendor]] = {
    "openai": Vendor(name="OpenAI", base_url="https://api.openai.com/v1", profile=_OPENAI),
    "azure": Vendor(  # each customer has a host, and calls models as the deployments there
        name="Azure OpenAI",
        base_url=None,
        path="/openai/v1",
        key_header="api-key",
        profile=_OPENAI,
    ),
    "anthropic": Vendor(
        name="Anthropic",
        base_url="https://api.anthropic.com/v1",
        wire="anthropic",
        profile=Profile(prompt_cache=True),
    ),
    "deepseek": Vendor(
        name="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        profile=Profile(
            empty_content="string",
            json_schema=False,
            vision=False,
            effort="thinking",
            forced_thinks=False,
        ),
    ),
    "moonshot": Vendor(
        name="Moonshot",
        base_url="https://api.moonshot.cn/v1",
        profile=Profile(empty_content="string", effort="thinking", forced_thinks=False),
    ),
    "dashscope": Vendor(
        name="DashScope",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        profile=Profile(
            empty_content="string",
            effort="enable_thinking",
            forced_thinks=False,
            tool_choices=("none", "one"),
        ),
    ),
    "zhipu": Vendor(
        name="Zhipu",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        profile=Profile(json_schema=False, effort="thinking", tool_choices=()),
    ),
    "siliconflow": Vendor(
        name="SiliconFlow",
        base_url="https://api.siliconflow.cn/v1",
        profile=Profile(empty_content="string"),
    ),
    "volcengine": Vendor(
        name="Volcengine Ark", base_url="https://ark.cn-beijing.volces.com/api/v3"
    ),
    "groq": Vendor(
        name="Groq",
        base_url="https://api.groq.com/openai/v1",
        profile=Profile(reasoning_field="reasoning"),
    ),
    "mistral": Vendor(
        name="Mistral",
        base_url="https://api.mistral.ai/v1",
        profile=Profile(
            include_usage=False,
            reasoning_back="never",
            empty_content="string",
            continues="prefix",
            seed="random_seed",
            user_after_results=False,
        ),
    ),
    "openrouter": Vendor(
        name="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        profile=Profile(effort="reasoning", pdf=True),
    ),
    "xai": Vendor(
        name="xAI",
        base_url="https://api.x.ai/v1",
        profile=Profile(reasoning_back="never", thoughts_apart=True),
    ),
    "together": Vendor(name="Together", base_url="https://api.together.xyz/v1"),
    "google": Vendor(
        name="Google",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        profile=Profile(
            reasoning_back="never", effort="reasoning_effort", seed=None, parallel_calls=False
        ),
    ),
    "gemini": Vendor(
        name="Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        wire="gemini",
    ),
    "ollama": Vendor(
        name="Ollama", base_url="http://127.0.0.1:11434/v1", profile=_OWN_SERVER, key=False
    ),
    "lmstudio": Vendor(
        name="LM Studio",
        base_url="http://127.0.0.1:1234/v1",
        profile=replace(_OWN_SERVER, tool_choices=("none", "required")),
        key=False,
    ),
    "vllm": Vendor(
        name="vLLM",
        base_url="http://127.0.0.1:8000/v1",
        profile=replace(_OWN_SERVER, continues="final"),
        key=False,
    ),
    "llamacpp": Vendor(
        name="llama.cpp",
        base_url="http://127.0.0.1:8080/v1",
        profile=replace(_OWN_SERVER, continues="plain", tool_choices=("none", "required")),
        key=False,
    ),
    "local": Vendor(
        name="Local model",
        base_url=None,
        profile=Profile(
            tools="schema",
            think_tags=True,
            empty_content="string",
            vision=False,
            # Qwen's own advice on sampling; without it the small ones repeat themselves for ever
            extra={"top_k": 20, "top_p": 0.8, "repeat_penalty": 1.1},
        ),
        key=False,
    ),
    "custom": Vendor(name="Custom", base_url=None, key=False),
}
