"""Writes src/rondo/unicode/tables.cpp.

  python3 -m tools.tables.make_unicode_tables --age DerivedAge.txt > src/rondo/unicode/tables.cpp

The truth is what the reference tokenizer library does, so it is asked for every code point: general categories through its
regular expressions (Unicode 16), normalisation through its normalisers (Unicode 9).  Needs the Python package
`tokenizers` (0.23), a Python whose unicodedata is of version 14 (3.11: the version PCRE2 10.42 classifies by), and
DerivedAge.txt of any newer Unicode version (Debian package unicode-data).
"""
import argparse
import sys
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

CATEGORIES = ["Cn", "Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No",
              "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"]
LAST = 0x110000
SURROGATES = range(0xD800, 0xE000)
HANGUL = range(0xAC00, 0xD7A4)
SCALARS = [cp for cp in range(LAST) if cp not in SURROGATES]


def members(pattern):
    """The code points that `pattern` matches, according to the reference."""
    text = "".join(map(chr, SCALARS))
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    return {ord(c) for piece, _ in split.pre_tokenize_str(text) for c in piece}


def categories():
    table = [CATEGORIES.index("Cn")] * LAST
    for number, name in enumerate(CATEGORIES):
        if name in ("Cn", "Cs"):
            continue
        for cp in members(r"\p{%s}" % name):
            table[cp] = number
    for cp in SURROGATES:
        table[cp] = CATEGORIES.index("Cs")
    return table


def utf8_size(cp):
    return len(chr(cp).encode())


def substitutions(table, han):
    """Ranges that Unicode 14 classifies otherwise, each with a representative of the same class and UTF-8 length."""
    def old(cp):
        return CATEGORIES.index(unicodedata.category(chr(cp)))

    def han14(cp):  # Han and assigned by version 14
        return cp in han and old(cp) != CATEGORIES.index("Cn")

    representatives = {}
    for cp in SCALARS:
        if cp >= 0x80 and old(cp) == table[cp] and han14(cp) == (cp in han) and cp != 0x180E:
            representatives.setdefault((table[cp], cp in han, utf8_size(cp)), cp)
    ranges = []
    for cp in SCALARS:
        if (old(cp) == table[cp] and cp != 0x180E) or cp < 0x80:
            continue
        if cp == 0x180E:  # a format character, but white space in Perl's sense
            target = 0x200B
        else:
            key = (table[cp], cp in han, utf8_size(cp))
            assert key in representatives, (hex(cp), CATEGORIES[key[0]], key)
            target = representatives[key]
        if ranges and ranges[-1][1] == cp - 1 and ranges[-1][2] == target:
            ranges[-1][1] = cp
        else:
            ranges.append([cp, cp, target])
    return ranges


def combining_classes(age_file):
    old = set()
    for line in open(age_file, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if not line:
            continue
        span, age = (part.strip() for part in line.split(";"))
        if tuple(map(int, age.split("."))) <= (9, 0):
            first, _, last = span.partition("..")
            old.update(range(int(first, 16), int(last or first, 16) + 1))
    return {cp: unicodedata.combining(chr(cp)) for cp in old if cp not in SURROGATES and unicodedata.combining(chr(cp))}


def sweep(normalizer):
    changed = {}
    for cp in SCALARS:
        if cp in HANGUL:
            continue
        out = normalizer.normalize_str(chr(cp))
        if out != chr(cp):
            changed[cp] = [ord(c) for c in out]
    return changed


def compositions(nfc_changed):
    """(first, second) -> composite, for every pair that the reference composes."""
    nfc = normalizers.NFC()
    pairs = {}
    for cp in SCALARS:
        if cp in nfc_changed or cp in HANGUL:
            continue
        raw = unicodedata.decomposition(chr(cp))
        if not raw or raw.startswith("<"):
            continue
        parts = [int(p, 16) for p in raw.split()]
        if len(parts) == 2 and nfc.normalize_str("".join(map(chr, parts))) == chr(cp):
            pairs[tuple(parts)] = cp
    return pairs


def two_stage(values, size=256):
    blocks, index = {}, []
    for start in range(0, LAST, size):
        index.append(blocks.setdefault(tuple(values[start:start + size]), len(blocks)))
    assert len(blocks) <= 0xFFFF
    return index, [v for block in blocks for v in block]


def array(ctype, name, values, fmt=str):
    print(f"const {ctype} {name}[{len(values)}] = {{")
    line = "   "
    for value in values:
        text = f" {fmt(value)},"
        if len(line) + len(text) > 118:
            print(line)
            line = "   "
        line += text
    print(line)
    print("};\n")


def pool_of(changed):
    pool, rows = [], []
    for cp in sorted(changed):
        rows.append((cp, len(pool), len(changed[cp])))
        pool += changed[cp]
    return pool, rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--age", required=True)
    options = parser.parse_args()
    assert unicodedata.unidata_version.startswith("14."), "PCRE2 10.42 classifies by Unicode 14"
    table = categories()
    han = members(r"\p{Han}")
    ranges = substitutions(table, han)
    differs = {cp for first, last, _ in ranges for cp in range(first, last + 1)}
    ccc = combining_classes(options.age)
    nfd, nfkd = sweep(normalizers.NFD()), sweep(normalizers.NFKD())
    nfc, nfkc = sweep(normalizers.NFC()), sweep(normalizers.NFKC())
    pairs = compositions(nfc)
    seconds = {second for _, second in pairs} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))

    properties = [0] * LAST
    for cp in SCALARS:
        value = ccc.get(cp, 0)
        value |= 0x100 if cp in nfd else 0
        value |= 0x200 if cp in nfkd else 0
        value |= 0x400 if cp in nfc or cp in seconds else 0
        value |= 0x800 if cp in nfkc or cp in seconds else 0
        properties[cp] = value

    print("// Generated by tools/tables/make_unicode_tables.py; do not edit.  Longer than other files because it is a table.")
    print('#include "unicode/tables.h"\n')
    print("namespace rondo::unicode::tables {\n")
    index, data = two_stage([c | (0x80 if cp in differs else 0) for cp, c in enumerate(table)])
    array("std::uint16_t", "kCategoryIndex", index)
    array("std::uint8_t", "kCategory", data)
    array("Substitution", "kSubstitutions", ranges, lambda r: "{0x%X, 0x%X, 0x%X}" % tuple(r))
    index, data = two_stage(properties)
    array("std::uint16_t", "kNormalIndex", index)
    array("std::uint16_t", "kNormal", data)
    for name, changed in (("Canonical", nfd), ("Compatible", nfkd)):
        pool, rows = pool_of(changed)
        assert len(pool) < 65536
        array("char32_t", f"k{name}Pool", pool, hex)
        array("Decomposition", f"k{name}", rows, lambda r: "{0x%X, %d, %d}" % r)
    array("Composition", "kCompositions", sorted(pairs.items()), lambda p: "{0x%X, 0x%X, 0x%X}" % (*p[0], p[1]))
    for name, rows in (("kSubstitutionCount", ranges), ("kCanonicalCount", nfd), ("kCompatibleCount", nfkd),
                       ("kCompositionCount", pairs)):
        print(f"const std::size_t {name} = {len(rows)};")
    print("\n}  // namespace rondo::unicode::tables")


if __name__ == "__main__":
    main()
