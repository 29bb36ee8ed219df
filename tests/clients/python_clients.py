"""Python clients, each as its own documentation uses it: python_clients.py NAME BASE_URL TURNS.  See run.py."""
import asyncio
import json
import pathlib
import sys

SYSTEM = "You read the parts of a long text.\nUse the tool, then say what you found."
TASK = "Read part {} and go on with those behind it."
DESCRIPTION = "Reads one part of the text."
PARAMETERS = {"type": "object", "properties": {"number": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}},
              "required": ["number"]}
PLAIN = "nothing is missing"


def read_part(number, names=()):
    return f"Part {number}: the quick brown fox, {', '.join(names)}.\nIt ends here."


class Count:
    """Replies so far, and how many are wanted."""

    def __init__(self, wanted):
        self.wanted, self.had = wanted, 0

    def more(self):
        self.had += 1
        return self.had < self.wanted


def openai_chat(base, turns):
    import openai
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="none")
    tools = [{"type": "function", "function": {"name": "read_part", "description": DESCRIPTION, "parameters": PARAMETERS}}]
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK.format(1)}]
    count = Count(turns)
    while True:
        with client.chat.completions.stream(model="served", messages=messages, tools=tools) as stream:
            message = stream.get_final_completion().choices[0].message
        messages.append(message)
        if not count.more():
            return
        for call in message.tool_calls or []:
            result = read_part(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not message.tool_calls:
            messages.append({"role": "user", "content": TASK.format(count.had)})


def openai_responses(base, turns, stored=False):
    import openai
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="none")
    tools = [{"type": "function", "name": "read_part", "description": DESCRIPTION, "parameters": PARAMETERS, "strict": False}]
    items = [{"role": "user", "content": TASK.format(1)}]
    more = {} if stored else {"store": False, "include": ["reasoning.encrypted_content"]}
    count = Count(turns)
    while True:
        with client.responses.stream(model="served", instructions=SYSTEM, input=items, tools=tools, **more) as stream:
            for _ in stream:
                pass
            response = stream.get_final_response()
        if not count.more():
            return
        calls = [item for item in response.output if item.type == "function_call"]
        new = [{"type": "function_call_output", "call_id": call.call_id, "output": read_part(**json.loads(call.arguments))}
               for call in calls] or [{"role": "user", "content": TASK.format(count.had)}]
        if stored:
            items, more = new, {"previous_response_id": response.id}
        else:
            # What the helper puts beside what was sent (parsed arguments) is not sent back.
            unsent = {"parsed_arguments", "parsed", "status"}
            items += [{key: value for key, value in item.model_dump(exclude_none=True).items() if key not in unsent}
                      for item in response.output]
            for item in items:
                for part in item.get("content") or [] if isinstance(item.get("content"), list) else []:
                    part.pop("parsed", None)
            items += new


def anthropic_messages(base, turns):
    import anthropic
    client = anthropic.Anthropic(base_url=base, api_key="none")
    tools = [{"name": "read_part", "description": DESCRIPTION, "input_schema": PARAMETERS}]
    messages = [{"role": "user", "content": TASK.format(1)}]
    count = Count(turns)
    while True:
        with client.messages.stream(model="served", max_tokens=2000, system=SYSTEM, messages=messages, tools=tools) as stream:
            message = stream.get_final_message()
        messages.append({"role": "assistant", "content": message.content})
        if not count.more():
            return
        results = [{"type": "tool_result", "tool_use_id": block.id, "content": read_part(**block.input)}
                   for block in message.content if block.type == "tool_use"]
        messages.append({"role": "user", "content": results or TASK.format(count.had)})


