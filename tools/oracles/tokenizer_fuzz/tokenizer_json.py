"""Random tokenizer.json files in the reference (Hugging Face `tokenizers`) and in rondo: every text must give the same ids,
offsets and decoded text.

Usage: python3 -m tools.oracles.tokenizer_fuzz.tokenizer_json --program build/release/rondo
           [--tokenizers N] [--texts N] [--seed N] [--first NUMBER] [--report FILE] [--progress SECONDS]

Without --tokenizers: 60, and 5,000 with RONDO_TEST_FULL=1.

Offsets of rondo are bytes that a token stands for, one token for each byte of a character where the reference gives each the
whole character, and cover what was rewritten.  They are compared, widened to characters, where nothing rewrites text.
Cases in which the reference panics are passed over.  The exit status is 1 if anything differs.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from .package import need  # noqa: E402

need("tokenizers")

from tokenizers import Tokenizer  # noqa: E402

from .components import Components  # noqa: E402
from .texts import Texts  # noqa: E402

LOOKALIKES = ("<s>", "</s>", "[CLS]", "[SEP]", "<|end|>", "<|start|>", "<0x41>", "the", "▁", "<mask>", " x", "é", "Don't", "<s", "s>")
PER_PROCESS = 200


class Rondo:
    """`rondo batch`, started anew now and then because it keeps what it loads."""

    def __init__(self, program):
        self.program = program
        self.process = None
        self.uses = 0

    def ask(self, requests):
        if self.uses % PER_PROCESS == 0:
            self.close()
            self.process = subprocess.Popen([self.program, "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.uses += 1
        out = []
        for start in range(0, len(requests), 16):  # few enough for the pipes
            part = requests[start:start + 16]
            self.process.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in part))
            self.process.stdin.flush()
            out += [json.loads(self.process.stdout.readline()) for _ in part]
        return out

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


def reference(call):
    """(True, result), or (False, the error); panics are no errors of the text."""
    try:
        return True, call()
    except Exception as error:  # noqa: BLE001
        return False, str(error)
    except BaseException as error:  # noqa: BLE001  a panic
        if isinstance(error, KeyboardInterrupt):
            raise
        return None, str(error)


def parts_of(part, lists=("normalizers", "pretokenizers")):
    """The steps of a part, without sequences."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part]
    return [step for name in lists for child in part.get(name, ()) for step in parts_of(child)]


def keeps_text(description):
    """Nothing rewrites text, and no character vanishes."""
    model = description["model"]
    if description["normalizer"] is not None or description["post_processor"] is not None:
        return False
    if any(step["type"] == "Metaspace" or step.get("add_prefix_space") for step in parts_of(description["pre_tokenizer"])):
        return False
    if any(token["normalized"] for token in description["added_tokens"]):
        return False
    return not model.get("byte_fallback") and (model["type"] != "BPE" or model["unk_token"] is not None)


def ambiguous(made, description):
    """Two added tokens are searched for as the same normalised text: the reference finds either, by the hash of the process."""
    texts = [token["content"] for token in description["added_tokens"] if token["normalized"]]
    if made.normalizer is not None:
        texts = [reference(lambda text=text: made.normalizer.normalize_str(text))[1] for text in texts]
    return len(set(texts)) < len(texts)


def widened(text, offsets):
    """Byte offsets as character offsets that cover them."""
    starts = []
    for number, c in enumerate(text):
        starts += [number] * len(c.encode())
    starts.append(len(text))
    return [(starts[begin], starts[end - 1] + 1 if end > begin else starts[begin]) for begin, end in offsets]


