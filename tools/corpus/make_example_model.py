"""Makes examples/model/tokenizer.json: a byte-level BPE that has learned its merges from this repository's own pages.

Usage: python3 -m tools.corpus.make_example_model     needs the package `tokenizers`; the pages of the first run are not those of today
"""
import json

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

from tools import REPO

ENTRIES = 1000
SPECIAL = ["<|im_start|>", "<|im_end|>"]


def main():
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=ENTRIES, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    made.train([str(page) for page in sorted(REPO.glob("docs/*.md"))], trainer)
    made.add_special_tokens(SPECIAL)
    text = json.dumps(json.loads(made.to_str()), ensure_ascii=False, separators=(",", ":"))
    (REPO / "examples/model/tokenizer.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
