"""Python values as JSON: exact where they fit, an error with a place where they don't."""
import collections
import dataclasses
import enum
import threading
import types

import numpy
import pytest

import rondo


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    file = tmp_path_factory.mktemp("show") / "show.jinja"
    file.write_text("{{ messages[0].content | tojson }}", encoding="utf-8")
    model = rondo.load(file, strict=True)
    return lambda value: model.render([{"role": "user", "content": value}])


@dataclasses.dataclass
class Point:
    x: int
    y: float
    name: str | None = None


class Colour(str, enum.Enum):
    RED = "red"


class Number(enum.IntEnum):
    BIG = 1 << 80


class Dumped:
    def model_dump(self, exclude_none=False):
        assert exclude_none
        return {"type": "text", "text": "t"}


class OldBool:
    """As numpy.bool_ was before NumPy 2.3: it has an index too."""
    dtype = numpy.dtype(bool)

    def item(self):
        return True

    def __index__(self):
        return 1


@pytest.mark.parametrize(("value", "wanted"), [
    (None, "null"), (True, "true"), (0, "0"), (-7, "-7"), (10**30, str(10**30)), (-(2**63), str(-(2**63))),
    (1.0, "1.0"), (1e22, "1e+22"), (0.1, "0.1"), (-0.0, "-0.0"), (float("nan"), "NaN"), (float("inf"), "Infinity"),
    (1e-7, "1e-07"), ("\u00e9\U0001f600\0", '"\u00e9\U0001f600\\u0000"'),
    ([1, [2, (3,)]], "[1, [2, [3]]]"), ({"b": 1, "a": {"": None}}, '{"b": 1, "a": {"": null}}'),
    (collections.OrderedDict(z=1, y=2), '{"z": 1, "y": 2}'), (types.MappingProxyType({"k": 1}), '{"k": 1}'),
    (Point(1, 2.0), '{"x": 1, "y": 2.0}'), (Colour.RED, '"red"'), (Number.BIG, str(1 << 80)),
    (Dumped(), '{"type": "text", "text": "t"}'),
    (numpy.int64(3), "3"), (numpy.float64(2.5), "2.5"), (numpy.float32(2.5), "2.5"), (numpy.bool_(True), "true"), (OldBool(), "true"),
    (numpy.str_("s"), '"s"'), (numpy.uint8(255), "255"),
])
def test_values(seen, value, wanted):
    assert seen(value) == wanted


def test_order_of_keys_is_kept(seen):
    keys = [f"k{index}" for index in range(200)][::-1]
    assert seen(dict.fromkeys(keys, 0)) == "{" + ", ".join(f'"{key}": 0' for key in keys) + "}"


def test_lone_surrogates_pass(seen, tiny):
    assert seen("a\ud800b") == '"a\ud800b"'
    assert tiny.render([{"role": "user", "content": "\udfff"}]) == "<|user|>\udfff<|end|>"
    assert len(tiny.encode([{"role": "user", "content": "\udfff"}])) > 2


class Broken:
    def model_dump(self, **_options):
        raise KeyError("from inside")


class Itself:
    def model_dump(self, **_options):
        return [self]


def cyclic():
    made = []
    made.append(made)
    made.append(made)
    return made


def cyclic_dict():
    made = {"a": {}}
    made["a"]["b"] = made
    return made


def deep():
    made = []
    for _ in range(5000):
        made = [made]
    return made


def laughing():
    """Few objects that unfold to more than there is memory."""
    made = ["x" * 1000]
    for _ in range(60):
        made = [made, made]
    return made


