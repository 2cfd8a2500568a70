"""Text of documents for display: without markup, and without characters that move or hide text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from spanwise.types import (
    Answer,
    AnswerSpan,
    Computed,
    Overview,
    Passage,
    Span,
    Spelling,
    Summary,
    SummarySentence,
)

from ..corpora.front_matter import TEMPLATES, inner_suffix, without_tags
from ..corpora.readers.markup import read_markdown
from ..corpora.reading import BY_SUFFIX
from ..index.languages import is_english

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Cited = tuple[str, list[dict[str, Any]]]
"""A text, and its citations in OpenAI's form."""
MAX_CELLS = 20  # that are shown of a computed value
ENGLISH = "the built-in models read English; for another language see `spanwise index --model`"
EXAMPLE = "who built the weir bridge?"
BULLET = re.compile(r"\A[-*+•▪◦‣·●]\s+(?=\D)")
INLINE = re.compile(r"</?(?:a|b|code|em|i|kbd|mark|s|small|span|strong|su[bp]|u)\b", re.I)
MAX_LINE = 150  # characters of a line of an overview
MAX_STEPS = 15  # that are shown
PLACEHOLDER = re.compile(r"<(?!(?:[bipu]|br|code|div|em|hr|kbd|li|pre|strong|su[bp]|t[dhr])>)\w+>", re.I)
# Remains of a link, an emphasis or a table that a quote cuts.
HALF_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*\)?|\[[^\[\]]*\]?)|\]\([^()\s]*\)?|!?\[(?=[^\]]*\Z)")
HALF_MARK = re.compile(r"(?<!\S)(?:\*\*|__)(?=[^\W_])|(?<=[^\s*_])(?:\*\*|__)(?!\S)")
ROW_EDGE = re.compile(r"\A\s*\|(?=\s)|(?<=\s)\|\s*\Z|\|(?=\s+\|)|\|\s*:?-{3,}:?\s*(?=\|)")
HEADING_END = re.compile(r"(?<=[\w)])\0\s*(?=\S)")
NEXT_ITEM = re.compile(r"(?<=[\w)])\s*\x01\s*(?=\S)")


