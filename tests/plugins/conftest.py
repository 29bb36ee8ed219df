"""Engines whose interfaces are their own, replies of the corpus, and how these are cut into deltas."""
import json
import lzma
import os
import pathlib
import random

import pytest

import rondo

collect_ignore = [f"test_{name}.py" for name in ("vllm", "sglang") if not os.environ.get(f"RONDO_TEST_{name.upper()}")]
REPO = pathlib.Path(__file__).resolve().parents[2]
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}}


class Tokenizer:
    """A slow tokenizer as an engine holds it: rondo reads its files."""

    def __init__(self, folder):
        self.name_or_path = str(folder)
        self.model = rondo.load(folder)

    def encode(self, text, add_special_tokens=False):
        return self.model.tokenize(text).tolist()

    def decode(self, ids, **options):
        return self.model.detokenize(list(ids))


class Turn:
    """What a model said in the corpus, with its prompt."""

    def __init__(self, row, tokenizer, messages, tools, said):
        model = tokenizer.model
        self.row, self.tokenizer, self.messages, self.tools = row, tokenizer, messages, tools
        self.prompt_ids = model.encode(messages, tools=tools, add_generation_prompt=True).ids.tolist()
        ids = model.tokenize(said).tolist()
        stops = set(model.stop_ids())
        parser = model.stream_parser(prompt_ids=self.prompt_ids)
        end = next((index + 1 for index, token in enumerate(ids) if (parser.feed(token), parser.ended or token in stops)[1]),
                   len(ids))
        self.ids = ids[:end]
        # An engine does not show the stop token.
        self.text = model.detokenize(self.ids[:-1] if self.ids and self.ids[-1] in stops else self.ids)
        parsed = model.parse(self.ids, prompt_ids=self.prompt_ids, tools=tools, tool_choice="auto" if tools else "none")
        # A stream tells white space at the end only once something follows.
        self.expected = ((parsed.reasoning_content or "").rstrip(), (parsed.content or "").rstrip(),
                         [(call.name, json.loads(call.arguments)) for call in parsed.tool_calls])


def corpus():
    for folder in (os.environ.get("RONDO_CORPUS"), REPO.parent / "shared" / "corpus"):
        if folder and (pathlib.Path(folder) / "completions").is_dir():
            return pathlib.Path(folder)
    return None


def models(folder):
    return pathlib.Path(os.environ.get("RONDO_CORPUS_MODELS") or folder / "models")


def turns_of(folder, row, limit):
    path = models(folder) / row
    file = folder / "completions" / f"{row}.jsonl.xz"
    if not (path / "tokenizer.json").exists() or not file.exists():
        return []
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        said = [entry for entry in map(json.loads, lines) if "q" in entry and entry["k"] == "gen"]
    random.Random(row).shuffle(said)
    tokenizer, found = Tokenizer(path), []
    for entry in said:
        if len(found) == limit:
            break
        conversation = json.loads((folder / "conversations" / f"{entry['c']}.json").read_text(encoding="utf-8"))
        if conversation["messages"][entry["i"] - 1]["role"] == "assistant":
            continue  # its words may be the begin of this one's
        try:
            found.append(Turn(row, tokenizer, conversation["messages"][:entry["i"]], conversation.get("tools") or None,
                              entry["q"]))
        except rondo.Error:
            continue
    return found


@pytest.fixture(scope="session")
def turns():
    """Two turns of each row of the corpus with a tokenizer, at most 24 rows; RONDO_PLUGIN_TURNS=N takes N of every row."""
    folder = corpus()
    if folder is None:
        pytest.skip("no corpus")
    rows = sorted(path.name.removesuffix(".jsonl.xz") for path in (folder / "completions").glob("*.jsonl.xz"))
    wanted = int(os.environ.get("RONDO_PLUGIN_TURNS", 0))
    if not wanted:
        rows = rows[::max(1, len(rows) // 30)]
    return [turn for row in rows for turn in turns_of(folder, row, wanted or 2)]


@pytest.fixture(scope="session")
def deltas():
    """Cuts a sequence at random."""
    def cut(whole, seed):
        chance, at, parts = random.Random(seed), 0, []
        while at < len(whole):
            step = chance.choice((1, 1, 1, 2, 3, 7, 20))
            parts.append(whole[at:at + step])
            at += step
        return parts or [whole]
    return cut


def told(tokenizer, parts):
    """(text, ids) of each part, as engines detokenize: half a character waits for its other half, stop tokens are not shown."""
    ids, shown, stops = [], "", set(tokenizer.model.stop_ids())
    for part in parts:
        ids += [token for token in part if token not in stops]
        text = tokenizer.decode(ids)
        whole = text if not text.endswith("\ufffd") else shown
        yield whole[len(shown):], list(part)
        shown = whole


def streams(turn, count, seed):
    """Replies that nobody meant: pieces of a real one, marks of its format, and noise, in any order."""
    chance = random.Random(seed)
    model, size = turn.tokenizer.model, turn.tokenizer.model.vocab_size
    marks = [mark for text in json.dumps(model.format(), ensure_ascii=False).split('"') if 2 < len(text) < 30
             and not text.isalpha() for mark in (model.tokenize(text).tolist(),)]
    stops = set(model.stop_ids())
    for _ in range(count):
        ids = []
        for _ in range(chance.randrange(1, 6)):
            kind = chance.randrange(3)
            if kind == 0 and turn.ids:
                first = chance.randrange(len(turn.ids))
                ids += turn.ids[first:first + chance.randrange(1, 20)]
            elif kind == 1 and marks:
                ids += chance.choice(marks)
            else:
                ids += [chance.randrange(size) for _ in range(chance.randrange(1, 8))]
        # An engine ends at a stop.
        yield ids[:next((index + 1 for index, token in enumerate(ids) if token in stops), len(ids))]
