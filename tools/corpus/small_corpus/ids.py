"""Ids of texts by Hugging Face's `tokenizers`, as the larger corpus has them in tokens/ and tokens_chat/."""
import copy
import json
import os
import random
import sys

from tools.dependencies import fetch
from tools.oracles.tokenizer_fuzz.texts import Texts

TEXTS = 400
os.environ["TOKENIZERS_PARALLELISM"] = "false"


def available():
    """Makes `tokenizers` importable; False where the pinned wheel is not to be had here."""
    folder = fetch.wheel("tokenizers")
    if folder is None:
        return False
    sys.path.insert(0, str(folder))
    try:
        import tokenizers  # noqa: F401
    except ImportError:
        return False
    return True


def _load(document, **changes):
    from tokenizers import Tokenizer
    return Tokenizer.from_str(json.dumps({**document, **changes}))


def texts(lookalikes):
    source = Texts(random.Random(7), lookalikes=sorted(lookalikes))
    return [source.text() for _ in range(TEXTS)]


def _special_as_text(document):
    """Without its special tokens; with the others."""
    out = copy.copy(document)
    out["added_tokens"] = [token for token in document["added_tokens"] if not token["special"]]
    return out


def token_lines(document, strings):
    """Lines as in tokens/: ids with all added tokens, without the special ones, with none, and the decoded text."""
    whole = _load(document)
    no_special = _load(document)
    no_special.encode_special_tokens = True
    plain = _load(document, added_tokens=[])
    for number, text in enumerate(strings):
        def ids(tokenizer, text=text):
            return tokenizer.encode(text, add_special_tokens=False).ids
        line = {"i": number, "p": ids(whole)}
        last = line["p"]
        for key, tokenizer in (("n", no_special), ("x", plain)):
            found = ids(tokenizer)
            if found != last:
                line[key] = last = found
        decoded = whole.decode(line["p"], skip_special_tokens=False)
        if decoded != text:
            line["d"] = decoded
        yield line


def chat_lines(document, renders):
    """Lines as in tokens_chat/ for the prompts of the set `gen`."""
    tokenizer = _load(document)
    known = {}
    for line in renders:
        if "t" in line:
            known[line["h"]] = line["t"]
        if line["k"] == "gen" and "h" in line:
            ids = tokenizer.encode(known[line["h"]], add_special_tokens=False).ids
            yield {"c": line["c"], "n": len(ids), "ids": ids}
