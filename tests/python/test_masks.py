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