def langchain(model, turns):
    from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tools import StructuredTool
    tool = StructuredTool.from_function(read_part, name="read_part", description=DESCRIPTION, args_schema=PARAMETERS)
    bound = model.bind_tools([tool])
    messages = [SystemMessage(SYSTEM), HumanMessage(TASK.format(1))]
    count = Count(turns)
    while True:
        reply = None
        for chunk in bound.stream(messages):
            reply = chunk if reply is None else reply + chunk
        messages.append(reply)
        if not count.more():
            return
        messages += [ToolMessage(read_part(**call["args"]), tool_call_id=call["id"]) for call in reply.tool_calls]
        if not reply.tool_calls:
            messages.append(HumanMessage(TASK.format(count.had)))


def langchain_openai(base, turns, responses=False):
    from langchain_openai import ChatOpenAI
    langchain(ChatOpenAI(base_url=f"{base}/v1", api_key="none", model="served", use_responses_api=responses), turns)


def langchain_anthropic(base, turns):
    from langchain_anthropic import ChatAnthropic
    langchain(ChatAnthropic(base_url=base, api_key="none", model="served", max_tokens=2000), turns)


def with_litellm(base, turns):
    import litellm
    tools = [{"type": "function", "function": {"name": "read_part", "description": DESCRIPTION, "parameters": PARAMETERS}}]
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK.format(1)}]
    count = Count(turns)
    while True:
        chunks = list(litellm.completion(model="openai/served", api_base=f"{base}/v1", api_key="none", messages=messages, tools=tools,
                                         stream=True))
        message = litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not count.more():
            return
        for call in message.tool_calls or []:
            result = read_part(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not message.tool_calls:
            messages.append({"role": "user", "content": TASK.format(count.had)})


def with_pydantic_ai(base, turns, responses=False):
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider
    kind = OpenAIResponsesModel if responses else OpenAIChatModel
    # Over Responses it asks for a summary of the reasoning, keeps that as text between tags, and sends it back.
    settings = {"openai_reasoning_summary": "auto"} if responses else None
    agent = Agent(kind("served", provider=OpenAIProvider(base_url=f"{base}/v1", api_key="none")), instructions=SYSTEM,
                  model_settings=settings)

    @agent.tool_plain(name="read_part", description=DESCRIPTION)
    def part(number: int, names: list[str] = []) -> str:
        return read_part(number, names)

    async def talk():
        history, had = [], 0
        while had < turns:
            async with agent.run_stream(TASK.format(had + 1), message_history=history) as result:
                async for _ in result.stream_text():
                    pass
            history = result.all_messages()
            had = sum(isinstance(message, ModelResponse) for message in history)

    asyncio.run(talk())


def openai_agents(base, turns, chat=False):
    import agents
    import openai
    client = openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="none")
    agents.set_tracing_disabled(True)
    kind = agents.OpenAIChatCompletionsModel if chat else agents.OpenAIResponsesModel

    @agents.function_tool(name_override="read_part", description_override=DESCRIPTION)
    def part(number: int, names: list[str]) -> str:
        return read_part(number, names)

    agent = agents.Agent(name="reader", instructions=SYSTEM, tools=[part], model=kind(model="served", openai_client=client))

    async def talk():
        items, had = [], 0
        while had < turns:
            result = agents.Runner.run_streamed(agent, [*items, {"role": "user", "content": TASK.format(had + 1)}], max_turns=100)
            async for _ in result.stream_events():
                pass
            items = result.to_input_list()
            had += len(result.raw_responses)

    asyncio.run(talk())


def with_smolagents(base, turns):
    import smolagents

    @smolagents.tool
    def read_part_tool(number: int, names: list) -> str:
        """Reads one part of the text.

        Args:
            number: which part
            names: whose part
        """
        return read_part(number, names)

    read_part_tool.name = "read_part"
    model = smolagents.OpenAIServerModel("served", api_base=f"{base}/v1", api_key="none")
    agent = smolagents.ToolCallingAgent(tools=[read_part_tool], model=model, max_steps=turns, stream_outputs=True)
    agent.run(TASK.format(1))


