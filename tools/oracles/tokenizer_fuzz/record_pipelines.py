"""Writes small tokenizers with texts and what the reference makes of them: the cases of the test of pipelines.

Usage: python3 -m tools.oracles.tokenizer_fuzz.record_pipelines --seed N --tokenizers N --texts N > FILE

A line is {"tokenizer": {...}, "cases": [[text, ids, decoded], ...]}.  Cases in which the reference fails are left out.
"""
import argparse
import json
import random
import sys

from .components import Components, Models
from .texts import Texts
from .tokenizer_json import LOOKALIKES, Tokenizer, ambiguous, reference


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--tokenizers", type=int, required=True)
    parser.add_argument("--texts", type=int, required=True)
    options = parser.parse_args()
    Models.most_tokens = 40  # the file is small rather than the texts well covered
    written = number = 0
    while written < options.tokenizers:
        number += 1
        rng = random.Random(f"{options.seed}/{number}")
        texts = Texts(rng, lookalikes=LOOKALIKES, longest=6)
        description = Components(rng, texts).tokenizer()
        if description is None:
            continue
        text = json.dumps(description)
        ok, made = reference(lambda text=text: Tokenizer.from_str(text))
        if not ok or len(text) > 6000 or ambiguous(made, description):
            continue
        cases = []
        for _ in range(options.texts):
            case = texts.text()
            ok, encoding = reference(lambda case=case: made.encode(case, add_special_tokens=True))
            if not ok:
                continue
            ok, decoded = reference(lambda ids=encoding.ids: made.decode(ids, skip_special_tokens=False))
            cases.append([case, encoding.ids, decoded if ok else None])
        if not cases:
            continue
        written += 1
        sys.stdout.write(json.dumps({"tokenizer": description, "cases": cases}, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
