"""Training: what TRL and verifiers take of an agent's rollout, from `rondo serve`.

`rollout_func` is what TRL's GRPOTrainer takes under that name; `turn_tokens` makes of one reply what verifiers' TurnTokens holds.
Neither needs its trainer to be installed.  The agent is that of training_rows.py.

Usage: trainer_rollouts.py URL      (URL as `rondo serve` prints it)
"""
import sys
import types

from training_rows import TOOLS, play, post, rows

URL = "http://127.0.0.1:8080"


def rollout_func(prompts, trainer):
    """A rollout for each prompt: lists of ids, masks and log probabilities.  A session's name tells the step and the place."""
    out = {"prompt_ids": [], "completion_ids": [], "env_mask": [], "logprobs": []}
    for number, prompt in enumerate(prompts):
        name = f"step-{trainer.state.global_step}-{number}"
        play(URL, name, prompt=prompt)
        for values, value in zip(out.values(), rows(URL, name)[0].split()):
            values.append(value)
    return out


def turn_tokens(reply):
    """Of a reply to a request with `return_token_ids` and `logprobs`: the ids of its prompt and completion, as the engine saw them."""
    choice = reply["choices"][0]
    told = (choice.get("logprobs") or {}).get("content") or []
    return {"prompt_ids": reply["prompt_token_ids"], "completion_ids": choice["token_ids"],
            "completion_logprobs": [one["logprob"] for one in told]}


def main():
    global URL
    URL = sys.argv[1]
    trainer = types.SimpleNamespace(state=types.SimpleNamespace(global_step=0))
    out = rollout_func(["What is 2 + 2?", "What is 3 + 4?"], trainer)
    for number, (prompt, completion, mask) in enumerate(zip(out["prompt_ids"], out["completion_ids"], out["env_mask"])):
        print(f"rollout {number}: {len(prompt)} ids of prompt, {len(completion)} of completion, {sum(mask)} of them sampled")
    body = {"model": "any", "messages": [{"role": "user", "content": "What is 2 + 2?"}], "tools": TOOLS, "max_tokens": 24,
            "logprobs": True, "return_token_ids": True}
    turn = turn_tokens(post(f"{URL}/v1/chat/completions", body))
    print(f"turn: {len(turn['prompt_ids'])} ids of prompt, {len(turn['completion_ids'])} of completion")


if __name__ == "__main__":
    main()
