"""PrimeIntellect's `renderers` on the turns of bridge_bench.cpp, where it and transformers are installed.

Usage: bridge_peer.py TEMPLATE TOKENIZER_FOLDER
"""

import os
import statistics
import sys
import time


def words(seed, count):
    return "".join(f"word{(seed * 31 + i * 7) % 97} " for i in range(count))


def history(messages, each):
    out = [{"role": "system", "content": "You are a careful assistant."}]
    while len(out) < messages:
        i = len(out) - 1
        out.append({"role": "user" if i % 2 == 0 else "assistant", "content": words(i, each)})
    if out[-1]["role"] != "user":
        out.append({"role": "user", "content": "And now?"})
    return out


TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "the city"}},
                       "required": ["city"]},
    }
]
SAMPLED = ("<think>\n" + words(3, 30) + '\n</think>\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city":"Oslo"}}\n'
           "</tool_call><|im_end|>")


def median_us(work, times=200):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append((time.perf_counter() - start) * 1e6)
    return statistics.median(taken)


def main():
    try:
        from renderers.qwen3 import Qwen3Renderer
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        print(f"peer renderers: not installed ({error})")
        return 0
    # The larger corpus has the tokenizer with all its added tokens.
    whole = os.path.join(os.environ.get("RONDO_CORPUS_MODELS", ""), "qwen3")
    folder = whole if os.path.isdir(whole) else sys.argv[2]
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=folder + "/tokenizer.json", eos_token="<|im_end|>")
    with open(sys.argv[1], encoding="utf-8") as file:
        tokenizer.chat_template = file.read()
    try:
        renderer = Qwen3Renderer(tokenizer)
    except AssertionError as error:
        print(f"peer renderers: not with this tokenizer ({error})")
        return 0
    sampled = tokenizer.encode(SAMPLED, add_special_tokens=False)
    result = [{"role": "tool", "tool_call_id": "call_1", "name": "get_weather", "content": words(1, 20)}]
    for messages in (42, 402):
        prompt = renderer.render_ids(history(messages, 40), tools=TOOLS, add_generation_prompt=True)
        if renderer.bridge_to_next_turn(prompt, sampled, result, tools=TOOLS) is None:
            print("peer renderers: refuses this bridge")
            continue
        bridge = median_us(lambda: renderer.bridge_to_next_turn(prompt, sampled, result, tools=TOOLS))
        parse = median_us(lambda: renderer.parse_response(sampled, prompt_ids=prompt))
        print(f"peer renderers: {len(prompt):8} tokens, {messages:5} messages: read a completion {parse:6.1f} us, "
              f"bridge a tool result {bridge:8.1f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
