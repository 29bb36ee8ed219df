"""rondo.compat.renderers beside the package that it is compatible with: ids, owners, masks and bridges, token by token.

Usage: PYTHONPATH=build/python python3 -m tools.oracles.renderers_compare --models FOLDER --conversations FOLDER [--only MODEL] [--show N]

For each model folder whose family the package knows, over all conversations without images: where both render the same ids, their
message_indices, sampled_mask and is_content are compared; where not, it is said whether transformers' own rendering agrees with
rondo.  Needs the packages renderers and transformers, which are not fetched; without them this says so and passes.
"""
import argparse
import collections
import copy
import json
import pathlib
import sys

# Folder of the corpus: configuration.
MODELS = {
    "qwen3": "qwen3", "qwen3.5": "qwen3.5", "qwen3.6": "qwen3.6", "qwen3-vl": "qwen3-vl", "glm4.5": "glm-4.5", "glm5": "glm-5",
    "glm5.1": "glm-5.1", "glm5.3-flash": "glm-5.3", "minimax-m2": "minimax-m2", "deepseek-v3": "deepseek-v3",
    "deepseek-r1": "deepseek-r1", "deepseek-v4-flash-0731": "deepseek-v4", "kimi-k2": "kimi-k2",
    "kimi-k2-instruct": "kimi-k2", "kimi-k2.5": "kimi-k2.5", "kimi-k2.6": "kimi-k2.5",
    "nemotron-3-nano": "nemotron-3", "nemotron-3-super": "nemotron-3", "nemotron-3-ultra": "nemotron-3-ultra",
    "laguna-xs.2": "laguna-xs.2", "llama3.2": "llama-3", "hy3": "hy3", "gemma-4": "gemma4", "gpt-oss": "gpt-oss",
}