class Comparison:
    def __init__(self, options):
        self.options = options
        self.rondo = Rondo(options.program)
        self.folder = tempfile.TemporaryDirectory()
        self.counts = {"tokenizers": 0, "texts": 0, "panics": 0, "differences": 0}
        self.report = open(options.report, "w", encoding="utf-8") if options.report else None

    def differ(self, kind, description, **case):
        self.counts["differences"] += 1
        line = json.dumps({"kind": kind, **case, "tokenizer": description}, ensure_ascii=False)
        if self.report:
            self.report.write(line + "\n")
            self.report.flush()
        elif self.counts["differences"] <= 5:
            print(line)

    def tokenizer(self, number):
        rng = random.Random(f"{self.options.seed}/{number}")
        texts = Texts(rng, lookalikes=LOOKALIKES, longest=25)
        description = Components(rng, texts).tokenizer()
        if description is None:
            self.counts["panics"] += 1
            return
        ok, made = reference(lambda: Tokenizer.from_str(json.dumps(description)))
        if not ok or ambiguous(made, description):
            self.counts["panics"] += 1
            return
        path = pathlib.Path(self.folder.name) / f"{number}.json"
        path.write_text(json.dumps(description), encoding="utf-8")
        self.counts["tokenizers"] += 1
        if description["model"]["vocab"] and rng.random() < 0.7:
            vocab = description["model"]["vocab"]
            texts.pieces = list(vocab) if isinstance(vocab, dict) else [token for token, _ in vocab]
        self.compare(made, description, str(path), [texts.text() for _ in range(self.options.texts)], rng)
        path.unlink()

    def compare(self, made, description, path, texts, rng):
        special = rng.random() < 0.3
        made.encode_special_tokens = not rng.random() < 0.8
        expected = [reference(lambda text=text: made.encode(text, add_special_tokens=special)) for text in texts]
        requests = [{"op": "tokenize", "tokenizer": path, "text": text, "offsets": True, "add_special": special,
                     "parse_special": not made.encode_special_tokens} for text in texts]
        replies = self.rondo.ask(requests)
        decoded = []
        for text, (ok, encoding), reply in zip(texts, expected, replies):
            self.counts["texts"] += 1
            if ok is None:
                self.counts["panics"] += 1
                continue
            if not ok:  # an unknown character and no token for it; rondo drops it
                continue
            if reply.get("ids") != encoding.ids:
                self.differ("ids", description, text=text, expected=encoding.ids, got=reply, add_special=special,
                            parse_special=not made.encode_special_tokens)
            elif keeps_text(description) and not special and widened(text, reply["offsets"]) != encoding.offsets:
                self.differ("offsets", description, text=text, ids=encoding.ids, expected=encoding.offsets,
                            got=widened(text, reply["offsets"]))
            decoded.append(encoding.ids)
        self.compare_decoded(made, description, path, decoded, rng)

    def compare_decoded(self, made, description, path, lists, rng):
        size = made.get_vocab_size(with_added_tokens=True)
        lists = lists[::3] + [[rng.randrange(size) for _ in range(rng.randrange(8))] for _ in range(self.options.texts // 10)]
        skip = rng.random() < 0.5
        replies = self.rondo.ask([{"op": "detokenize", "tokenizer": path, "ids": ids, "skip_special": skip} for ids in lists])
        for ids, reply in zip(lists, replies):
            ok, text = reference(lambda ids=ids: made.decode(ids, skip_special_tokens=skip))
            if ok is None:
                self.counts["panics"] += 1
            elif ok and reply.get("text") != text:
                self.differ("decode", description, ids=ids, skip_special=skip, expected=text, got=reply)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--tokenizers", type=int, default=5000 if os.environ.get("RONDO_TEST_FULL") else 60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--texts", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report")
    parser.add_argument("--progress", type=float, default=0)
    options = parser.parse_args()
    comparison = Comparison(options)
    shown = time.monotonic()
    for number in range(options.first, options.first + options.tokenizers):
        comparison.tokenizer(number)
        if options.progress and time.monotonic() - shown > options.progress:
            shown = time.monotonic()
            print(comparison.counts, flush=True)
    comparison.rondo.close()
    counts = comparison.counts
    print(f"{counts['tokenizers']} tokenizers, {counts['texts']} texts, {counts['panics']} panics of the reference, "
          f"{counts['differences']} differences")
    return 1 if counts["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
