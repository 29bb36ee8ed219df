"""Reinforcement learning: rollouts with tools in which every next prompt begins with exactly the ids that were sampled.

The sampler here is a stand-in that says something prepared; put your engine's `generate(ids, stop_token_ids)` in its place.

Usage: rl_rollout.py MODEL      (a Hugging Face folder or a .gguf)
"""
import json
import sys

import numpy

import rondo

TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds two numbers.", "parameters": {
    "type": "object", "required": ["a", "b"],
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}}}]


class PreparedSampler:
    """Says one thing after the other, as the model's own template writes it."""

    def __init__(self, model, *turns):
        self.model, self.turns = model, list(turns)

    def generate(self, ids, stop_token_ids):
        # What the template writes behind the prompt for such a turn; a real model may write it in any other way.
        turn = self.turns.pop(0)
        asked = {"role": "user", "content": "x"}
        prompt = self.model.encode([asked], tools=TOOLS, add_generation_prompt=True)
        whole = self.model.encode([asked, turn], tools=TOOLS)
        completion = whole.ids[len(prompt):].tolist()
        ends = [place for place, token in enumerate(completion) if token in stop_token_ids]
        return completion[:ends[0] + 1] if ends else completion


def call_tools(said):
    """Runs what the model asked for; what does not parse is answered too."""
    results = []
    for call in said.tool_calls:
        if call.status == "ok":
            arguments = json.loads(call.arguments)
            answer = str(arguments["a"] + arguments["b"])
        else:
            answer = f"the call cannot be read: {call.status}"
        results.append({"role": "tool", "tool_call_id": call.id or "call_0", "name": call.name, "content": answer})
    return results


def main():
    model = rondo.load(sys.argv[1])
    sampler = PreparedSampler(
        model,
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_0", "type": "function", "function": {"name": "add", "arguments": {"a": 2, "b": 2}}}]},
        {"role": "assistant", "content": "It is 4."})
    rollout = rondo.Rollout(model, [{"role": "user", "content": "What is 2 + 2?"}], tools=TOOLS)
    stops = model.stop_ids(tools=TOOLS)
    while True:
        prompt = rollout.ids
        said = rollout.complete(sampler.generate(prompt, stops))
        results = call_tools(said)
        if not results:
            break
        rollout.add(results)
        assert numpy.array_equal(rollout.ids[:len(prompt)], prompt)  # nothing that was seen has changed

    # For the trainer: all ids of the rollout, and which of them the policy chose.
    print("rollout:", repr(model.detokenize(rollout.ids)))
    print("sampled:", repr(model.detokenize(rollout.ids[rollout.sampled_mask == 1])))


if __name__ == "__main__":
    main()
