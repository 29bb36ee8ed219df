"""Pools of values, and contexts made of them.

Integers stay small or are far beyond what an allocation can hold: what lies between would only make the reference slow.
"""
import json
import string

STRINGS = [
    "", " ", "a", "abc", "Hello, World!", "  padded\t\n", "line one\nline two\r\nline three\rfour", "\n", "\n\nx\n", "A-B c_d",
    "the quick-brown fox jumps over the lazy dog", "well-known state-of-the-art -x --y---z a-1 1-a é-é", "MiXeD cAsE wOrds", "0", "7", "-12",
    "3.5", " 42 ", "1e3", "1_000", "0x1F", "0b101", "0o17", "inf", "nan", "-Infinity", "٣", "²", "½", "①", "None", "True", "true",
    "<b>bold & \"quoted\" 'text'</b>", "&amp;&lt;&#39;&copy;&notit;&#x41;", "<!-- c --><p>x</p> y", "it's", 'say "hi"', "both ' and \"",
    "back\\slash \\n", "{{ x }}", "{% if %}", "{# c #}", "%}", "}}", "%s and %d", "%(a)s", "100%", "{} {0} {a}", "{{}}", "{a[b]}",
    "äöüß ÄÖÜ", "ﬁ ǆ ŉ", "ΑΣ Σ ΑΣΑ", "İstanbul ı", "ẞ", "e\u0301 combining", "\u200b\u00ad", "nbsp\u00a0here", "next\u0085line",
    "ls\u2028ps\u2029end", "\x00\x01\x1b\x1c\x7f", "\v\f", "😀 astral 𝒜𝔅", "日本語 テキスト", "עברית", "\ufeffbom", "🇩🇪👨‍👩‍👧",
    "a,b,,c", "a b  c", "key=value; other", "x" * 70, "word " * 20, "http://example.com/path?q=1&r=<2>", "www.example.org, (http://a.b/c)",
    "mail me@example.com or mailto:x@y.org.", "<https://x.yz>", "foo.com ftp://x.y", "user", "assistant", "system", "tool", "a.b.c", "1.2",
    "aXbXc", "title case here", "O'Neil mc-donald (john) [x]", "CamelCaseString", "tab\tsep\tvalues", "zażółć", "ǅungla", "ᾳ", "ʼn",
]
INTS = [0, 1, -1, 2, 3, 4, 5, 7, 8, 10, 12, 15, 16, 31, 42, 64, 79, 80, 99, 100, 127, 255, 256, 1000, -2, -3, -7, -10, -100]
BIG_INTS = [2**31 - 1, 2**31, -(2**31), 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**18, 10**22, 10**30, -(10**25) + 7]
FLOATS = [0.0, -0.0, 0.5, 1.0, 1.5, 2.5, -2.5, 3.14159, 0.1, 1e-7, 1e16, 1e22, 123456789.125, -1e-5, 1e300, 5e-324, 2.675, 0.045, 99.995, 100.0, 1e15]
KEYS = ["a", "b", "c", "k", "name", "role", "content", "x y", "é", "items", "keys", "get", "Z", "", "0", "_p", "B", "type", "value"]
ROLES = ["user", "assistant", "system", "tool", "developer"]


def random_text(rng):
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(STRINGS)
    if kind < 0.7:
        return rng.choice(STRINGS) + rng.choice(STRINGS)
    if kind < 0.85:
        return "".join(rng.choices(string.printable, k=rng.randrange(12)))
    out = []
    for _ in range(rng.randrange(8)):
        ceiling = rng.choice((0x80, 0x100, 0x250, 0x600, 0x2200, 0xD800, 0x1F700))
        point = rng.randrange(ceiling)
        out.append(chr(point) if not 0xD800 <= point < 0xE000 else "\ufffd")
    return "".join(out)


def random_int(rng):
    kind = rng.random()
    return rng.choice(INTS) if kind < 0.7 else rng.choice(BIG_INTS) if kind < 0.85 else rng.randrange(-20, 200)


def random_float(rng):
    return rng.choice(FLOATS) if rng.random() < 0.8 else round(rng.uniform(-1000, 1000), rng.randrange(6))


def random_scalar(rng):
    kind = rng.randrange(8)
    if kind < 3:
        return random_text(rng)
    if kind < 5:
        return random_int(rng)
    return (random_float(rng), rng.random() < 0.5, None)[kind - 5]


