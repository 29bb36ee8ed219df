#!/usr/bin/env python3
"""examples/python/training_rows.py and trainer_rollouts.py play rollouts through `rondo serve`; what comes back is what was sampled.

Usage: training_example_test.py --program build/release/rondo
"""
import argparse
import contextlib
import io
import json
import math
import pathlib
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPO), str(REPO / "examples" / "python")]
import trainer_rollouts
import training_rows
from tools.testing import serve_page_test


def check(server):
    sys.argv[1:] = [server.url, "one", "two"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        training_rows.main()
    assert [line.split(":")[0] for line in printed.getvalue().splitlines()] == ["one", "two"], printed.getvalue()

    row, = training_rows.rows(server.url, "one")
    turns = json.loads(server.ask("/rondo/v1/sessions/one")[1])["turns"]
    assert len(turns) == 3 and turns[-1]["how"] == "bridge", turns
    assert len(row.ids) == len(row.loss_mask) == len(row.logprobs) == turns[-1]["prompt_tokens"] + turns[-1]["completion_tokens"]
    assert sum(row.loss_mask) == sum(turn["completion_tokens"] for turn in turns)
    for is_sampled, logprob in zip(row.loss_mask, row.logprobs):
        assert math.isnan(logprob) != bool(is_sampled) and not logprob > 0
    # Each turn's ids stand in the row as the engine saw them.
    for turn in turns:
        tokens = json.loads(server.ask(f"/rondo/v1/sessions/one/tokens?turn={turn['index']}")[1])
        assert list(row.ids[:len(tokens["ids"])]) == tokens["ids"]
    prompt, response, mask, logprobs = row.split()
    assert prompt + response == list(row.ids) and mask[0] == 1 and len(logprobs) == len(response)
    assert len(prompt) == turns[0]["prompt_tokens"]


def check_trainers(server):
    sys.argv[1:] = [server.url]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        trainer_rollouts.main()
    assert [line.split(":")[0] for line in printed.getvalue().splitlines()] == ["rollout 0", "rollout 1", "turn"], printed.getvalue()
    for name in ("step-0-0", "step-0-1"):
        row, = training_rows.rows(server.url, name)
        assert sum(row.loss_mask) > 0
    body = {"model": "any", "messages": [{"role": "user", "content": "?"}], "max_tokens": 8, "logprobs": True,
            "return_token_ids": True}
    turn = trainer_rollouts.turn_tokens(training_rows.post(f"{server.url}/s/turn/v1/chat/completions", body))
    row, = training_rows.rows(server.url, "turn")
    assert turn["prompt_ids"] + turn["completion_ids"] == list(row.ids)
    assert len(turn["completion_logprobs"]) == len(turn["completion_ids"]) == sum(row.loss_mask)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", required=True)
    options = options.parse_args()
    server = serve_page_test.Server(options.program)
    try:
        if server.url is None:
            print("skipped: no small model can be made here")
            return 0
        check(server)
        check_trainers(server)
    finally:
        ended = server.close()
    print("training_example_test: all well")
    return 1 if ended else 0


if __name__ == "__main__":
    sys.exit(main())