def visible(text: str) -> str:
    """The text with control and bidirectional characters made visible.

    >>> visible("a\\x1b[31mb"), visible("a\\u202eb")
    ('a␛[31mb', 'a<U+202E>b')
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(c: str) -> str:
    if c in "\n\t":
        return c
    if ord(c) < 32:
        return chr(0x2400 + ord(c))
    if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return f"<U+{ord(c):04X}>"
    return c


def asked(result: Answer | Summary | Spelling) -> str:
    """The question that is asked of the documents, with misspelled words as typed."""
    return result.understood or result.question


def written_text(answer: Answer) -> str:
    """The sentences of a model with their citations; its yes or no first, if no sentence begins with it."""
    text = " ".join(sentence.cited for sentence in answer.written)
    verdict = answer.verdict or ""
    return text if text.lower().startswith(verdict) else f"{verdict.capitalize()}: {text}"


def reading_note(answer: Answer) -> str:
    """What is known of the answer of a model: how its quotes are found, and what the built-in reader says."""
    model = answer.model
    if model is None:
        return ""
    notes = [model.use.name]
    if matches := dict.fromkeys(each.match or "" for each in answer.citations):
        notes.append(f"words found: {', '.join(matches)}")
    said = {True: "agrees", False: "quotes something else", None: "is not sure"}[model.agrees]
    notes.append(f"the built-in reader {said}")
    if model.status in ("partly", "conflict"):
        status = {"partly": "a part of the answer", "conflict": "documents contradict each other"}
        notes.append(status[model.status])
    if model.dropped:
        notes.append(f"sentences dropped: {len(model.dropped)}")
    return "; ".join(notes)


def refusal(answer: Answer | Summary) -> str:
    """The words that decline a question, with those of an English one that no document mentions."""
    if isinstance(answer, Answer) and answer.model:
        n_read = answer.model.passages
        return (
            f"the model found no answer in the {n_read:,} passage{'s' * (n_read != 1)} that it read "
            f"(of {answer.passages_searched:,})"
        )
    missing = answer.missing_terms if isinstance(answer, Answer) else ()
    if answer.is_unknown and not missing:
        return f"nothing in this question to look for: ask what the documents say, such as “{EXAMPLE}”"
    words = [f"“{visible(term.of(asked(answer)))}”" for term in missing]
    mentions = f": no document mentions {' or '.join(words)}" if words and is_english(answer.question) else ""
    return f"not in these documents{mentions}"


def computed_from(computed: Computed) -> str:
    """How a value is computed, with the words of the first cells, or with the first documents."""
    cells = [f"{each.document_id} ({each.count:,})" for each in computed.documents]
    cells = cells or [shown(cell) for cell in computed.cells]
    more = f", and {len(cells) - MAX_CELLS:,} more" if len(cells) > MAX_CELLS else ""
    of = f"with “{computed.words}”:" if computed.is_list else f"{computed.operation} of"
    return f"{of} {', '.join(cells[:MAX_CELLS])}{more}".rstrip(": ")


def unread_note(answer: Answer | Summary) -> str:
    """The number of documents that could not be read, in a sentence; "" for none."""
    n_files = answer.unread_files
    return f"{n_files:,} file{'s' * (n_files > 1)} could not be read" if n_files else ""


def language_hint(question: str) -> str:
    """What to do about a declined question in another language; "" for one in English."""
    return "" if is_english(question) else ENGLISH


def shown(quote: Span | Passage) -> str:
    """The words of a quote in one line."""
    return display(quote.readable, quote.document_id)


def shown_sentence(sentence: SummarySentence) -> str:
    """The words of a sentence in one line; a quote is shown without markup."""
    return shown(sentence.citations[0].span) if sentence.is_quote else " ".join(sentence.text.split())


def version(answer: AnswerSpan) -> str:
    """The document of a version of an answer, with its date if that is known."""
    return f"{answer.span.document_id}{f' ({answer.date})' * bool(answer.date)}"


def step_lines(steps: Sequence[Span]) -> list[str]:
    """The first items of a list in one line each, numbered, and how many more there are.

    >>> from spanwise.types import Span
    >>> step_lines([Span("a.txt", 3, 6, "mix"), Span("a.txt", 10, 14, "bake")])
    ['1. mix', '2. bake']
    """
    lines = [f"{number}. {shown(step)}" for number, step in enumerate(steps[:MAX_STEPS], start=1)]
    return [*lines, f"and {len(steps) - MAX_STEPS} more"] if len(steps) > MAX_STEPS else lines


def overview_lines(overview: Overview) -> list[str]:
    """The overview as it is printed, in at most 25 lines."""
    formats = ", ".join(f"{n} {name}" for name, n in overview.formats.items())
    lines = [f"documents: {overview.documents:,} ({formats}), passages: {overview.passages:,}"]
    if overview.dates:
        lines.append(f"dates: {' to '.join(overview.dates)}")
    for entry in overview.entries:
        n_documents = f"{entry.documents} documents" if entry.documents > 1 else ""
        n_passages = f"{entry.passages} passage{'s' * (entry.passages > 1)}"
        facts = ", ".join(filter(None, [entry.title, n_documents, n_passages, " to ".join(entry.dates)]))
        line = f"{entry.name or './'}  {facts}"
        if len(overview.entries) == 1:
            return [*lines, line, *(f"  {heading}" for heading in entry.headings)]
        line = ": ".join(filter(None, (line, "; ".join(entry.headings))))
        lines.append(line if len(line) <= MAX_LINE else line[:MAX_LINE].rpartition(" ")[0] + " …")
    n_unlisted = overview.documents - sum(entry.documents for entry in overview.entries)
    if n_unlisted:
        lines.append(f"documents not listed: {n_unlisted}")
    return lines


def chat_text(answer: Answer | Summary) -> Cited:
    """The sentences that answer, with citation marks, and the citations in OpenAI's form."""
    hint = language_hint(answer.question)
    if isinstance(answer, Summary):
        if answer.sentences:
            return _with_marks(answer.text, [citation.span for citation in answer.citations])
    elif answer.written:
        return _with_marks(written_text(answer), [citation.span for citation in answer.citations])
    elif answer.best:
        text, marks = _with_marks(f"{' '.join(answer.best.context.text.split())} [1]", [answer.best.span])
        otherwise = [
            f"Otherwise in {one_line(version(each))}: {shown(each.span)}" for each in answer.otherwise
        ]
        lines = [text, *step_lines(answer.steps), *otherwise, answer.note[:1].upper() + answer.note[1:]]
        return "\n".join(filter(None, lines)), marks
    elif answer.computed:
        first = answer.computed.first
        text = f"{answer.computed.value} ({computed_from(answer.computed)})"
        return _with_marks(f"{text} [1]", [first.span]) if first else (text, [])
    elif answer.candidates:
        contexts = [candidate.context for candidate in answer.candidates]
        candidates = "; ".join(f"“{shown(context)}” ({context.document_id})" for context in contexts)
        return ". ".join(filter(None, (f"Not sure; the nearest: {one_line(candidates)}", hint))), []
    nearest = one_line(", ".join(dict.fromkeys(hit.passage.document_id for hit in answer.nearest)))
    notes = (nearest and f"Nearest: {nearest}", unread_note(answer), hint)
    declined = refusal(answer)
    return ". ".join([declined[:1].upper() + declined[1:], *filter(None, notes)]), []


