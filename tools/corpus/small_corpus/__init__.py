"""The small corpus: what a fresh clone tests with in place of the larger one, in the same files and folders.

Its templates and vocabularies come from the pinned packages (tools/corpus/fixtures.py) and its conversations, rows and invented
templates from tests/corpus; what has to be recorded is recorded here, by jinja2 and Hugging Face's `tokenizers`.
"""
