"""Loss masks of many conversations."""
import json

import numpy
import pytest

import rondo

TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def test_rows_come_in_order_with_what_is_wrong_in_its_place(tiny):
    given = [TALK, {"id": "b", "messages": TALK}, {"chat": TALK}, {"messages": [{"role": "user", "content": {1}}]}] * 200
    rows = list(rondo.mask(tiny, iter(given), text=True, owners=True, threads=4))
    assert [row["row"] for row in rows] == list(range(800))
    encoded = tiny.encode(TALK)
    for row in rows[:2]:
        numpy.testing.assert_array_equal(row["ids"], encoded.ids)
        numpy.testing.assert_array_equal(row["mask"], encoded.sampled_mask)
        numpy.testing.assert_array_equal(row["owners"], encoded.message_indices)
        assert row["text"] == encoded.text
    assert rows[1]["id"] == "b" and "no `messages`" in rows[2]["error"] and "messages[0].content" in rows[3]["error"]
    with pytest.raises(rondo.InvalidArgumentError):
        list(rondo.mask(tiny, given, on_error="raise"))


@pytest.mark.parametrize(("part", "roles", "text"), [
    ("sampled", ("assistant",), "Hello<|end|>"), ("sampled", "user", ""), ("content", ("user", "assistant"), "HiHello"),
    ("turn", "assistant", "<|assistant|>Hello<|end|>")])
def test_parts_and_roles(tiny, part, roles, text):
    row = next(rondo.mask(tiny, [TALK], part=part, roles=roles))
    assert tiny.detokenize(row["ids"][row["mask"] != 0]) == text


def test_files(tiny, tmp_path):
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps(TALK) + "\n\n{cut\n" + json.dumps({"id": 7, "messages": TALK}) + "\n", encoding="utf-8")
    assert rondo.mask(tiny, source, output) == (3, 1)
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert rows[0]["ids"] == tiny.encode(TALK).ids.tolist() and "error" in rows[1] and rows[2]["id"] == 7


def test_bug_the_file_to_read_could_be_the_one_to_write_and_was_emptied(tiny, tmp_path):
    source, link = tmp_path / "in.jsonl", tmp_path / "link.jsonl"
    source.write_text(json.dumps(TALK) + "\n", encoding="utf-8")
    link.symlink_to(source)
    for output in (source, str(source), link):
        with pytest.raises(rondo.InvalidArgumentError, match="the file to read is the one to write"):
            rondo.mask(tiny, source, output)
    with pytest.raises(FileNotFoundError):
        rondo.mask(tiny, tmp_path / "nowhere.jsonl", source)
    assert json.loads(source.read_text(encoding="utf-8")) == TALK


def test_bug_one_bad_line_ended_the_whole_job(tiny, tmp_path):
    half = json.dumps({"id": "\ud83d", "messages": TALK}).encode()
    lines = [b"\xef\xbb\xbf" + json.dumps(TALK).encode(), b'[{"role": "user", "content": "\xff"}]', b"null", b'{"messages": null}',
             json.dumps({"messages": TALK, "kwargs": [1]}).encode(), half]
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\n".join(lines))
    assert rondo.mask(tiny, source, output, text=True) == (6, 4)
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert ["error" in row for row in rows] == [False, True, True, True, True, False]
    assert rows[0]["text"] == tiny.encode(TALK).text and rows[5]["id"] == "\ud83d"
    assert "found null" in rows[3]["error"] and "`kwargs` must be an object" in rows[4]["error"]


def test_parquet(tiny, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet
    source, output = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{"messages": TALK}, {"messages": TALK[:1]}]), source)
    assert rondo.mask(tiny, source, output) == (2, 0)
    rows = pyarrow.parquet.read_table(output).to_pylist()
    assert rows[0]["mask"] == tiny.encode(TALK).sampled_mask.tolist() and rows[1]["ids"]


def test_words_that_there_are_not(tiny):
    with pytest.raises(rondo.InvalidArgumentError, match="part"):
        rondo.mask(tiny, [], part="dreams")
    with pytest.raises(rondo.InvalidArgumentError, match="on_error"):
        rondo.mask(tiny, [], on_error="weep")
