"""Conversations to token ids and loss masks, on all cores and in order: rondo.mask() (docs/masks.md)."""
import collections
import concurrent.futures
import json
import os
import pathlib

import numpy

from .errors import Error, InvalidArgumentError

_PARTS = ("sampled", "content", "turn")
_AHEAD = 64  # conversations for each thread that are read before the first of them is asked for


def mask(model, source, output=None, *, part="sampled", roles=("assistant",), field="messages", kwargs=None, text=False,
         owners=False, threads=None, on_error="keep"):
    """The ids and the loss mask of each conversation.

    source: conversations (lists of messages, or dicts with `messages` and perhaps `tools`, `documents`, `kwargs`, `id`); or the path
    of a .jsonl file or, with pyarrow, of a .parquet file.
    output: None gives an iterator of dicts; a path (.jsonl, or .parquet with pyarrow) is written, and gives (rows, failed).
    part: what is learned: "sampled", "content" or "turn" (docs/masks.md); roles: whose messages.
    field: the member of a dict that holds its messages.  kwargs: template variables of every conversation.
    text, owners: the prompt's text, and per id the message that it belongs to, as well.
    on_error: "keep" gives a row with `error`; "raise" raises the first one.

    A row is a dict: row (from 0 on), id where there was one, ids and mask (NumPy arrays), text, owners.

        >>> for row in rondo.mask(model, conversations):
        ...     train(row["ids"], row["mask"])
        >>> rondo.mask(model, "chats.parquet", "masks.parquet")
    """
    if part not in _PARTS:
        raise InvalidArgumentError(f"`part` is one of {', '.join(_PARTS)}, not {part!r}")
    if on_error not in ("keep", "raise"):
        raise InvalidArgumentError(f"`on_error` is keep or raise, not {on_error!r}")
    if isinstance(roles, str):
        roles = (roles,)

    def one(number, entry):
        row = {"row": number}
        try:
            _fill(row, model, entry, part, frozenset(roles), field, kwargs or {}, text, owners)
        except (Error, ValueError) as error:
            if on_error == "raise":
                raise
            row["error"] = str(error)
        return row

    if output is not None and isinstance(source, (str, os.PathLike)):
        os.stat(source)  # if it is not there, the output stays as it is
        if _is_same_file(source, output):
            raise InvalidArgumentError(f"{output}: the file to read is the one to write, which would empty it")
    rows = _in_order(one, _entries(source), threads or os.cpu_count() or 1)
    return rows if output is None else _write(rows, pathlib.Path(output))


def _fill(row, model, entry, part, roles, field, kwargs, text, owners):
    if isinstance(entry, ValueError):
        raise entry
    given = entry if isinstance(entry, dict) else {field: entry}
    if given.get("id") is not None:
        row["id"] = given["id"]
    if field not in given:
        raise InvalidArgumentError(f"the object has no `{field}`")
    if given[field] is None:
        raise InvalidArgumentError(f"`{field}` must be an array of objects, found null")
    variables = dict(kwargs)
    for name in ("kwargs", "chat_template_kwargs"):
        more = given.get(name) or {}
        if not isinstance(more, dict):
            raise InvalidArgumentError(f"`{name}` must be an object, found `{type(more).__name__}`")
        variables.update(more)
    encoded = model.encode(given[field], tools=given.get("tools"), documents=given.get("documents"), kwargs=variables or None)
    row["ids"], row["mask"] = encoded.ids, _learned(encoded, part, roles, given[field])
    if text:
        row["text"] = encoded.text
    if owners:
        row["owners"] = encoded.message_indices


def _is_left_out(message):
    """Whether the message itself says that it is not to be learned."""
    if not isinstance(message, dict):
        return False
    weight = message.get("weight")
    has_no_weight = isinstance(weight, (int, float)) and not isinstance(weight, bool) and weight == 0
    return has_no_weight or message.get("training") is False or message.get("train") is False


