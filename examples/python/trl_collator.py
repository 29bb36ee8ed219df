"""A data collator for TRL's trainers (SFTTrainer(data_collator=...)): conversations to padded ids, labels and attention masks.

Labels cover what the model itself writes, for any chat template: no `{% generation %}` in it is needed, and no response template
to search for.  The tensors are PyTorch's where that is installed, else NumPy's.

Usage: trl_collator.py MODEL      (a Hugging Face folder or a .gguf)
"""
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy

import rondo

try:
    from torch import from_numpy as tensor
except ImportError:
    tensor = numpy.asarray


class Collator:
    """Rows with `messages`, and `tools` where there are some."""

    def __init__(self, model, *, pad_token_id=0, max_length=None, ignored=-100, threads=4):
        self.model, self.pad, self.max_length, self.ignored = model, pad_token_id, max_length, ignored
        self.pool = ThreadPoolExecutor(threads)  # rondo works without the GIL

    def __call__(self, rows):
        encoded = list(self.pool.map(lambda row: self.model.encode(row["messages"], tools=row.get("tools")), rows))
        width = min(max(map(len, encoded)), self.max_length or sys.maxsize)
        ids = numpy.full((len(rows), width), self.pad, dtype=numpy.int64)
        labels = numpy.full((len(rows), width), self.ignored, dtype=numpy.int64)
        attention = numpy.zeros((len(rows), width), dtype=numpy.int64)
        for row, one in enumerate(encoded):
            size = min(len(one), width)
            ids[row, :size] = one.ids[:size]
            labels[row, :size] = numpy.where(one.sampled_mask[:size] == 1, one.ids[:size], self.ignored)
            attention[row, :size] = 1
        return {"input_ids": tensor(ids), "labels": tensor(labels), "attention_mask": tensor(attention)}


def main():
    collator = Collator(rondo.load(sys.argv[1]))
    batch = collator([
        {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}]},
        {"messages": [{"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": "It is 4."}]},
    ])
    for name, rows in batch.items():
        print(name, tuple(rows.shape))
        print(rows)


if __name__ == "__main__":
    main()
