"""A tokenizer as a worker of tokenize_bench.py, one process each, on one processor.

Usage: tokenize_peer.py NAME [LIBRARY]

Reads lines of fields separated by tabs and answers each with one line, `ok ...` or `error ...`:

    open TOKENIZER VOCABULARY TEXT PIECE_BYTES
                         the tokenizer.json, the name of the vocabulary, the text; ok <bytes of text>
    cold                 a new tokenizer object, one pass over the text; ok <seconds>
    warm SECONDS         passes for about so long, at least one; ok <median seconds of one>
    pieces SECONDS       the text in pieces, a call each, warm; ok <median seconds of one round of at most 2000 pieces> <bytes>
    ids FILE             writes the ids of the text, four bytes each
    allocations          (rondo) how many blocks of memory a warm pass takes
    threads COUNT        (rondo) the text as documents of 64 KB on so many threads, on all processors; ok <seconds by the wall>

Times are processor time of the whole process, as others may be busy on the machine too, and a peer may have threads.
"""
import array
import base64
import ctypes
import json
import os
import pathlib
import statistics
import sys
import time


class Rondo:
    def __init__(self, path, _vocabulary):
        self.library = ctypes.PyDLL(sys.argv[2])
        self.library.rondo_bench_load.restype = ctypes.c_void_p
        self.library.rondo_bench_load.argtypes = [ctypes.c_char_p]
        self.library.rondo_bench_free.argtypes = [ctypes.c_void_p]
        self.library.rondo_bench_allocations.restype = ctypes.c_size_t
        self.library.rondo_bench_batch.restype = ctypes.c_size_t
        self.library.rondo_bench_batch.argtypes = [ctypes.c_void_p, ctypes.c_char_p, *[ctypes.c_size_t] * 2, ctypes.c_uint]
        self.handle = self.library.rondo_bench_load(str(path).encode())
        if not self.handle:
            raise RuntimeError("does not load it")
        self.encode = self._function("rondo_bench_encoder")

    def _function(self, name):
        make = getattr(self.library, name)
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p]
        return make(self.handle)

    def __del__(self):
        self.library.rondo_bench_free(self.handle)

    ids = staticmethod(lambda result: result)


class RondoOffsets(Rondo):
    def __init__(self, path, vocabulary):
        super().__init__(path, vocabulary)
        self.encode = self._function("rondo_bench_encoder_offsets")

    ids = staticmethod(lambda result: array.array("I", result)[::3].tobytes())


class Fastokens:
    def __init__(self, path, _vocabulary):
        import fastokens
        tokenizer = fastokens.Tokenizer.from_file(str(path))
        # Its fastest way to an array of ids.
        self.encode = lambda text: tokenizer.encode_batch_flat([text])

    ids = staticmethod(lambda result: result[0])


class FastokensEncode(Fastokens):
    def __init__(self, path, vocabulary):
        import fastokens
        super().__init__(path, vocabulary)
        self.encode = fastokens.Tokenizer.from_file(str(path)).encode

    ids = staticmethod(lambda result: array.array("I", result.ids).tobytes())


class Quicktok:
    ENCODINGS = {"qwen3": "qwen3", "llama3_1": "llama3", "gptoss": "o200k_base", "qwen": "qwen3"}

    def __init__(self, _path, vocabulary):
        import quicktok
        if vocabulary not in self.ENCODINGS:
            raise RuntimeError("has no such vocabulary")
        tokenizer = quicktok.Tokenizer(self.ENCODINGS[vocabulary], "")
        self.encode = lambda text: tokenizer.encode_batch([text], 1)

    ids = staticmethod(lambda result: result[0].tobytes())


class QuicktokEncode(Quicktok):
    def __init__(self, path, vocabulary):
        import quicktok
        super().__init__(path, vocabulary)
        self.encode = quicktok.Tokenizer(self.ENCODINGS[vocabulary], "").encode_ordinary

    ids = staticmethod(lambda result: array.array("I", result).tobytes())


class Kitoken:
    def __init__(self, path, _vocabulary):
        import kitoken
        tokenizer = kitoken.Kitoken.from_tokenizers_file(str(path))
        self.encode = lambda text: tokenizer.encode(text, True)

    ids = staticmethod(lambda result: array.array("I", result).tobytes())


class HuggingFace:
    def __init__(self, path, _vocabulary):
        import tokenizers
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
        # What computes no offsets.
        self.encode = lambda text: tokenizer.encode_batch_fast([text], add_special_tokens=False)

    ids = staticmethod(lambda result: array.array("I", result[0].ids).tobytes())


