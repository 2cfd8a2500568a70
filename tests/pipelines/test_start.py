"""What a command imports: who waits for a package that is not used, waits in vain."""

from __future__ import annotations

import subprocess
import sys

import pytest

import spanwise

WATCHED = (
    "torch", "transformers", "sentence_transformers", "faiss", "tokenizers", "numpy", "numba", "scipy",
    "sqlite_utils", "click", "rich", "jinja2", "pydantic", "lxml", "bs4", "docx", "markdown_it", "py3langid",
    "langchain_text_splitters", "spanwise.corpora.reading", "spanwise.pipelines.cli.evaluate",
)  # fmt: skip
PROGRAM = """
import sys
from spanwise.pipelines.cli import main
try:
    main(sys.argv[2:])
except SystemExit as stopped:
    assert not stopped.code, stopped.code
print("MODULES", *(name for name in sys.argv[1].split(",") if name in sys.modules), file=sys.stderr)
"""
PARSING = {
    "numpy",
    "pydantic",
    "sqlite_utils",
    "click",
}  # pydantic: recent versions of typer check arguments with it


def imported(*arguments: object) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, ",".join(WATCHED), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return set(done.stderr.splitlines()[-1].split()[1:])


@pytest.fixture
def index(folder):
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
    return folder


def test_the_version_needs_nothing():
    assert imported("--version") <= {"pydantic"}


@pytest.mark.parametrize("retriever", ["bm25", "tfidf"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_lexical_search_needs_numpy_alone(index, retriever, form):
    assert imported("search", "weir", "--index", index, "--retriever", retriever, *form) <= PARSING


def test_the_status_needs_no_parser_of_files(index):
    assert imported("status", "--index", index) <= {"numpy", "pydantic", "spanwise.corpora.reading"}


def test_verify_needs_numpy_alone(index):
    assert imported("verify", "--index", index) <= PARSING


def test_a_question_to_a_plain_bert_needs_no_transformers(folder, reader_folder):
    with spanwise.open(folder) as library:
        library.sync()
    question = ("ask", "Who built the mill?", "--index", folder, "--reader", reader_folder)
    needed = {*PARSING, "torch", "tokenizers", "faiss"}
    assert imported(*question) <= needed


def test_the_built_in_models_need_no_transformers():
    code = (
        "import sys\nfrom spanwise.models.encoder import load_encoder\n"
        "from spanwise.reader.load import load_reader\n"
        "load_encoder().encode_passages(['a mill'])\nload_reader()\n"
        "print(*({'transformers', 'sympy', 'torch._dynamo'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
