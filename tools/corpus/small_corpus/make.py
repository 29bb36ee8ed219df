"""Makes the small corpus in the cache, once for each state of what it is made from.

    <folder>/manifest.json, templates/, conversations/, render/, completions/, reference/, tokens/, tokens_chat/, tokenizers/
    <folder>/models/<row>/    tokenizer.json, tokenizer_config.json, chat_template.jinja
"""
import concurrent.futures
import hashlib
import json
import lzma
import os
import shutil

from tools.corpus import fixtures
from tools.dependencies import cache, fetch
from tools.oracles import jinja_reference

from . import ids, renders, vocabularies

VERSION = 3  # of this package: raise it when what it writes changes
OWN = cache.REPO / "tests" / "corpus"
INVENTED = cache.REPO / "tests" / "golden" / "format" / "invented"
PLAN = cache.REPO / "tests" / "golden" / "parse" / "replay.json"
CLOCK = "2026-03-14T15:09:26"
CHATS_OF_EVERY = 8  # rows whose rendered chats are recorded as ids


def _sources():
    return sorted([*OWN.rglob("*.json*"), *OWN.rglob("*.jinja"), *INVENTED.glob("*.jinja"), PLAN])


def prefix():
    parts = [cache.sha256(path) for path in _sources()]
    return cache.root() / ("small-corpus-" + cache.key(VERSION, fixtures.prefix().name, jinja_reference.prefix().name,
                                                       fetch.PACKAGES["tokenizers"]["sha256"], *parts))


def _lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def conversations():
    tools = json.loads((OWN / "tools.json").read_text(encoding="utf-8"))
    out = _lines(OWN / "conversations.jsonl")
    for conversation in out:
        conversation["tools"] = [tools[name] for name in conversation["tools"]] if "tools" in conversation else None
    return out


def _name_of(kwargs):
    return "+".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in kwargs.items())


def rows(data):
    """The rows of the manifest: those of the packages' templates and our own, in an order that mixes them."""
    out = []
    for given in _lines(OWN / "rows.jsonl"):
        own = given.get("own")
        sets = [{"name": "gen", "kwargs": {"add_generation_prompt": True}},
                {"name": "nogen", "kwargs": {"add_generation_prompt": False}}]
        sets += [{"name": _name_of(kwargs), "kwargs": {"add_generation_prompt": True, **kwargs}}
                 for kwargs in given.get("kwargs", [])]
        source = OWN / "templates" / f"{own}.jinja" if own else data / "templates" / f"{given['template']}.jinja"
        out.append({"id": given["id"], "source": source, "kind": given.get("tokenizer"),
                    "whole_tokenizer": given.get("whole_tokenizer"),
                    "template": f"templates/own-{source.name}" if own else f"templates/llamacpp-{source.name}",
                    "bos_token": given["bos"], "eos_token": given["eos"], "stop_tokens": given["stops"],
                    "uses_generation_tag": given.get("generation", False), "kwargs_sets": sets})
    out.sort(key=lambda row: hashlib.sha256(row["id"].encode()).hexdigest())
    for number, row in enumerate(out):
        row["kind"] = row["whole_tokenizer"] or row["kind"] or vocabularies.BYTE_LEVEL[number % len(vocabularies.BYTE_LEVEL)]
    return out