def mini_swe_agent(base, turns):
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models.litellm_model import LitellmModel
    import minisweagent
    import yaml
    config = yaml.safe_load((pathlib.Path(minisweagent.__file__).parent / "config" / "mini.yaml").read_text())
    model_kwargs = {"api_base": f"{base}/v1", "api_key": "none", "drop_params": True}
    settings = {**config["model"], "model_kwargs": model_kwargs, "cost_tracking": "ignore_errors"}
    settings.pop("model_name", None)
    limits = {**config["agent"], "step_limit": turns, "cost_limit": 0}
    for unwanted in ("mode", "confirm_exit", "whitelist_actions"):
        limits.pop(unwanted, None)
    agent = DefaultAgent(LitellmModel(model_name="openai/served", **settings), LocalEnvironment(), **limits)
    agent.run("Read all parts, one after the other.")


def llama_index(base, turns):
    from llama_index.core.llms import ChatMessage
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai_like import OpenAILike
    llm = OpenAILike(model="served", api_base=f"{base}/v1", api_key="none", is_chat_model=True, is_function_calling_model=True)

    def part(number: int, names: list[str] | None = None) -> str:
        return read_part(number, names or ())

    tools = [FunctionTool.from_defaults(part, name="read_part", description=DESCRIPTION)]
    messages = [ChatMessage(role="system", content=SYSTEM), ChatMessage(role="user", content=TASK.format(1))]
    count = Count(turns)
    while True:
        *_, reply = llm.stream_chat_with_tools(tools, chat_history=messages, allow_parallel_tool_calls=True)
        messages.append(reply.message)
        if not count.more():
            return
        calls = llm.get_tool_calls_from_response(reply, error_on_no_tool_call=False)
        for call in calls:
            result = str(tools[0](**call.tool_kwargs))
            messages.append(ChatMessage(role="tool", content=result, additional_kwargs={"tool_call_id": call.tool_id}))
        if not calls:
            messages.append(ChatMessage(role="user", content=TASK.format(count.had)))


def autogen(base, turns):
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient
    information = {"vision": False, "function_calling": True, "json_output": True, "family": "unknown", "structured_output": True}
    client = OpenAIChatCompletionClient(model="served", base_url=f"{base}/v1", api_key="none", model_info=information)
    count = Count(turns)

    async def part(number: int, names: list[str] = []) -> str:  # noqa: B006: the schema shows it
        count.more()
        return read_part(number, names)

    part.__name__ = "read_part"
    part.__doc__ = DESCRIPTION

    async def run():
        agent = AssistantAgent("reader", client, tools=[part], system_message=SYSTEM, model_client_stream=True, max_tool_iterations=turns)
        while count.had < count.wanted:
            async for _ in agent.run_stream(task=TASK.format(count.had)):
                pass
            count.more()
        await client.close()

    asyncio.run(run())


def haystack(base, turns):
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.tools import Tool
    from haystack.utils import Secret
    tools = [Tool(name="read_part", description=DESCRIPTION, parameters=PARAMETERS, function=read_part)]
    generator = OpenAIChatGenerator(model="served", api_base_url=f"{base}/v1", api_key=Secret.from_token("none"), tools=tools,
                                    streaming_callback=lambda _: None)
    messages = [ChatMessage.from_system(SYSTEM), ChatMessage.from_user(TASK.format(1))]
    count = Count(turns)
    while True:
        replies = generator.run(messages=messages)["replies"]
        messages += replies
        if not count.more():
            return
        for call in replies[0].tool_calls:
            messages.append(ChatMessage.from_tool(read_part(**call.arguments), origin=call))
        if not replies[0].tool_calls:
            messages.append(ChatMessage.from_user(TASK.format(count.had)))


