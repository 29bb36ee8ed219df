"""The peers of chat_bench: jinja2 renders and Hugging Face `tokenizers` encodes the same conversation.

Usage: chat_peers.py TEMPLATE TOKENIZER_FOLDER MESSAGES.json
A peer that is not installed is named and passed over.
"""
import json
import pathlib
import sys
import time


def measure(name, size, work):
    times, end = [], time.perf_counter() + 0.5
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1e6)
    times.sort()
    median = times[len(times) // 2]
    print(f"{name:<40} best {times[0]:10.1f} us  median {median:10.1f} us  {size / median:8.1f} MB/s")


def main(template, tokenizer, messages):
    conversation = json.loads(pathlib.Path(messages).read_text(encoding="utf-8"))
    text = None
    try:
        import jinja2.ext
        import jinja2.sandbox
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                                   extensions=[jinja2.ext.loopcontrols])
        environment.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)
        compiled = environment.from_string(pathlib.Path(template).read_text(encoding="utf-8"))
        text = compiled.render(messages=conversation, tools=None)
        measure("peer jinja2: render, no origins", len(text.encode()), lambda: compiled.render(messages=conversation, tools=None))
    except ImportError:
        print("peer jinja2 is not installed (pip install jinja2)")
    try:
        import tokenizers
        peer = tokenizers.Tokenizer.from_file(str(pathlib.Path(tokenizer) / "tokenizer.json"))
        text = text or " ".join(message["content"] for message in conversation)
        measure("peer tokenizers: encode", len(text.encode()), lambda: peer.encode(text, add_special_tokens=False))
    except ImportError:
        print("peer tokenizers is not installed (pip install tokenizers)")


if __name__ == "__main__":
    main(*sys.argv[1:])