def _with_marks(text: str, cited: Sequence[Span]) -> Cited:
    marks = []
    for number, span in enumerate(cited, start=1):
        mark = f"[{number}]"
        start = text.rindex(mark)
        url = f"{quote(span.document_id)}#char={span.start},{span.end}"  # RFC 5147
        place = {"start_index": start, "end_index": start + len(mark), "title": span.document_id, "url": url}
        marks.append({"type": "url_citation", "url_citation": place})
    return text, marks


def one_line(text: str) -> str:
    """The text with one space for all white space, such as a line end in the name of a file."""
    return " ".join(text.split())


def display(text: str, name: str) -> str:
    """The words of a quote from the file of this name in one line; the text itself where that leaves nothing.

    >>> display("* **Up to** [11 days](https://a.b/c) of `x*y`", "handbook.md")
    'Up to 11 days of x*y'
    """
    is_markdown = BY_SUFFIX.get(inner_suffix(name)) is read_markdown
    plain = without_tags(text) if is_markdown or name.lower().endswith(TEMPLATES) else text
    if is_markdown:
        plain = NEXT_ITEM.sub("; ", HEADING_END.sub(": ", "".join(_blocks(_parser().parse(plain)))))
        plain = plain.replace("\0", " ").replace("\x01", " ")
        plain = plain.rstrip().removesuffix(" |")
    return " ".join(BULLET.sub("", plain).split()) or " ".join(text.split())


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # A quote may begin inside a list, so an indent is not code. HTML blocks mostly hold Markdown.
    return MarkdownIt("commonmark").enable("table").disable(["code", "html_block", "reference"])


def _blocks(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.type == "inline":
            yield ROW_EDGE.sub("", "".join(map(_words, token.children or ())))
        elif token.type in ("td_close", "th_close"):
            yield " | "
        elif token.type == "list_item_open":
            yield f"{token.info}{token.markup} " if token.info else "\x01"
        else:
            yield token.content or ("\0" if token.type == "heading_close" else " " * token.block)


def _words(token: Token) -> str:
    """The words of a token of a line."""
    if token.type == "text":
        return HALF_MARK.sub("", HALF_LINK.sub(r"\1", token.content))
    if token.type == "html_inline" and not PLACEHOLDER.match(token.content):
        return "" if INLINE.match(token.content) else " "
    return " " if token.type in ("softbreak", "hardbreak") else token.content