def random_value(rng, depth=2):
    kind = rng.random()
    if depth == 0 or kind < 0.6:
        return random_scalar(rng)
    if kind < 0.8:
        return random_list(rng, depth - 1)
    return random_dict(rng, depth - 1)


def random_list(rng, depth=1):
    size = rng.choice((0, 1, 2, 3, 3, 4, 6))
    kind = rng.random()
    if kind < 0.25:
        return [random_int(rng) for _ in range(size)]
    if kind < 0.5:
        return [random_text(rng) for _ in range(size)]
    if kind < 0.6:
        return [rng.choice(("a", "A", "b", "B", "c", "", "é")) for _ in range(size + 2)]
    if kind < 0.7:
        return [[rng.choice(KEYS), random_scalar(rng)] for _ in range(size)]
    if kind < 0.75:
        return [rng.choice((1, 1.0, True, 0, False, 2, 0.0)) for _ in range(size + 1)]
    return [random_value(rng, depth) for _ in range(size)]


def random_dict(rng, depth=1):
    return {rng.choice(KEYS): random_value(rng, depth) for _ in range(rng.choice((0, 1, 2, 3, 4)))}


def random_users(rng):
    out = []
    for _ in range(rng.choice((0, 1, 2, 3, 5))):
        user = {"name": rng.choice(("Zoe", "adam", "Bob", "bob", "", "éa")), "age": rng.choice((30, 25, 30.0, 7, -1)),
                "active": rng.random() < 0.5, "city": {"name": rng.choice(("Rome", "Oslo", "oslo")), "tags": ["t", 1]}}
        if rng.random() < 0.2:
            del user[rng.choice(list(user))]
        out.append(user)
    return out


def random_messages(rng):
    out = []
    for _ in range(rng.choice((0, 1, 2, 3, 4))):
        message = {"role": rng.choice(ROLES), "content": random_text(rng)}
        if rng.random() < 0.2:
            message["content"] = [{"type": "text", "text": random_text(rng)}, {"type": "image"}]
        if rng.random() < 0.2:
            message["tool_calls"] = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": random_dict(rng)}}]
        if rng.random() < 0.1:
            message["content"] = None
        out.append(message)
    return out


def random_tree(rng, depth=3):
    return [{"v": rng.choice((1, 2, "x", "<y>")), "c": random_tree(rng, depth - 1) if depth else []} for _ in range(rng.randrange(3))]


# The variables of every context by kind; the grammar picks from the same table.
VARIABLES = {
    "str": {"s": random_text, "t": random_text, "w": random_text, "html": lambda rng: rng.choice(STRINGS)},
    "int": {"n": lambda rng: rng.choice(INTS), "m": lambda rng: rng.randrange(6), "big": lambda rng: rng.choice(BIG_INTS + INTS)},
    "float": {"f": random_float, "g": random_float},
    "bool": {"yes": lambda rng: rng.random() < 0.8, "no": lambda rng: rng.random() < 0.2},
    "list": {"xs": random_list, "ys": random_list, "words": lambda rng: [random_text(rng) for _ in range(rng.randrange(5))],
             "nums": lambda rng: [rng.choice(INTS) for _ in range(rng.randrange(6))]},
    "dict": {"d": random_dict, "e": lambda rng: random_dict(rng, 2)},
    "users": {"users": random_users, "messages": random_messages},
    "tree": {"tree": random_tree},
    "any": {"any": random_value, "it": random_value, "nothing": lambda rng: None},
}


def random_context(rng):
    context = {name: make(rng) for group in VARIABLES.values() for name, make in group.items()}
    # Some contexts have a value of another kind, or lack one.
    while rng.random() < 0.25:
        name = rng.choice(list(context))
        if rng.random() < 0.3:
            del context[name]
        else:
            context[name] = random_value(rng)
        if not context:
            break
    return context


def conversation(rng):
    """A context for chat templates."""
    context = {"messages": random_messages(rng), "add_generation_prompt": rng.random() < 0.5, "bos_token": "<s>", "eos_token": "</s>"}
    if rng.random() < 0.4:
        context["tools"] = [{"type": "function", "function": {"name": "f", "description": random_text(rng), "parameters": {
            "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}}]
    if rng.random() < 0.2:
        context["enable_thinking"] = rng.random() < 0.5
    return context


def as_json(value):
    return json.dumps(value, ensure_ascii=False)