def _learned(encoded, part, roles, messages):
    # One entry more, false, for ids of no message (-1).
    is_wanted = numpy.array(
        [*(role in roles and not _is_left_out(message) for role, message in zip(encoded.roles, messages)), False]
    )
    if part == "sampled":
        if "assistant" not in roles:
            return numpy.zeros_like(encoded.sampled_mask)
        if not any(map(_is_left_out, messages)):
            return encoded.sampled_mask
        return encoded.sampled_mask & is_wanted[_samplers(encoded)]
    of_roles = is_wanted[encoded.message_indices]
    if part == "content":
        of_roles = of_roles & (encoded.content_mask != 0)
    return of_roles.astype(numpy.uint8)


def _samplers(encoded):
    """For each sampled id the assistant message that ends with it; it may belong to the message behind that one."""
    is_assistant = numpy.array([*(role == "assistant" for role in encoded.roles), False])
    own = (encoded.sampled_mask != 0) & is_assistant[encoded.message_indices]
    last = numpy.maximum.accumulate(numpy.where(own, numpy.arange(len(own)), -1))
    return numpy.where(last < 0, -1, encoded.message_indices[last])


def _entries(source):
    """Conversations; what a line cannot be read as is a ValueError in its place."""
    if not isinstance(source, (str, os.PathLike)):
        yield from source
        return
    path = pathlib.Path(source)
    if path.suffix == ".parquet":
        import pyarrow.parquet

        for batch in pyarrow.parquet.ParquetFile(path).iter_batches():
            yield from map(_without_none, batch.to_pylist())
        return
    with open(path, "rb") as lines:
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                yield json.loads(line.decode("utf-8-sig" if number == 0 else "utf-8"))
            except ValueError as error:
                yield error


def _is_same_file(source, output):
    """Whether both are one file, by whatever names; of devices and pipes, nothing is lost."""
    return os.path.isfile(output) and os.path.isfile(source) and os.path.samefile(source, output)


def _without_none(value):
    """Parquet gives every object all members of its column; those that a row does not have are None."""
    if isinstance(value, dict):
        return {name: _without_none(member) for name, member in value.items() if member is not None}
    return [_without_none(member) for member in value] if isinstance(value, list) else value


def _in_order(work, entries, threads):
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        waiting = collections.deque()
        for number, entry in enumerate(entries):
            waiting.append(pool.submit(work, number, entry))
            if len(waiting) >= threads * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _plain(row):
    return {name: value.tolist() if isinstance(value, numpy.ndarray) else value for name, value in row.items()}


def _write(rows, path):
    """(rows, failed)"""
    write = _write_parquet if path.suffix == ".parquet" else _write_lines
    count = failed = 0

    def counted():
        nonlocal count, failed
        for row in rows:
            count += 1
            failed += "error" in row
            yield row

    write(counted(), path)
    return count, failed


def _write_lines(rows, path):
    # Halves of surrogate pairs are no UTF-8; this writes them as JSON does.
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as out:
        for row in rows:
            out.write(json.dumps(_plain(row), ensure_ascii=False, separators=(",", ":")) + "\n")


def _write_parquet(rows, path):
    import pyarrow
    import pyarrow.parquet

    numbers = pyarrow.list_(pyarrow.int32())
    schema = pyarrow.schema([("row", pyarrow.int64()), ("id", pyarrow.string()), ("ids", numbers),
                             ("mask", pyarrow.list_(pyarrow.uint8())), ("text", pyarrow.string()), ("owners", numbers),
                             ("error", pyarrow.string())])
    with pyarrow.parquet.ParquetWriter(path, schema) as out:
        waiting = []
        for row in rows:
            entry = _plain(row)
            entry["id"] = None if "id" not in entry else str(entry["id"])
            waiting.append(entry)
            if len(waiting) == 1000:
                out.write_table(pyarrow.Table.from_pylist(waiting, schema=schema))
                waiting = []
        out.write_table(pyarrow.Table.from_pylist(waiting, schema=schema))
