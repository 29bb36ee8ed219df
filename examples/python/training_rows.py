"""Training: an agent plays through `rondo serve` with a client of its own, and what was sampled comes back as arrays.

The agent here is the shortest that has a tool; any other does as well, in any language, if its base URL is
http://HOST:PORT/s/NAME/v1: what it asks for is then filed under NAME.  Nothing but Python is needed.

Usage: training_rows.py URL [NAME...]      (URL as `rondo serve` prints it; NAMEs are the rollouts to play)
"""
import array
import dataclasses
import json
import math
import sys
import urllib.request

TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds two numbers.", "parameters": {
    "type": "object", "required": ["a", "b"],
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}}}]


@dataclasses.dataclass
class Row:
    """A branch of a session, one entry for each id."""
    ids: array.array        # 'i': as the engine saw them
    loss_mask: array.array  # 'b': 1 where the model wrote the id
    logprobs: array.array   # 'f': of these; NaN where the id was not sampled, or the engine was not asked

    def split(self):
        """The prompt, and the response with its mask and log probabilities, as trainers take them."""
        first = self.loss_mask.index(1) if 1 in self.loss_mask else len(self.ids)
        logprobs = [0.0 if math.isnan(one) else one for one in self.logprobs[first:]]
        return list(self.ids[:first]), list(self.ids[first:]), list(self.loss_mask[first:]), logprobs


def post(url, body):
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers={"content-type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def call_tool(call):
    try:
        arguments = json.loads(call["function"]["arguments"])
        return str(arguments["a"] + arguments["b"])
    except (ValueError, KeyError, TypeError) as error:
        return f"the call cannot be read: {error}"


def play(url, name, turns=3, prompt="What is 2 + 2?"):
    """An agent's rollout.  `logprobs` has the engine tell log probabilities, which are kept with the turn."""
    messages = [{"role": "user", "content": prompt}]
    for _ in range(turns):
        reply = post(f"{url}/s/{name}/v1/chat/completions",
                     {"model": "any", "messages": messages, "tools": TOOLS, "max_tokens": 24, "logprobs": True})
        said = reply["choices"][0]["message"]
        calls = said.get("tool_calls") or []
        messages += [said, *({"role": "tool", "tool_call_id": call["id"], "content": call_tool(call)} for call in calls)]
        if not calls:
            messages.append({"role": "user", "content": "Are you sure?"})


def rows(url, name):
    """What was sampled in the session, a row for each of its branches."""
    with urllib.request.urlopen(f"{url}/rondo/v1/sessions/{name}/training") as reply:
        lines = [json.loads(line) for line in reply]
    return [Row(array.array("i", line["ids"]), array.array("b", line["loss_mask"]),
                array.array("f", (math.nan if one is None else one for one in line["logprobs"]))) for line in lines]


def main():
    url, names = sys.argv[1], sys.argv[2:] or ["rollout-0", "rollout-1"]
    for name in names:
        play(url, name)
        for row in rows(url, name):
            prompt, response, mask, logprobs = row.split()
            told = [one for one, is_sampled in zip(logprobs, mask) if is_sampled]
            print(f"{name}: {len(prompt)} ids of prompt, {len(response)} of response, {sum(mask)} of them sampled, "
                  f"mean log probability {sum(told) / max(1, len(told)):.3f}")


if __name__ == "__main__":
    main()