def _write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def pack(path, lines):
    """Lines of JSON in an .xz file, as the larger corpus has them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="ascii", preset=0) as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def _text(row):
    return row["source"].read_text(encoding="utf-8")


def _make_model(folder, row, document):
    """The row's model folder; returns its tokenizer with the template's control tokens."""
    ends = [row["bos_token"], row["eos_token"], *row["stop_tokens"]]
    document = vocabularies.with_controls(document, vocabularies.control_tokens(renders.texts_of(row, _text(row), conversations()), ends))
    model = folder / "models" / row["id"]
    _write(model / "tokenizer.json", document)
    _write(model / "tokenizer_config.json", {"bos_token": row["bos_token"], "eos_token": row["eos_token"],
                                             "clean_up_tokenization_spaces": False})
    shutil.copyfile(row["source"], model / "chat_template.jinja")
    return document


def _record(folder, row):
    """Everything that jinja2 says of a row."""
    recorder = renders.Recorder(row, _text(row))
    items = conversations()
    pack(folder / "render" / f"{row['id']}.jsonl.xz", recorder.lines(items))
    pack(folder / "completions" / f"{row['id']}.jsonl.xz", recorder.completions(items))
    plan = json.loads(PLAN.read_text(encoding="utf-8"))
    for wanted in plan["models"]:
        if wanted["model"] == row["id"]:
            generations = {kind: {"completion": text} for kind, text in recorder.replay(plan, wanted.get("kwargs", {})).items()}
            _write(folder / "reference" / plan["folder"] / f"{wanted['file']}.json", {"grammars": [{"generations": generations}]})


def _make_ids(folder, bases, all_rows, documents):
    """What `tokenizers` says of texts and chats, with the tokenizers that it was asked about."""
    index, strings = [], ids.texts({token for document in documents.values() for token in _special(document)})
    pack(folder / "tokens" / "strings.jsonl.xz", ({"i": number, "s": text} for number, text in enumerate(strings)))
    chosen = {kind: bases[kind] for kind in vocabularies.KINDS}
    chosen |= {row["id"]: documents[row["id"]] for row in all_rows[::CHATS_OF_EVERY]}
    for name, document in chosen.items():
        file = f"tokenizers/{name}.json.xz"
        (folder / "tokenizers").mkdir(exist_ok=True)
        (folder / file).write_bytes(lzma.compress(json.dumps(document, ensure_ascii=False).encode(), preset=0))
        index.append({"id": name, "file": file})
        pack(folder / "tokens" / f"{name}.jsonl.xz", ids.token_lines(document, strings))
        for row in all_rows:
            if row["id"] == name:
                row["tokenizer"] = file
                with lzma.open(folder / "render" / f"{name}.jsonl.xz", "rt", encoding="ascii") as file_of_row:
                    pack(folder / "tokens_chat" / f"{name}.jsonl.xz", ids.chat_lines(document, map(json.loads, file_of_row)))
    _write(folder / "tokenizers" / "index.json", index)
    native = folder / "tokenizers" / "native"
    native.mkdir()
    (native / "qwen3_6.tiktoken.xz").write_bytes(lzma.compress(b"\n".join(bases.ranks("qwen3_6")) + b"\n", preset=0))
    tekken, document = bases.tekken("qwen3_6")
    (native / "tekken.json.xz").write_bytes(lzma.compress(json.dumps(tekken).encode(), preset=0))
    pack(folder / "tokens" / "tekken.jsonl.xz", ids.token_lines(document, strings))


def _special(document):
    return [token["content"] for token in document["added_tokens"]]


def _fill(folder):
    data = fixtures.unpack()
    jinja_reference.unpack()
    all_rows, bases, documents = rows(data), vocabularies.Bases(data), {}
    (folder / "templates").mkdir()
    for path in sorted((data / "templates").glob("*.jinja")):
        shutil.copyfile(path, folder / "templates" / f"llamacpp-{path.name}")
    for row in all_rows:
        shutil.copyfile(row["source"], folder / row["template"])
        document = bases.whole(row["whole_tokenizer"]) if row["whole_tokenizer"] else bases[row["kind"]]
        documents[row["id"]] = _make_model(folder, row, document)
    for conversation in conversations():
        _write(folder / "conversations" / f"{conversation['id']}.json", conversation)
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(_record, folder, row) for row in all_rows]:
            done.result()
    if ids.available():
        _make_ids(folder, bases, all_rows, documents)
    names = ("id", "template", "tokenizer", "bos_token", "eos_token", "stop_tokens", "uses_generation_tag", "kwargs_sets")
    _write(folder / "manifest.json", {"format": 1, "pinned_clock": CLOCK,
                                      "rows": [{name: row[name] for name in names if name in row} for row in all_rows]})


def make():
    """Makes it unless that has been done; returns the folder."""
    return cache.filled(prefix(), _fill)
