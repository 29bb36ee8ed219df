"""Random texts in tiktoken, mistral-common, SentencePiece and llama.cpp, and in rondo: every text must give the same ids.

Usage: python3 -m tools.oracles.tokenizer_fuzz.sources --program build/release/rondo FAMILY... [--texts N] [--seed N]
           [--folder FOLDER] [--models N] [--engine PROGRAM] [--report FILE]

FAMILY is one of
    tiktoken        rank files: those of FOLDER (*.tiktoken), each with the patterns that tiktoken and others publish
    tekken          tekken.json files of FOLDER
    sentencepiece   models of FOLDER (*.model), and N models trained on random text with random options
    engine          GGUF vocabularies of FOLDER, and N made-up ones of the kinds t5, rwkv and plamo2, beside libllama, for which
                    PROGRAM answers: bench/llama_tokenize_peer.cpp
The package of that name must be installed.  Control tokens are not looked for, as the references do not.  The exit status is 1 if anything differs.
"""
import argparse
import io
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time

from . import gguf_files
from .texts import Texts

BLOCK = 500
THREE_DIGITS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
                r"\s+(?!\S)|\s+")
CASED = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
PATTERNS = {
    "three digits": THREE_DIGITS,
    "one digit": THREE_DIGITS.replace("{1,3}", ""),
    "cased": CASED,
    "han apart": r"[\p{Han}]+|" + CASED.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace("[\\r\\n/]", "[\\r\\n]"),
    "possessive": (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"
                   r"\s*[\r\n]|\s+(?!\S)|\s"),
    "words": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
}


