"""Supervised fine-tuning: ids and labels of a conversation, trained on what the model writes, or on tool results as well.

Usage: sft_masks.py MODEL      (a Hugging Face folder or a .gguf)
"""
import sys

import numpy

import rondo

IGNORED = -100  # the label that loss functions pass over

CONVERSATION = [
    {"role": "system", "content": "You are a calculator."},
    {"role": "user", "content": "What is 2 + 2?"},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "call_0", "type": "function", "function": {"name": "add", "arguments": {"a": 2, "b": 2}}}]},
    {"role": "tool", "tool_call_id": "call_0", "content": "4"},
    {"role": "assistant", "content": "It is 4."},
]


def labels_of(encoded, mask):
    return numpy.where(mask == 1, encoded.ids, IGNORED)


def main():
    model = rondo.load(sys.argv[1])
    encoded = model.encode(CONVERSATION)

    # What the model itself would have sampled: its turns from behind the prompt to the stop token.
    labels = labels_of(encoded, encoded.sampled_mask)
    print("trained on:      ", repr(model.detokenize(labels[labels != IGNORED])))

    # The last turn alone: who owns an id is known as well.
    last = (encoded.sampled_mask == 1) & (encoded.message_indices == len(CONVERSATION) - 1)
    print("the last turn:   ", repr(model.detokenize(encoded.ids[last])))

    # And what tools say, without the marks around it, so that the model learns to expect results, never to write their marks.
    is_tool = numpy.array([role == "tool" for role in encoded.roles] + [False])[encoded.message_indices]
    labels = labels_of(encoded, encoded.sampled_mask | (encoded.content_mask & is_tool))
    print("with tool output:", repr(model.detokenize(labels[labels != IGNORED])))


if __name__ == "__main__":
    main()
