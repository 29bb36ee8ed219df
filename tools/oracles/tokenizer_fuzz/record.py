"""Writes src/rondo/tokenizer/testdata/sentence_piece.json: small models trained on made-up text, and what SentencePiece makes
of random texts with them.

Usage: python3 -m tools.oracles.tokenizer_fuzz.record
"""
import base64
import io
import json
import random

import sentencepiece

from tools import REPO

from .texts import Texts

TARGET = REPO / "src/rondo/tokenizer/testdata/sentence_piece.json"
SYLLABLES = ("ka", "lo", "mi", "tre", "su", "an", "ve", "dor", "in", "ü")
MODELS = (
    dict(model_type="bpe", vocab_size=360, byte_fallback=True, remove_extra_whitespaces=False, allow_whitespace_only_pieces=True,
         user_defined_symbols=["<sep>", "lo", "  "], control_symbols=["[X]"]),
    dict(model_type="bpe", vocab_size=120, user_defined_symbols=["<sep>", "<sep"], split_by_whitespace=False),
    dict(model_type="unigram", vocab_size=90, add_dummy_prefix=False),
    dict(model_type="unigram", vocab_size=340, byte_fallback=True, treat_whitespace_as_suffix=True),
    dict(model_type="char", vocab_size=30),
    dict(model_type="word", vocab_size=60, treat_whitespace_as_suffix=True),
)


def words(rng):
    return ["".join(rng.choice(SYLLABLES) for _ in range(rng.randrange(1, 4))) for _ in range(40)]


def main():
    rng = random.Random(11)
    vocabulary = words(rng)
    texts = Texts(rng, ["<sep>", "[X]", "<s>", "<unk>", "<0x41>"], vocabulary * 3 + ["lo", "  ", "▁ka", "<sep"], longest=8)
    out = []
    for options in MODELS:
        model = io.BytesIO()
        sentences = (" ".join(rng.choice(vocabulary) for _ in range(rng.randrange(1, 12))) for _ in range(400))
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=sentences, model_writer=model, hard_vocab_limit=False,
                                                 normalization_rule_name="identity", minloglevel=3, num_threads=1, **options)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        rows = []
        for number in range(80):
            text = texts.bytes() if number % 4 == 0 else texts.text().encode()
            rows.append([base64.b64encode(text).decode(), processor.encode(text)])
        out.append({"options": options, "model": base64.b64encode(model.getvalue()).decode(), "rows": rows})
    TARGET.parent.mkdir(exist_ok=True)
    lines = ["[\n"]
    for number, entry in enumerate(out):
        head = json.dumps({key: entry[key] for key in ("options", "model")}, ensure_ascii=False)
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in entry["rows"])
        lines.append(head[:-1] + ', "rows": [\n' + rows + "\n]}" + (",\n" if number + 1 < len(out) else "\n"))
    TARGET.write_text("".join(lines) + "]\n", encoding="utf-8")
    print(TARGET, TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