class Rondo:
    """`rondo batch` with one tokenizer."""

    def __init__(self, program, path):
        self.path = str(path)
        self.process = subprocess.Popen([program, "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ids(self, texts):
        def write():
            for text in texts:
                request = {"op": "tokenize", "tokenizer": self.path, "text": text, "parse_special": False}
                self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        writer = threading.Thread(target=write)
        writer.start()
        replies = [json.loads(self.process.stdout.readline()) for _ in texts]
        writer.join()
        return [reply.get("ids", reply.get("error")) for reply in replies]


class Engine:
    """bench/llama_tokenize_peer.cpp with one vocabulary."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answers(self, texts):
        def write():
            for text in texts:
                data = text.encode()
                self.process.stdin.write(struct.pack("<I", len(data)) + data)
            self.process.stdin.flush()
        writer = threading.Thread(target=write)
        writer.start()
        for _ in texts:
            count = struct.unpack("<I", self.process.stdout.read(4))[0]
            yield list(struct.unpack(f"<{count}i", self.process.stdout.read(4 * count)))
        writer.join()


def one_by_one(encode):
    """A function of many texts from one of a single text."""
    return lambda texts: (list(encode(text)) for text in texts)


def tiktoken_cases(options, scratch):
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe
    for path in sorted(pathlib.Path(options.folder).glob("*.tiktoken")):
        ranks = load_tiktoken_bpe(str(path))
        pieces = [token.decode("utf-8", "ignore") for token in random.Random(1).sample(sorted(ranks), 3000)]
        for name, pattern in PATTERNS.items():
            folder = scratch / (path.stem + "-" + name.replace(" ", "-"))
            folder.mkdir()
            (folder / "x.tiktoken").symlink_to(path.resolve())
            (folder / "tokenizer_config.json").write_text(json.dumps({"pat_str": pattern}))
            encoding = tiktoken.Encoding(name="x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
            yield f"{path.name}, {name}", folder, one_by_one(encoding.encode_ordinary), ["<|endoftext|>", "<|im_end|>"], pieces


def tekken_cases(options, scratch):
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    for path in sorted(pathlib.Path(options.folder).glob("*tekken*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for entry in document["vocab"]:
            entry.setdefault("token_str", None)
        whole = scratch / "tekken.json"
        whole.write_text(json.dumps(document))
        tekken = Tekkenizer.from_file(whole)
        first, size = tekken.num_special_tokens, tekken.n_words
        pieces = [tekken.id_to_piece(i) for i in random.Random(1).sample(range(first, size), 3000)]
        lookalikes = [token["token_str"] for token in tekken._all_special_tokens[:30]]
        yield path.name, whole, one_by_one(lambda text, tekken=tekken: tekken.encode(text, False, False)), lookalikes, pieces


def trained_model(seed):
    """A model trained on random text: its bytes and what it was trained with; nothing if the trainer refuses."""
    import sentencepiece
    rng = random.Random(seed)
    texts = Texts(random.Random(seed * 7 + 1), longest=40)
    out = io.BytesIO()
    options = dict(
        model_type=rng.choice(["unigram", "bpe", "unigram", "bpe", "char", "word"]), vocab_size=rng.choice([2600, 4000, 6000]),
        character_coverage=rng.choice([0.98, 0.99, 0.9995]), byte_fallback=rng.random() < 0.5,
        normalization_rule_name=rng.choice(["nmt_nfkc", "identity", "nfkc", "nfkc_cf", "nmt_nfkc_cf"]),
        add_dummy_prefix=rng.random() < 0.7, remove_extra_whitespaces=rng.random() < 0.5,
        treat_whitespace_as_suffix=rng.random() < 0.25, allow_whitespace_only_pieces=rng.random() < 0.5,
        split_by_whitespace=rng.random() < 0.7, split_digits=rng.random() < 0.5,
        user_defined_symbols=rng.choice([[], ["<sep>", "<cls>", "▁ab", "①", "  ", "<sep"], ["<u1>", "ab", "def"]]),
        control_symbols=rng.choice([[], ["<c1>", "[X]"]]), max_sentencepiece_length=rng.choice([4, 16]))
    if options["model_type"] == "word":
        options["byte_fallback"] = False
    sentences = (texts.text().replace("\n", " ")[:2000] for _ in range(1500))
    try:
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=sentences, model_writer=out, hard_vocab_limit=False,
                                                 minloglevel=3, num_threads=1, **options)
    except (RuntimeError, OSError):
        return None
    return out.getvalue(), options


def sentencepiece_cases(options, scratch):
    import sentencepiece
    paths = sorted(pathlib.Path(options.folder).glob("*.model")) if options.folder else []
    seed = options.seed
    for number in range(options.models):
        made = trained_model(seed + number)
        if made is None:
            continue
        path = scratch / f"trained{number}.model"
        path.write_bytes(made[0])
        print(path.name, {key: value for key, value in made[1].items() if value})
        paths.append(path)
    for path in paths:
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        names = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
        control = [name for i, name in enumerate(names) if processor.is_control(i) or processor.is_unknown(i)]
        pieces = [name.replace("▁", " ") for name in random.Random(1).sample(names, min(3000, len(names)))]
        yield path.name, path, one_by_one(processor.encode), control[:40], pieces


def engine_cases(options, scratch):
    paths = sorted(pathlib.Path(options.folder).glob("*.gguf")) if options.folder else []
    for number in range(options.models):
        paths.append(scratch / f"made{number}.gguf")
        kind, data = gguf_files.made_up(options.seed + number)
        paths[-1].write_bytes(data)
        print(paths[-1].name, kind)
    for path in paths:
        yield path.name, path, Engine(options.engine, path).answers, ["<|im_end|>", "[INST]"], []


FAMILIES = {"tiktoken": tiktoken_cases, "tekken": tekken_cases, "sentencepiece": sentencepiece_cases, "engine": engine_cases}


def compare(case, count, options, report):
    """The number of texts that differ."""
    name, path, reference, lookalikes, pieces = case
    rng = random.Random(f"{options.seed}/{name}")
    texts = Texts(rng, lookalikes, [piece for piece in pieces if piece and "\ufffd" not in piece])
    differing, done, start = 0, 0, time.monotonic()
    with Rondo(options.program, path) as rondo:
        while done < count:
            block = [texts.text() for _ in range(min(BLOCK, count - done))]
            done += len(block)
            for text, found, expected in zip(block, rondo.ids(block), reference(block)):
                if found != expected:
                    differing += 1
                    report.append({"tokenizer": name, "text": text, "rondo": found, "reference": expected})
    print(f"{name}: {done} texts, {differing} differ, {done / (time.monotonic() - start):.0f}/s", flush=True)
    return differing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="+", choices=FAMILIES)
    parser.add_argument("--program", required=True)
    parser.add_argument("--folder", default="")
    parser.add_argument("--engine", default="")
    parser.add_argument("--texts", type=int, default=20000, help="of each tokenizer")
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report")
    options = parser.parse_args()
    report, differing = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for family in options.families:
            for case in FAMILIES[family](options, pathlib.Path(scratch)):
                differing += compare(case, options.texts, options, report)
    for entry in report[:5]:
        print(json.dumps(entry, ensure_ascii=False)[:1000])
    if options.report:
        pathlib.Path(options.report).write_text("".join(json.dumps(entry) + "\n" for entry in report))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
