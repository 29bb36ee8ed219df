"""What is run beside the library, in a room for each purpose.  From the root of the repository: `python3 -m tools.ROOM.NAME`.

    dependencies/   what is fetched, pinned by hash, and kept in the cache: libllama, the cross compiler, Python packages
    corpus/         test data made from it: fixtures, the small corpus, the example model
    testing/        runs the tests, and says what they are worth: coverage, mutations
    lint/           what the sources and documents must hold, but for clang-tidy's and clang-format's own rules
    oracles/        rondo beside the programs that it must agree with: jinja2, `tokenizers`, the engines' grammars
    recorders/      writes what such a program says into the files of the tests
    tables/         writes the tables of src/rondo that are generated: Unicode, HTML's names of characters
    surveys/        what rondo says of many templates, as pages of docs/ and as figures in them
    packaging/      what users get: wheels, WebAssembly, the playground, the documentation site, man pages
"""
import pathlib

REPO = pathlib.Path(__file__).resolve().parent.parent