def with_agno(base, turns):
    from agno.agent import Agent
    from agno.db.in_memory import InMemoryDb
    from agno.models.openai.like import OpenAILike
    count = Count(turns)

    def part(number: int, names: list[str] = []) -> str:  # noqa: B006: the schema shows it
        count.more()
        return read_part(number, names)

    part.__name__ = "read_part"
    part.__doc__ = DESCRIPTION
    agent = Agent(model=OpenAILike(id="served", base_url=f"{base}/v1", api_key="none"), tools=[part], system_message=SYSTEM,
                  db=InMemoryDb(), add_history_to_context=True, num_history_runs=turns, telemetry=False)
    while count.had < count.wanted:
        for _ in agent.run(TASK.format(count.had), stream=True, session_id="one"):
            pass
        count.more()


def with_strands(base, turns, of_anthropic=False):
    import strands
    from strands.agent.conversation_manager import NullConversationManager
    from strands.models.anthropic import AnthropicModel
    from strands.models.openai import OpenAIModel
    count = Count(turns)

    @strands.tool(name="read_part", description=DESCRIPTION)
    def part(number: int, names: list[str] = []) -> str:  # noqa: B006: the schema shows it
        count.more()
        return read_part(number, names)

    if of_anthropic:
        model = AnthropicModel(client_args={"base_url": base, "api_key": "none"}, model_id="served", max_tokens=2000)
    else:
        model = OpenAIModel(client_args={"base_url": f"{base}/v1", "api_key": "none"}, model_id="served")
    agent = strands.Agent(model=model, tools=[part], system_prompt=SYSTEM, callback_handler=None,
                          conversation_manager=NullConversationManager())  # by default it drops old messages
    while count.had < count.wanted:
        agent(TASK.format(count.had))
        count.more()


def semantic_kernel(base, turns):
    import openai
    from semantic_kernel.agents import ChatCompletionAgent
    from semantic_kernel.connectors.ai import FunctionChoiceBehavior
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
    from semantic_kernel.functions import kernel_function
    count = Count(turns)

    class Reader:
        @kernel_function(name="read_part", description=DESCRIPTION)
        def part(self, number: int, names: list[str] = []) -> str:  # noqa: B006: the schema shows it
            count.more()
            return read_part(number, names)

    client = openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="none")
    agent = ChatCompletionAgent(service=OpenAIChatCompletion(ai_model_id="served", async_client=client), name="reader",
                                instructions=SYSTEM, plugins={"reader": Reader()},
                                function_choice_behavior=FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=100))

    async def talk():
        thread = None
        while count.had < count.wanted:
            async for piece in agent.invoke_stream(TASK.format(count.had), thread=thread):
                thread = piece.thread
            count.more()

    asyncio.run(talk())


def claude_agent(base, turns):
    import os
    from claude_agent_sdk import ClaudeAgentOptions, query
    environment = {"ANTHROPIC_BASE_URL": base, "IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    os.environ.update(environment)
    options = ClaudeAgentOptions(model="served", permission_mode="bypassPermissions", setting_sources=[], max_turns=2 * turns)

    async def talk():
        async for _ in query(prompt=TASK.format(1), options=options):
            pass

    asyncio.run(talk())


CLIENTS = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "openai-responses-stored": lambda base, turns: openai_responses(base, turns, stored=True),
    "anthropic": anthropic_messages,
    "langchain-openai": langchain_openai,
    "langchain-openai-responses": lambda base, turns: langchain_openai(base, turns, responses=True),
    "langchain-anthropic": langchain_anthropic,
    "litellm": with_litellm,
    "pydantic-ai": with_pydantic_ai,
    "pydantic-ai-responses": lambda base, turns: with_pydantic_ai(base, turns, responses=True),
    "openai-agents": openai_agents,
    "openai-agents-chat": lambda base, turns: openai_agents(base, turns, chat=True),
    "smolagents": with_smolagents,
    "mini-swe-agent": mini_swe_agent,
    "llama-index": llama_index,
    "autogen": autogen,
    "haystack": haystack,
    "agno": with_agno,
    "strands": with_strands,
    "semantic-kernel": semantic_kernel,
    "claude-agent": claude_agent,
    "strands-anthropic": lambda base, turns: with_strands(base, turns, of_anthropic=True),
}

if __name__ == "__main__":
    CLIENTS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
