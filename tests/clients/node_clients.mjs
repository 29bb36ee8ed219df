// Node clients, each as its own documentation uses it: node_clients.mjs NAME BASE_URL TURNS.  See run.py.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

// The packages are where $RONDO_CLIENTS_NODE says, not beside this file.
const from = createRequire(path.join(process.env.RONDO_CLIENTS_NODE, "package.json"));
const load = async (name) => import(pathToFileURL(from.resolve(name)).href);

const SYSTEM = "You read the parts of a long text.\nUse the tool, then say what you found.";
const task = (number) => `Read part ${number} and go on with those behind it.`;
const DESCRIPTION = "Reads one part of the text.";
const PARAMETERS = {
  type: "object", required: ["number"],
  properties: { number: { type: "integer" }, names: { type: "array", items: { type: "string" } } },
};
const readPart = ({ number, names = [] }) => `Part ${number}: the quick brown fox, ${names.join(", ")}.\nIt ends here.`;

async function openaiChat(base, turns) {
  const { default: OpenAI } = await load("openai");
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "none" });
  const tools = [{ type: "function", function: { name: "read_part", description: DESCRIPTION, parameters: PARAMETERS } }];
  const messages = [{ role: "system", content: SYSTEM }, { role: "user", content: task(1) }];
  for (let had = 1; ; ++had) {
    const message = await client.chat.completions.stream({ model: "served", messages, tools }).finalMessage();
    messages.push(message);
    if (had >= turns) return;
    for (const call of message.tool_calls ?? [])
      messages.push({ role: "tool", tool_call_id: call.id, content: readPart(JSON.parse(call.function.arguments)) });
    if (!message.tool_calls?.length) messages.push({ role: "user", content: task(had) });
  }
}

async function openaiResponses(base, turns) {
  const { default: OpenAI } = await load("openai");
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "none" });
  const tools = [{ type: "function", name: "read_part", description: DESCRIPTION, parameters: PARAMETERS, strict: false }];
  const input = [{ role: "user", content: task(1) }];
  for (let had = 1; ; ++had) {
    const stream = await client.responses.create({ model: "served", instructions: SYSTEM, input, tools, store: false, stream: true });
    let response;
    for await (const event of stream) if (event.type === "response.completed") response = event.response;
    input.push(...response.output);
    if (had >= turns) return;
    const calls = response.output.filter((item) => item.type === "function_call");
    for (const call of calls)
      input.push({ type: "function_call_output", call_id: call.call_id, output: readPart(JSON.parse(call.arguments)) });
    if (calls.length === 0) input.push({ role: "user", content: task(had) });
  }
}

async function anthropicMessages(base, turns) {
  const { default: Anthropic } = await load("@anthropic-ai/sdk");
  const client = new Anthropic({ baseURL: base, apiKey: "none" });
  const tools = [{ name: "read_part", description: DESCRIPTION, input_schema: PARAMETERS }];
  const messages = [{ role: "user", content: task(1) }];
  for (let had = 1; ; ++had) {
    const asked = { model: "served", max_tokens: 2000, system: SYSTEM, messages, tools };
    const message = await client.messages.stream(asked).finalMessage();
    messages.push({ role: "assistant", content: message.content });
    if (had >= turns) return;
    const results = message.content.filter((block) => block.type === "tool_use")
      .map((block) => ({ type: "tool_result", tool_use_id: block.id, content: readPart(block.input) }));
    messages.push({ role: "user", content: results.length > 0 ? results : task(had) });
  }
}

async function aiSdk(model, turns, providerOptions = {}) {
  const { streamText, tool, jsonSchema, stepCountIs } = await load("ai");
  const tools = { read_part: tool({ description: DESCRIPTION, inputSchema: jsonSchema(PARAMETERS), execute: async (input) => readPart(input) }) };
  const messages = [{ role: "user", content: task(1) }];
  for (let had = 0; had < turns;) {
    const result = streamText({ model, system: SYSTEM, messages, tools, providerOptions, stopWhen: stepCountIs(100) });
    await result.consumeStream();
    had += (await result.steps).length;
    messages.push(...(await result.response).messages, { role: "user", content: task(had) });
  }
}

const CLIENTS = {
  "node-openai": openaiChat,
  "node-openai-responses": openaiResponses,
  "node-anthropic": anthropicMessages,
  "ai-sdk-openai": async (base, turns) => {
    const { createOpenAI } = await load("@ai-sdk/openai");
    await aiSdk(createOpenAI({ baseURL: `${base}/v1`, apiKey: "none" })("served"), turns);
  },
  "ai-sdk-openai-unstored": async (base, turns) => {
    const { createOpenAI } = await load("@ai-sdk/openai");
    const options = { openai: { store: false, include: ["reasoning.encrypted_content"] } };
    await aiSdk(createOpenAI({ baseURL: `${base}/v1`, apiKey: "none" })("served"), turns, options);
  },
  "ai-sdk-openai-compatible": async (base, turns) => {
    const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
    await aiSdk(createOpenAICompatible({ name: "rondo", baseURL: `${base}/v1`, apiKey: "none" })("served"), turns);
  },
  "ai-sdk-anthropic": async (base, turns) => {
    const { createAnthropic } = await load("@ai-sdk/anthropic");
    await aiSdk(createAnthropic({ baseURL: `${base}/v1`, apiKey: "none" })("served"), turns);
  },
};

const [name, base, turns] = process.argv.slice(2);
await CLIENTS[name](base, Number(turns));
