#!/usr/bin/env python3
"""The Python module beside the package `renderers`, on long conversations with reasoning and tool calls.

Usage: python_bench.py [--quick] [--model FOLDER]     (./dev bench python runs it)

FOLDER has a tokenizer.json and a chat template of a family that the package knows; by default $RONDO_CORPUS_MODELS/qwen3, else the
fixtures.  The peer is measured in the same run where `renderers` and `transformers` can be imported.  Times are the best of
some tries, of the thread on a processor; only ratios mean anything.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import rondo

FAMILY = "qwen3"
COUNTS = (42, 402)


def conversation(count):
    messages = [{"role": "system", "content": "You are a careful assistant. " * 10},
                {"role": "user", "content": "Please fix the bug in module seven. " * 10}]
    while len(messages) < count:
        name = f"c{len(messages)}"
        call = {"id": name, "type": "function", "function": {
            "name": "run", "arguments": {"command": "cat src/main.py | grep -n def | head -20", "timeout": 30}}}
        messages.append({"role": "assistant", "content": "Let me look at the file and see what happens there. " * 3,
                         "reasoning_content": "I think about this step by step. " * 5, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": name,
                         "content": "def main():\n    return compute(17, 'abc')  # result\n" * 8})
    return messages


def best(function, tries):
    """Seconds of the best of some calls."""
    times = []
    for _ in range(tries):
        started = time.thread_time()
        function()
        times.append(time.thread_time() - started)
    return min(times)


def read(rendered):
    """Asks for the lists that are made when they are asked for."""
    return rendered.message_indices, rendered.sampled_mask, rendered.is_content


def load(folder):
    if folder:
        return rondo.load(folder)
    fixtures = os.environ.get("RONDO_FIXTURES")
    if not fixtures:
        sys.exit("python_bench: neither --model nor RONDO_CORPUS_MODELS nor RONDO_FIXTURES says what to render with")
    return rondo.load(tokenizer=f"{fixtures}/qwen-tokenizer", template=f"{fixtures}/templates/Qwen-Qwen3-0.6B.jinja")


def peer_of(folder):
    try:
        import renderers
        import transformers
    except ImportError as error:
        print(f"renderers: passed over ({error})")
        return None
    if not folder:
        print("renderers: passed over (no folder with a tokenizer.json)")
        return None
    transformers.logging.set_verbosity_error()
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    return renderers.create_renderer(tokenizer, renderers.config_from_name(FAMILY))


def line(what, ours, theirs):
    ratio = f"   renderers {theirs * 1e6:10.0f} us   ratio {theirs / ours:6.1f}" if theirs else ""
    print(f"  {what:34} {ours * 1e6:10.1f} us{ratio}")


def rollout_step(model, messages, completion, following, tries):
    """One turn behind the history: what complete() and add() take."""
    rollout = rondo.Rollout(model, messages)
    times = []
    for _ in range(tries):
        started = time.thread_time()
        rollout.complete(completion)
        between = time.thread_time()
        rollout.add(following)
        times.append((between - started, time.thread_time() - between))
    return min(first for first, _ in times), min(second for _, second in times)


def beside_cpp(model, folder, prompt, completion, following, tries):
    """The bridge of this module beside that of the C++ API."""
    program = os.environ.get("RONDO_FACADE_PEER")
    if not program or not folder:
        print("  bridge beside C++: passed over (./dev bench python builds facade_peer; a model folder is needed)")
        return
    prompt_ids, completion_ids = (numpy.array(ids, dtype=numpy.int32) for ids in (prompt, completion))
    ours = best(lambda: model.bridge(prompt_ids, completion_ids, following), tries)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"prompt_ids": list(map(int, prompt)), "completion_ids": list(map(int, completion)),
                   "new_messages": following}, file)
        file.flush()
        shown = subprocess.run([program, folder, file.name, str(tries)], check=True, capture_output=True, text=True).stdout
    print(f"  {'bridge: NumPy arrays':34} {ours * 1e6:10.1f} us   C++ {float(shown) * 1e6:10.1f} us   ratio {ours / float(shown):6.2f}")


def measure(model, folder, ours, theirs, count, tries):
    messages = conversation(count)
    whole = model.encode(messages, add_generation_prompt=True)
    print(f"{count} messages, {len(whole)} ids")
    if theirs and theirs.render(messages, add_generation_prompt=True).token_ids != whole.ids.tolist():
        print("  the ids differ: nothing to compare")
        return

    def beside(function, number=tries):
        return best(function, number) if theirs else None

    line("encode: NumPy arrays", best(lambda: model.encode(messages, add_generation_prompt=True), tries),
         beside(lambda: theirs.render(messages, add_generation_prompt=True), 3))
    line("compat render: lists", best(lambda: read(ours.render(messages, add_generation_prompt=True)), tries),
         beside(lambda: theirs.render(messages, add_generation_prompt=True), 3))
    prompt = ours.render_ids(messages[:-2], add_generation_prompt=True)
    completion = ours.render_ids(messages[:-1])[len(prompt):-1]
    following = [messages[-1]]
    sampled = numpy.array(completion, dtype=numpy.int32)
    complete, add = rollout_step(model, messages[:-2], sampled, following, tries * 2)
    bridge = beside(lambda: theirs.bridge_to_next_turn(prompt, completion, following))
    line("rollout: one tool result", add, bridge)
    line("compat bridge: lists", best(lambda: ours.bridge_to_next_turn(prompt, completion, following), tries), bridge)
    line("the same, and every list read", best(lambda: read(ours.bridge_to_next_turn(prompt, completion, following)), tries),
         bridge)
    beside_cpp(model, folder, prompt, completion, following, tries * 5)
    parse = beside(lambda: theirs.parse_response(completion, prompt_ids=prompt))
    tail = numpy.array(prompt[-64:], dtype=numpy.int32)
    line(f"parse {len(completion)} ids", best(lambda: model.parse(sampled, prompt_ids=tail), tries * 5), parse)
    line("rollout: take a completion", complete, parse)
    line("compat parse: lists", best(lambda: ours.parse_response(completion, prompt_ids=prompt), tries), parse)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--model")
    options = parser.parse_args()
    corpus = os.environ.get("RONDO_CORPUS_MODELS")
    folder = options.model or (str(pathlib.Path(corpus) / "qwen3") if corpus else None)
    from rondo.compat import renderers as compat

    model = load(folder)
    theirs = peer_of(folder)
    ours = compat.create_renderer(model, compat.config_from_name(FAMILY))
    for count in COUNTS:
        measure(model, folder, ours, theirs, count, 5 if options.quick else 20)


if __name__ == "__main__":
    main()