def _byte_of_character():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}


class Tiktoken:
    """From the tokenizer.json, whose ids are ranks in these vocabularies."""

    def __init__(self, path, _vocabulary):
        import tiktoken
        source = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        steps = source["pre_tokenizer"].get("pretokenizers", [source["pre_tokenizer"]])
        alphabet = _byte_of_character()
        ranks = {bytes(alphabet[character] for character in token): rank
                 for token, rank in source["model"]["vocab"].items() if all(c in alphabet for c in token)}
        tokenizer = tiktoken.Encoding("bench", pat_str=steps[0]["pattern"]["Regex"], mergeable_ranks=ranks,
                                      special_tokens={})
        self.encode = tokenizer.encode_ordinary

    ids = staticmethod(lambda result: array.array("I", result).tobytes())


KINDS = {"rondo": Rondo, "rondo offsets": RondoOffsets, "fastokens": Fastokens, "fastokens encode": FastokensEncode,
         "quicktok": Quicktok, "quicktok encode": QuicktokEncode, "kitoken": Kitoken, "HF tokenizers": HuggingFace,
         "tiktoken": Tiktoken}


class Worker:
    def __init__(self, kind):
        self.kind = kind

    def open(self, path, vocabulary, text, piece_bytes):
        self.path, self.vocabulary = path, vocabulary
        self.text = pathlib.Path(text).read_text(encoding="utf-8")
        self.tokenizer = self.kind(path, vocabulary)
        size, count = len(self.text.encode()), len(self.text)
        step = max(1, int(piece_bytes) * count // size)
        self.pieces = [self.text[at:at + step] for at in range(0, min(count, step * 2000), step)]
        self.tokenizer.encode("a")
        return [size]

    def cold(self):
        # Of the text's own encoding to UTF-8, which Python keeps, nothing is to be seen.
        self.tokenizer.encode(self.text[:1000] + self.text[-1000:])
        tokenizer = self.kind(self.path, self.vocabulary)
        start = time.process_time()
        result = tokenizer.encode(self.text)
        end = time.process_time()
        del result
        self.tokenizer = tokenizer
        return [end - start]

    def _repeat(self, seconds, work):
        times, end = [], time.process_time() + float(seconds)
        while not times or time.process_time() < end:
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        return statistics.median(times)

    def warm(self, seconds):
        return [self._repeat(seconds, lambda: self.tokenizer.encode(self.text))]

    def in_pieces(self, seconds):
        encode, pieces = self.tokenizer.encode, self.pieces

        def work():
            for piece in pieces:
                encode(piece)
        work()
        return [self._repeat(seconds, work), sum(len(piece.encode()) for piece in pieces)]

    def ids(self, file):
        pathlib.Path(file).write_bytes(self.tokenizer.ids(self.tokenizer.encode(self.text)))
        return []

    def allocations(self):
        self.tokenizer.encode(self.text)
        before = self.tokenizer.library.rondo_bench_allocations()
        self.tokenizer.encode(self.text)
        return [self.tokenizer.library.rondo_bench_allocations() - before]


    def threads(self, count):
        data = self.text.encode()
        own = os.sched_getaffinity(0)
        os.sched_setaffinity(0, ALL_PROCESSORS)
        times = []
        # Each thread has a cache of its own and is given other documents each time: after some passes both know the text.
        for _ in range(12):
            start = time.perf_counter()
            self.tokenizer.library.rondo_bench_batch(self.tokenizer.handle, data, len(data), 1 << 16, int(count))
            times.append(time.perf_counter() - start)
        os.sched_setaffinity(0, own)
        return [min(times)]


ALL_PROCESSORS = os.sched_getaffinity(0)


def main():
    os.environ["RAYON_NUM_THREADS"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    worker = Worker(KINDS[sys.argv[1]])
    commands = {"open": worker.open, "cold": worker.cold, "warm": worker.warm, "pieces": worker.in_pieces,
                "ids": worker.ids, "allocations": worker.allocations, "threads": worker.threads}
    for line in sys.stdin:
        name, *fields = line.rstrip("\n").split("\t")
        try:
            answer = ["ok", *commands[name](*fields)]
        except Exception as error:  # a peer may raise anything
            answer = ["error", str(error).replace("\n", " ")]
        print(*answer, sep="\t", flush=True)


if __name__ == "__main__":
    main()
