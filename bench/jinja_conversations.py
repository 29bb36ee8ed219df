"""The conversations of jinja_bench.py: an agent's work on a code base, made from a fixed seed.

Three shapes, because templates differ in what they accept: tool calls with arguments as an object, the same with
arguments as JSON text, and plain turns without tools.
"""
import json
import random

WORDS = ("the a of to in and is it that for value function buffer index parser returns reads writes error line token queue "
         "retry handler test case module file when before after only last first should must keeps fails path cache entry "
         "request naïve café size limit loop branch stream encode decode schema field record lock thread update").split()
FILES = ["src/server/router.py", "src/server/cache.py", "src/queue/worker.py", "tests/test_router.py", "README.md"]


def _function(name, description, /, **properties):
    parameters = {"type": "object", "properties": {}, "required": list(properties)}
    for key, (kind, text) in properties.items():
        parameters["properties"][key] = {"type": kind, "description": text}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    _function("read_file", "Reads a part of a text file.", path=("string", "Path below the project's root"),
              offset=("integer", "First line"), limit=("integer", "Number of lines")),
    _function("search", "Finds a regular expression in all files.", pattern=("string", "The expression"),
              case_sensitive=("boolean", "Whether case matters")),
    _function("run_tests", "Runs the tests whose name matches.", name=("string", "Part of the name"),
              timeout_s=("number", "Seconds until the run is stopped")),
    _function("edit_file", "Replaces text in a file.", path=("string", "Path below the project's root"),
              old=("string", "Text to be replaced"), new=("string", "Its replacement")),
]


def _prose(source, words):
    text = " ".join(source.choice(WORDS) for _ in range(words))
    return text[:1].upper() + text[1:] + "."


def _code(source, lines):
    return "\n".join(f"{number:4d}    {'    ' * source.randrange(3)}{source.choice(WORDS)} = {source.choice(WORDS)}"
                     f"[\"{source.choice(WORDS)}\"]  # <{source.choice(WORDS)}> & {source.randrange(1000)}"
                     for number in range(1, lines + 1))


def _call(source, number):
    name = source.choice([tool["function"]["name"] for tool in TOOLS])
    arguments = {
        "read_file": lambda: {"path": source.choice(FILES), "offset": source.randrange(400), "limit": 40},
        "search": lambda: {"pattern": f"def {source.choice(WORDS)}\\w*\\(", "case_sensitive": True},
        "run_tests": lambda: {"name": source.choice(WORDS), "timeout_s": 2.5},
        "edit_file": lambda: {"path": source.choice(FILES), "old": _code(source, 2), "new": _code(source, 3)},
    }[name]()
    # Nine letters and digits: the one form of an id that every template accepts.
    return {"id": f"call{number:05d}", "type": "function", "function": {"name": name, "arguments": arguments}}


def agent(count):
    """`count` messages: system, then rounds of user, assistant with a call, its result, ..., assistant's answer."""
    source = random.Random(20260115)
    messages = [{"role": "system", "content": "You are a careful engineer.\n" + _prose(source, 60)}]
    while len(messages) < count:
        messages.append({"role": "user", "content": _prose(source, source.randrange(10, 60))})
        for _ in range(source.randrange(3, 8) if count > 10 else 1):
            call = _call(source, len(messages))
            messages.append({"role": "assistant", "content": _prose(source, source.randrange(5, 25)),
                             "reasoning_content": _prose(source, source.randrange(20, 90)), "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"],
                             "content": _code(source, source.randrange(4, 24))})
        messages.append({"role": "assistant", "content": _prose(source, source.randrange(20, 80)),
                         "reasoning_content": _prose(source, source.randrange(20, 60))})
    return messages[:count]


def _with_text_arguments(messages):
    copied = json.loads(json.dumps(messages))
    for message in copied:
        for call in message.get("tool_calls", []):
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
    return copied


def plain(count):
    """User and assistant in turns, behind a system message; the last is the user's."""
    source = random.Random(20260116)
    messages = [{"role": "system", "content": "You are a careful engineer.\n" + _prose(source, 60)}]
    for number in range(count - 1):
        content = _prose(source, source.randrange(10, 60)) + "\n\n" + _code(source, source.randrange(4, 12))
        messages.append({"role": ("user", "assistant")[number % 2], "content": content})
    return messages


def variables(messages, tools):
    """What a template sees, as transformers' apply_chat_template passes it."""
    return {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": True,
            "bos_token": "<s>", "eos_token": "</s>"}


def shapes(count):
    """(name, variables) in order of preference; a template gets the first that it renders.

    Every conversation but the last ends with a message of the user or a tool; a short one has no system message.
    """
    behind = 0 if count % 2 == 0 else 1
    messages = agent(count + behind)[behind:]
    return [("tools", variables(messages, TOOLS)),
            ("tools, text arguments", variables(_with_text_arguments(messages), TOOLS)),
            ("plain", variables(plain(count + behind)[behind:], None)),
            ("plain, no system", variables(plain(count + 1)[1:], None))]