@pytest.mark.parametrize(("value", "place", "kind"), [
    ({1, 2}, "messages[0].content", rondo.InvalidArgumentError),
    (b"bytes", "messages[0].content", rondo.InvalidArgumentError),
    ([1, {"a": object()}], "messages[0].content[1].a", rondo.InvalidArgumentError),
    ({1: 2}, "messages[0].content", rondo.InvalidArgumentError),
    ({("a",): 2}, "messages[0].content", rondo.InvalidArgumentError),
    (lambda: 10**5000, "messages[0].content", rondo.InvalidArgumentError),
    (iter([1]), "messages[0].content", rondo.InvalidArgumentError),
    (1j, "messages[0].content", rondo.InvalidArgumentError),
    (int, "messages[0].content", rondo.InvalidArgumentError),
    (Point, "messages[0].content", rondo.InvalidArgumentError),
    (numpy.zeros(3), "messages[0].content", rondo.InvalidArgumentError),
    (cyclic, "messages[0].content[0]", rondo.InvalidArgumentError),
    (cyclic_dict, "messages[0].content.a.b", rondo.InvalidArgumentError),
    (Itself(), "messages[0].content[0]", rondo.InvalidArgumentError),
    (deep, None, rondo.LimitError),
    (laughing, None, rondo.LimitError),
])
def test_what_does_not_fit_is_named_with_its_place(seen, value, place, kind):
    value = value() if callable(value) and not isinstance(value, type) else value  # what pytest could not print
    with pytest.raises(kind) as caught:
        seen(value)
    assert caught.value.place == place or place is None
    assert isinstance(caught.value, rondo.Error) and caught.value.code in ("bad_request", "limit")


def test_what_objects_raise_passes(seen):
    with pytest.raises(KeyError, match="from inside"):
        seen(Broken())


@pytest.mark.parametrize("messages", [None, 1, "text", {"role": "user"}, [1], ["a"], [[]], [None]])
def test_messages_must_be_a_list_of_dicts(tiny, messages):
    with pytest.raises((rondo.InvalidArgumentError, TypeError)):
        tiny.encode(messages)
    with pytest.raises((rondo.InvalidArgumentError, TypeError)):
        tiny.bridge([1], [2], messages)


def test_a_list_that_changes_while_it_is_read(seen):
    class Greedy:
        def model_dump(self, **_options):
            given.clear()
            return {}

    given = [Greedy(), 1, 2]
    assert seen(given) == "[{}]"

    class Eager:
        def model_dump(self, **_options):
            table["new"] = 1
            return {}

    table = {"a": Eager(), "b": 1}
    with pytest.raises(rondo.InvalidArgumentError, match="changed"):
        seen(table)


DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_ids_of_every_integer_type(tiny, dtype):
    ids = numpy.array([72, 105, 33], dtype=dtype)
    text = tiny.detokenize([72, 105, 33])
    assert tiny.detokenize(ids) == text
    assert tiny.detokenize(numpy.stack([ids, ids], axis=1)[:, 0]) == text  # elements apart
    assert tiny.detokenize(ids[::-1]) == tiny.detokenize([33, 105, 72])
    frozen = ids.copy()
    frozen.flags.writeable = False
    assert tiny.detokenize(frozen) == text


@pytest.mark.parametrize("ids", [(72, 105, 33), range(72, 75), [numpy.int64(72), numpy.uint8(3)], [], numpy.array([], "i4"),
                                 numpy.array([], "i8"), memoryview(numpy.array([72, 73], "i4"))])
def test_ids_of_other_kinds(tiny, ids):
    assert tiny.detokenize(ids) == tiny.detokenize([int(one) for one in ids])


@pytest.mark.parametrize("ids", [
    "72", b"72", {72: 1}, 72, None, [72, "a"], [None], [1.0], [True], numpy.array([1.5]), numpy.array([True]),
    numpy.array(["a"]), numpy.array([object()]), numpy.zeros((2, 2), int), numpy.zeros((), int), numpy.array([1j]),
    [-1], [266], [1 << 31], [1 << 63], [1 << 64], numpy.array([-1]), numpy.array([-1], "i4"), numpy.array([-1], "i1"),
    numpy.array([1 << 31], "u4"), numpy.array([1 << 63], "u8"), numpy.array([300], "i4"),
])
def test_ids_that_are_none(tiny, ids):
    refused = (rondo.InvalidArgumentError, rondo.TokenizerError, *([TypeError] if ids is None else []))
    with pytest.raises(refused):
        tiny.detokenize(ids)
    with pytest.raises(refused):
        tiny.bridge(ids, [72], [{"role": "user", "content": "x"}])
    with pytest.raises(refused):
        tiny.bridge([72], ids, [{"role": "user", "content": "x"}])


def test_ids_change_in_another_thread(tiny):
    """No promise of a result, but no crash either."""
    ids = numpy.array([72] * 10000, dtype=numpy.int32)
    done = threading.Event()

    def change():
        while not done.is_set():
            ids[:] = 73
            ids[:] = 74

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(50):
        assert len(tiny.detokenize(ids)) == 10000
    done.set()
    thread.join()
