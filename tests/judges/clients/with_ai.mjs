// Vercel's AI SDK, with its providers `openai` (both interfaces), `openai-compatible`, `anthropic`.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embedMany, generateText, isStepCount, Output, streamText, tool } from "ai";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false;
const { url, keys, real = [] } = JSON.parse(process.argv[2]);
const QUESTION = "How is the weather in Paris and in 東京?";
const RESULT = "18 degrees, 多云";
const VENDORS = ["chat", "gpt", "claude", "gemini", "ollama"];

const FRONTS = {
  responses: (name, apiKey) => createOpenAI({ baseURL: `${url}/v1`, apiKey })(name), // its default
  chat: (name, apiKey) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat(name),
  compatible: (name, apiKey) =>
    createOpenAICompatible({
      name: "teahouse",
      baseURL: `${url}/v1`,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(name),
  anthropic: (name, apiKey) => createAnthropic({ baseURL: `${url}/v1`, apiKey })(name),
};
const model = (front, name, key = "full") => FRONTS[front](name, keys[key]);
const plain = { prompt: "tea", maxRetries: 0 };

async function streamed(front, name, more = {}) {
  const deltas = [];
  let failure = null;
  const result = streamText({
    model: model(front, name),
    ...plain,
    ...more,
    onError: ({ error }) => {
      failure = error;
    },
  });
  for await (const piece of result.textStream) deltas.push(piece);
  if (failure) throw failure;
  return {
    text: await result.text,
    deltas,
    finish: await result.finishReason,
    usage: await result.usage,
  };
}

// Several steps: two calls at once, their results, and an answer.
async function tools(front, vendor, stream, more = {}, mark = front) {
  const cities = [];
  const given = {
    model: model(front, `${vendor}/tools`),
    prompt: `${QUESTION} [${mark}]`,
    maxRetries: 0,
    stopWhen: isStepCount(4),
    tools: {
      weather: tool({
        description: "Tell the weather.",
        inputSchema: z.object({ city: z.string(), unit: z.string().optional() }),
        execute: ({ city }) => {
          cities.push(city);
          return RESULT;
        },
      }),
    },
    ...more,
  };
  let failure = null;
  const onError = ({ error }) => {
    failure = error;
  };
  const result = stream ? streamText({ ...given, onError }) : await generateText(given);
  const steps = await result.steps;
  if (failure) throw failure;
  return {
    cities,
    text: await result.text,
    steps: steps.length,
    thought: steps[0].reasoningText ?? null,
    calls: steps[0].toolCalls.map((call) => ({
      id: call.toolCallId,
      name: call.toolName,
      arguments: call.input,
    })),
    finish: await result.finishReason,
  };
}

async function structured(front, vendor) {
  const result = await generateText({
    model: model(front, `${vendor}/object`),
    ...plain,
    output: Output.object({ schema: z.object({ name: z.string(), degrees: z.number() }) }),
  });
  return result.output;
}

const ask = async (front, name, key = "full", more = {}) => {
  const result = await generateText({ model: model(front, name, key), ...plain, ...more });
  return { text: result.text, finish: result.finishReason, usage: result.usage };
};

async function left(front, vendor) {
  const aborting = new AbortController();
  const result = streamText({
    model: model(front, `${vendor}/hang`),
    ...plain,
    abortSignal: aborting.signal,
    onError: () => {},
  });
  for await (const piece of result.textStream) {
    if (!piece) continue;
    aborting.abort();
    return piece;
  }
}

async function refused(asking) {
  try {
    return { error: null, told: JSON.stringify(await asking).slice(0, 500) };
  } catch (error) {
    const inner = error.data?.error ?? error.data ?? error.error ?? {};
    return {
      error: error.name ?? error.constructor?.name,
      status: error.statusCode ?? null,
      code: inner.code ?? error.code ?? null,
      type: inner.type ?? null,
      retryable: error.isRetryable ?? null,
      retry_after: error.responseHeaders?.["retry-after"] ?? null,
      message: error.message ?? JSON.stringify(error),
    };
  }
}

async function rated() {
  const first = await ask("chat", "chat/text", "rated");
  return { first: first.text, second: await refused(ask("chat", "chat/text", "rated")) };
}

async function embeddings() {
  const found = await embedMany({
    model: createOpenAI({ baseURL: `${url}/v1`, apiKey: keys.full }).embedding("chat/embed"),
    values: ["tea", "茶"],
    maxRetries: 0,
  });
  return found.embeddings;
}

const thinking = {
  anthropic: {
    providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
  },
  stateless: { providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } } },
};
const scenes = {};
const fronts = Object.keys(FRONTS);
for (const front of fronts) {
  for (const vendor of VENDORS) {
    scenes[`streamed ${front} ${vendor}`] = () => streamed(front, `${vendor}/text`);
    scenes[`tools ${front} ${vendor}`] = () => tools(front, vendor, true, thinking[front]);
    scenes[`whole tools ${front} ${vendor}`] = () => tools(front, vendor, false, thinking[front]);
    scenes[`structured ${front} ${vendor}`] = () => structured(front, vendor);
  }
  scenes[`empty ${front}`] = () => ask(front, "claude/empty");
  scenes[`cut ${front}`] = () => refused(streamed(front, "claude/cut"));
  scenes[`left ${front}`] = () => left(front, "gemini");
  scenes[`late ${front}`] = () => streamed(front, "claude/late");
  scenes[`no provider ${front}`] = () => refused(ask(front, "none/none"));
  scenes[`wrong key ${front}`] = () => refused(ask(front, "chat/text", "wrong"));
  scenes[`narrow key ${front}`] = () => refused(ask(front, "claude/text", "narrow"));
  scenes[`too long ${front}`] = () => refused(ask(front, "claude/fail-context"));
  scenes[`rate ${front}`] = () => refused(ask(front, "chat/fail-429"));
  scenes[`down ${front}`] = () => refused(ask(front, "claude/fail-503"));
}
for (const vendor of VENDORS)
  scenes[`tools stateless ${vendor}`] = () => tools("responses", vendor, true, thinking.stateless, "stateless");
scenes["rated key"] = rated;
scenes["poor key"] = () => refused(ask("chat", "chat/text", "poor", { maxRetries: 2 }));
scenes.embeddings = embeddings;
scenes.real = async () => {
  const told = [];
  for (const name of real)
    for (const front of fronts)
      told.push({ chat: await streamed(front, name, { maxOutputTokens: 16 }) });
  return told;
};

const names = Object.keys(scenes).filter((name) => (name === "real") === real.length > 0);
const told = await Promise.all(
  names.map((name) => scenes[name]().catch((error) => ({ broke: `${error?.stack ?? JSON.stringify(error)}`, data: error?.responseBody }))),
);
console.log(JSON.stringify(Object.fromEntries(names.map((name, place) => [name, told[place] ?? null]))));
process.exit(0);
