"""`spanwise search`, `ask` and `summarize`: passages, an exact quote, or cited sentences for a question.

`ask` without a question shows a prompt, or reads one question per line from stdin; the library stays open.
Between two questions no commit is held, so a writer can continue, and the next answer is from its commit.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Exit, Option

from spanwise.errors import SpanwiseError
from spanwise.types import (
    QUOTE,
    Answer,
    AnswerSpan,
    AskOptions,
    Citation,
    SearchOptions,
    SummaryOptions,
)

from ..folders import user_cache
from ..json_records import answer_record, explanation_record, quote_record, search_record, summary_record
from ..library.library import Library
from ..library.loaded_models import command
from ..plain_text import chat_text, one_line, visible
from . import options as opt
from .index import encode_in_background, synced
from .show import (
    empty_filter,
    place,
    print_json,
    progress,
    say,
    say_partial,
    say_spelling,
    show,
    show_answer,
    show_explanation,
    show_hits,
    show_summary,
)

if TYPE_CHECKING:
    from ..answering.conversation import Conversation

PROMPT = "? "
NEW = "/new"
AS_TYPED = "/as-typed"
HINT = (
    "Type a question. exit, quit, an empty line or Ctrl-D ends, Ctrl-C drops the question, help says this. "
    f"A question may depend on earlier ones: {NEW} forgets them, {AS_TYPED} asks the last question alone."
)
MAX_HISTORY = 1000


@opt.grouped
def search(
    question: Annotated[str, Argument(help="The question, or words.")],
    folder: opt.SyncedFolder = None,
    index: opt.Index = None,
    *,
    ranking: opt.RankingGroup,
    k: Annotated[int, Option("-k", min=1, help="Number of passages.")] = 10,
    results: opt.ResultGroup,
    cluster: opt.ClusterGroup,
    every: Annotated[bool, Option("--all", help="List all documents that mention the words.")] = False,
    no_wait: opt.NoWait = False,
    json: opt.Json = False,
) -> None:
    """Print the best passages for a question, or all documents that mention words."""
    if opt.question_and_folder(question, folder, index)[0] is None:
        raise BadParameter(f"{question} is a folder: name the words before it", param_hint="QUESTION")
    folder, index, results = opt.in_index_above(folder, index, results)
    options = opt.options_of(SearchOptions, ranking, results, k=k)
    with synced(folder, index, cluster=cluster.options(), wait=not no_wait) as library:
        if every:
            answer = library.mentions(question, options.where)
            return print_json(answer_record(answer)) if json else show_answer(answer)
        with progress(after_s=1) as report:
            report("models", 0, 0)
            result = library.search(question, options, on_progress=report)
        say_spelling(result.spelling)
        say_partial(result.left_out)
        if nothing := empty_filter(result.scope):
            say(nothing)
        if json:
            print_json(search_record(result))
        else:
            show_hits(result)


@opt.grouped
def ask(
    question: Annotated[
        str | None, Argument(help="The question. Default: a prompt, or one per line on stdin.")
    ] = None,
    folder: opt.SyncedFolder = None,
    index: opt.Index = None,
    *,
    ranking: opt.RankingGroup,
    reader: opt.Reader = "builtin",
    k: Annotated[int, Option("-k", min=1, help="Number of passages to read.")] = 20,
    threshold: Annotated[
        float | None,
        Option(
            min=0.0,
            max=1.0,
            help="Minimum confidence for an answer (0 = always answer). Default: the fitted one.",
        ),
    ] = None,
    results: opt.ResultGroup,
    explain: Annotated[bool, Option("--explain", help="Show evidence and ranks by stage.")] = False,
    document: Annotated[
        str | None,
        Option(help="With --explain: the stage at which this document was lost. An id, a path, or its end."),
    ] = None,
    base_url: opt.BaseUrl = "",
    model: opt.ModelGroup,
    save: Annotated[
        Path | None, Option(metavar="FILE.md", help="Append answers and their citations, as Markdown.")
    ] = None,
    conversation: Annotated[
        bool, Option("--conversation", help="A question on stdin may depend on those before it.")
    ] = False,
    verbose: opt.Verbose = False,
    cluster: opt.ClusterGroup,
    no_wait: opt.NoWait = False,
    json: opt.Json = False,
) -> None:
    """Answer a question with an exact quote and its location, or say that the documents do not answer it."""
    if document is not None and not explain:
        raise BadParameter("add --explain", param_hint="--document")
    question, folder = opt.question_and_folder(question, folder, index)
    folder, index, results = opt.in_index_above(folder, index, results)
    options = opt.options_of(
        AskOptions,
        ranking,
        results,
        k=k,
        reader=reader,
        threshold=threshold,
        base_url=base_url,
        model=model.options(),
    )
    if not explain and not model.replay:
        opt.say_what_is_sent([reader], base_url)
    is_prompt = question is None and sys.stdin.isatty() and sys.stdout.isatty()
    with synced(folder, index, verbose, cluster.options(), not (no_wait or is_prompt)) as library:
        talk = library.conversation() if conversation or is_prompt else None

        def answer(question: str) -> None:
            asked = replace(options, history=talk.history if talk else ())
            if explain:
                result = _explain(library, question, asked, document, json, verbose)
            else:
                result = _answer(library, question, asked, json, verbose)
            sys.stdout.flush()
            if talk:
                talk.add(question, result)
            if save:
                _save(save, question, result)

        if question is not None:
            answer(question)
        elif is_prompt and talk:
            if folder is not None and library.missing_vectors():
                encode_in_background(library)
            _talk(library, answer, talk)
        else:
            _answer_lines(answer, json)


def check(
    answer: Annotated[Path, Argument(help="A text with quotes, such as an answer in Markdown; - for stdin.")],
    folder: opt.SyncedFolder = None,
    index: opt.Index = None,
    json: opt.Json = False,
) -> None:
    """Look up each quote of a text, and exit with 1 if one is nowhere in the documents."""
    text = sys.stdin.read() if str(answer) == "-" else answer.read_text(encoding="utf-8")
    with synced(folder, index, wait=False) as library:
        quotes = library.check(text)
    lost = sum(quote.match is None for quote in quotes)
    if json:
        print_json({"quotes": [quote_record(quote) for quote in quotes]})
    for quote in () if json else quotes:
        show(
            (f"{quote.match or 'nowhere':8}", "bold green" if quote.match else "bold red"),
            f" “{one_line(quote.text)}”",
        )
        if quote.place:
            show("         ", (place(quote.place), "dim"))
    say(f"{len(quotes)} quotes, {lost} of them nowhere in these documents")
    if lost:
        raise Exit(1)


@opt.grouped
def summarize(
    question: Annotated[str | None, Argument(help="The question. Default: an overview of documents.")] = None,
    folder: opt.SyncedFolder = None,
    index: opt.Index = None,
    document: Annotated[
        str | None, Option(help="One document: its id, a path, or the end of its id.")
    ] = None,
    max_sentences: Annotated[int, Option(min=1, help="Maximum number of sentences.")] = 5,
    *,
    generator: opt.Generator = QUOTE,
    base_url: opt.BaseUrl = "",
    model: opt.ModelGroup,
    ranking: opt.RankingGroup,
    k: Annotated[int, Option("-k", min=1, help="Number of passages for a question.")] = 20,
    results: opt.ResultGroup,
    no_wait: opt.NoWait = False,
    json: opt.Json = False,
) -> None:
    """Summarize what documents say about a question, or list what they are about."""
    question, folder = opt.question_and_folder(question, folder, index)
    if question is not None and document is not None:
        raise BadParameter("a question uses all documents: pass a question or --document")
    folder, index, results = opt.in_index_above(folder, index, results)
    options = opt.options_of(
        SummaryOptions,
        ranking,
        results,
        k=k,
        document=document,
        max_sentences=max_sentences,
        generator=generator,
        base_url=base_url,
        model=model.options(),
    )
    if not model.replay:
        opt.say_what_is_sent([generator], base_url)
    with synced(folder, index, wait=not no_wait) as library:
        with progress(after_s=1) as report:
            report("write", 0, 0)
            summary = library.summarize(question, options)
        if json:
            print_json(summary_record(summary))
        elif question is not None and summary.is_refusal and generator == QUOTE:
            _answer(library, question, options, json=False, verbose=False)  # what is near it
        else:
            say_partial(library.left_out(options))
            show_summary(summary)


def _answer(library: Library, question: str, options: AskOptions, json: bool, verbose: bool) -> Answer:
    """Answer a question; the built-in answer is shown on a terminal until a model answers."""
    listing = command("status", library.store.path)
    with progress(after_s=1) as report:

        def on_answer(built_in: Answer) -> None:
            report("", 0, 0)
            if not json and sys.stdout.isatty():
                show(("the built-in reader, until the model answers:", "dim"))
                show_answer(built_in, hint="", listing=listing)
                show("")

        answer = library.ask(question, options, on_progress=report, on_answer=on_answer)
    if json:
        print_json(answer_record(answer))
    else:
        show_answer(answer, verbose, listing=listing)
    return answer


def _save(path: Path, question: str, answer: Answer) -> None:
    """Append a question, its answer and the citations to a Markdown file."""
    cited: Sequence[Citation | AnswerSpan] = answer.citations
    if not cited and (best := answer.best or (answer.computed and answer.computed.first)):
        cited = [best]
    places = [f"[{number}] {place(each)}" for number, each in enumerate(cited, start=1)]
    parts = [f"## {one_line(question)}", chat_text(answer)[0], *places]
    with path.open("a", encoding="utf-8") as file:
        file.write(visible("\n\n".join(parts)) + "\n\n")


def _explain(
    library: Library, question: str, options: AskOptions, document: str | None, json: bool, verbose: bool
) -> Answer:
    with progress(after_s=1) as report:
        report("passages", 0, 0)
        explanation = library.explain(question, options, document)
    if json:
        print_json(explanation_record(explanation))
    else:
        show_explanation(explanation, verbose, command("status", library.store.path))
    return explanation.answer


def _answer_lines(answer: Callable[[str], None], json: bool) -> None:
    """Answer each line of stdin, up to the first error."""
    n_questions = 0
    for line in filter(None, map(str.strip, sys.stdin)):
        if not json:
            show(("\n" * bool(n_questions) + line, "bold"))
        answer(line)
        n_questions += 1
    if not n_questions:
        raise ValueError("no question: stdin was empty. Pass a question, or one per line on stdin.")


def _talk(library: Library, answer: Callable[[str], None], talk: "Conversation") -> None:
    """Answer typed questions; an error ends its question only."""
    last_generation: int | None = None
    last = ""
    for typed in _typed():
        if typed in (NEW, AS_TYPED):
            talk.reset()
        if typed == NEW:
            say("a new conversation: earlier questions are forgotten")
        question = last if typed == AS_TYPED else typed
        if question in ("", NEW):
            continue
        last = question
        try:
            with library.reading() as snapshot:
                generation = snapshot.generation
                n_documents = snapshot.n_documents
            if last_generation not in (None, generation):
                say(f"the index was updated: {n_documents} documents")
            last_generation = generation
            answer(question)
        except KeyboardInterrupt:
            say("\ndropped")
        except (SpanwiseError, ValueError) as error:
            say(f"spanwise: {' '.join(str(error).split())}")


def _typed() -> Iterator[str]:
    """The typed questions, up to an empty line, `exit`, `quit` or Ctrl-D."""
    with suppress(ImportError):
        _keep_history()
    say(HINT)
    while True:
        is_ahead = _is_line_waiting()
        try:
            question = input(PROMPT).strip()
        except EOFError:
            say("")
            return
        except KeyboardInterrupt:
            say("")
            continue
        if is_ahead and not question:
            continue
        if question.lower() in ("", "exit", "quit"):
            return
        if question.lower().lstrip("/") in ("help", "?"):
            say(HINT)
        else:
            with _without_echo():
                yield question


def _is_line_waiting() -> bool:
    """True when a line was typed while the last question was answered."""
    with suppress(OSError, ValueError):  # Windows waits for sockets only
        return bool(select([sys.stdin], [], [], 0)[0])
    return False


@contextmanager
def _without_echo() -> Iterator[None]:
    """Show what is typed meanwhile at the next prompt only, where the terminal can."""
    try:
        import termios
    except ImportError:
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


def _keep_history() -> None:
    """Give `input` line editing, and the questions of earlier prompts; ImportError without readline."""
    import atexit
    import readline

    path = user_cache() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        readline.read_history_file(path)
    except OSError as error:
        say(f"no history of questions: {error}")
        return
    readline.set_history_length(MAX_HISTORY)
    atexit.register(readline.write_history_file, path)