def conversations(folder):
    for file in sorted(pathlib.Path(folder).glob("*.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        text = json.dumps(case["messages"])
        if case["messages"] and '"image' not in text and '"video' not in text and '"audio' not in text:
            yield case["id"], case["messages"], case.get("tools")


def attempt(function, *arguments, **options):
    try:
        return function(*copy.deepcopy(arguments), **copy.deepcopy(options))
    except Exception as error:  # noqa: BLE001: whatever a peer raises is a result here
        return error


class Tally(collections.Counter):
    def __init__(self):
        super().__init__()
        self.examples = collections.defaultdict(list)

    def differ(self, what, example):
        self[what] += 1
        self.examples[what].append(example)


def compare_arrays(tally, name, case, ids, wanted, given, show):
    differing = [k for k, (a, b) in enumerate(zip(wanted, given)) if a != b]
    tally[f"{name} tokens differing"] += len(differing)
    if differing:
        around = [f"{show(ids[k])} {wanted[k]}/{given[k]}" for k in differing[:6]]
        tally.differ(name, f"{case}: {', '.join(around)}")


def compare_model(theirs, ours, tokenizer, cases, tally):
    def show(token):
        return repr(tokenizer.decode([token]))

    for case, messages, tools in cases:
        for prompt in (False, True):
            options = {"tools": tools, "add_generation_prompt": prompt}
            wanted, given = attempt(theirs.render, messages, **options), attempt(ours.render, messages, **options)
            tally["renders"] += 1
            if isinstance(wanted, Exception) or isinstance(given, Exception):
                kind = ("both refuse" if isinstance(wanted, Exception) and isinstance(given, Exception) else
                        "only they refuse" if isinstance(wanted, Exception) else "only rondo refuses")
                tally.differ(kind, f"{case}: {wanted if isinstance(wanted, Exception) else given}"[:200])
                continue
            if wanted.token_ids != given.token_ids:
                kwargs = getattr(ours, "_kwargs", {})
                own = attempt(tokenizer.apply_chat_template, messages, tokenize=True, return_dict=False, tools=tools,
                              add_generation_prompt=prompt, **kwargs)
                agrees = not isinstance(own, Exception) and list(own) == given.token_ids
                at = next((k for k, (a, b) in enumerate(zip(wanted.token_ids, given.token_ids)) if a != b),
                          min(len(wanted.token_ids), len(given.token_ids)))
                shown = (tokenizer.decode(wanted.token_ids[max(0, at - 3):at + 6]),
                         tokenizer.decode(given.token_ids[max(0, at - 3):at + 6]))
                tally.differ("other ids, rondo's are transformers'" if agrees else "other ids", f"{case} prompt={prompt}: {shown}")
                continue
            tally["same ids"] += 1
            tally["tokens"] += len(given.token_ids)
            for name in ("message_indices", "sampled_mask", "is_content"):
                if len(getattr(wanted, name)) != len(given.token_ids):
                    tally[f"{name} not given"] += 1
                    continue
                compare_arrays(tally, name, f"{case} prompt={prompt}", given.token_ids, getattr(wanted, name),
                               getattr(given, name), show)
            if wanted.message_tool_names != given.message_tool_names or wanted.message_roles != given.message_roles:
                tally.differ("names", case)
        compare_bridges(theirs, ours, tokenizer, (case, messages, tools), tally)


def compare_bridges(theirs, ours, tokenizer, case, tally):
    """Each assistant turn of a conversation as a completion, what follows it as the new messages."""
    name, messages, tools = case
    for i, message in enumerate(messages):
        if message.get("role") != "assistant" or i == 0 or i + 1 == len(messages):
            continue
        end = next((k for k in range(i + 1, len(messages)) if messages[k].get("role") == "assistant"), len(messages))
        if end == i + 1:
            continue
        prompt = attempt(theirs.render_ids, messages[:i], tools=tools, add_generation_prompt=True)
        whole = attempt(theirs.render_ids, messages[:i + 1], tools=tools)
        if isinstance(prompt, Exception) or isinstance(whole, Exception) or whole[:len(prompt)] != prompt:
            continue
        completion = whole[len(prompt):]
        stops = set(theirs.get_stop_token_ids())
        last = next((k for k in range(len(completion) - 1, -1, -1) if completion[k] in stops), None)
        if last is None:
            continue
        for cut, kind in ((completion[:last + 1], "whole"), (completion[:max(1, last // 2)], "cut")):
            arguments = (prompt, cut, messages[i + 1:end])
            wanted, given = (attempt(it.bridge_to_next_turn, *arguments, tools=tools) for it in (theirs, ours))
            tally["bridges"] += 1
            if isinstance(wanted, Exception) or isinstance(given, Exception) or wanted is None or given is None:
                both = type(wanted) is type(given)
                label = "bridge: neither" if both else f"bridge: they {type(wanted).__name__}, rondo {type(given).__name__}"
                tally.differ(label, f"{name} {kind} at {i}")
                continue
            if wanted.token_ids != given.token_ids:
                size = len(prompt) + len(cut)
                tally.differ("bridge: other ids", f"{name} {kind} at {i}: " + repr(
                    (tokenizer.decode(wanted.token_ids[size:])[:80], tokenizer.decode(given.token_ids[size:])[:80])))
                continue
            tally["bridge: same ids"] += 1
            for field in ("message_indices", "is_content"):
                compare_arrays(tally, f"bridge {field}", f"{name} {kind} at {i}", given.token_ids, getattr(wanted, field),
                               getattr(given, field), lambda token: repr(tokenizer.decode([token])))


def report(name, tally, show):
    print(f"== {name}")
    for what, count in sorted(tally.items()):
        print(f"   {what}: {count}")
        for example in tally.examples[what][:show]:
            print(f"      {example[:300]}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--conversations", type=pathlib.Path, required=True)
    parser.add_argument("--only")
    parser.add_argument("--show", type=int, default=2)
    options = parser.parse_args()
    try:
        import renderers as package
        import transformers
    except ImportError as error:
        print(f"skipped: {error}")
        return 0
    import rondo.compat.renderers as compat

    transformers.logging.set_verbosity_error()
    cases = list(conversations(options.conversations))
    total = collections.Counter()
    for folder, name in MODELS.items():
        if options.only and options.only != folder or not (options.models / folder).is_dir():
            continue
        tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(options.models / folder)
        theirs = attempt(package.create_renderer, tokenizer, package.config_from_name(name))
        if isinstance(theirs, Exception):
            print(f"== {folder}: {str(theirs)[:200]}")
            continue
        ours = compat.create_renderer(tokenizer, compat.config_from_name(name))
        tally = Tally()
        for what in ("effective_thinking_retention", "is_prefix_stable"):
            if getattr(theirs, what) != getattr(ours, what):
                tally.differ(what, f"{getattr(theirs, what)} / {getattr(ours, what)}")
        if set(theirs.get_stop_token_ids()) != set(ours.get_stop_token_ids()) or \
                theirs.get_stop_token_ids()[:1] != ours.get_stop_token_ids()[:1]:
            tally.differ("stop ids", repr([tokenizer.convert_ids_to_tokens(it.get_stop_token_ids())
                                           for it in (theirs, ours)]))
        compare_model(theirs, ours, tokenizer, cases, tally)
        report(folder, tally, options.show)
        total.update(tally)
    report("all", Tally() + total if not total else _named(total), 0)
    return 0


def _named(counts):
    tally = Tally()
    tally.update(counts)
    return tally


if __name__ == "__main__":
    sys.exit(main())
