"""The messages of a chat export in JSON, a line each: "[2024-03-18 09:12] Ada Rook: The tent is dry."."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

NAMES = ("real_name", "nickname", "name")
FILE_NAMES = ("name", "fileName", "uri")
MILLISECONDS = 1e11  # since 1970; fewer are seconds


@dataclass(frozen=True, slots=True)
class Form:
    """How a program names the parts of a message.

    mark: a key that other records hardly have.
    senders: the keys of a name, or of a person with a name; the first one there counts.
    text: the key of the words, which may be in parts or one level deeper.
    time: the key of an ISO date, or of seconds or milliseconds since 1970.
    files: the key of the name of a file, or of files with their names or paths.
    kind: what the key "type" says, where other records may have the mark.
    is_escaped: each byte of UTF-8 is written as a letter of its own.
    """

    mark: str
    senders: tuple[str, ...]
    text: str
    time: str
    files: str
    kind: str = ""
    is_escaped: bool = False


FORMS = (
    Form("ts", ("user_profile", "username", "user"), "text", "ts", "files", kind="message"),  # Slack
    Form("from_id", ("from",), "text", "date", "file_name"),  # Telegram
    Form("isPinned", ("author",), "content", "timestamp", "attachments"),  # DiscordChatExporter
    Form("origin_server_ts", ("sender",), "content", "origin_server_ts", "files"),  # Matrix
    Form("timestamp_ms", ("sender_name",), "content", "timestamp_ms", "files", is_escaped=True),  # Messenger
)


def message_line(value: Any) -> str:
    """The line of a message with the names of its files; "" for anything else, and without sender or time.

    >>> message_line({"from": "Ada", "from_id": "1", "date": "2024-03-18T09:12:40", "text": "It is dry."})
    '[2024-03-18 09:12] Ada: It is dry.'
    """
    if not isinstance(value, dict):
        return ""
    for form in FORMS:
        if form.mark in value and form.kind in ("", value.get("type")):
            sender = next((name for key in form.senders if (name := _name(value.get(key)))), "")
            files = [f"[{name}]" for name in _files(value.get(form.files))]
            words = " ".join(filter(None, (_words(value.get(form.text)), *files)))
            moment = _moment(value.get(form.time))
            line = f"[{moment}] {sender}: {words}" if sender and words and moment else ""
            return _unescaped(line) if form.is_escaped else line
    return ""


def _name(value: Any) -> str:
    if isinstance(value, Mapping):
        return next((name for key in NAMES if (name := _name(value.get(key)))), "")
    return " ".join(value.split()) if isinstance(value, str) else ""


def _words(value: Any) -> str:
    """The words of a text, of its parts, or of the text in a record."""
    if isinstance(value, Mapping):
        value = value.get("body")
    parts: Sequence[Any] = value if isinstance(value, list) else [value]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str)).strip()


def _files(value: Any) -> Iterator[str]:
    """The names of files, without their folders."""
    for file in value if isinstance(value, list) else [value]:
        if isinstance(file, Mapping):
            file = next((file[key] for key in FILE_NAMES if key in file), "")
        if isinstance(file, str) and file.strip():
            yield " ".join(file.rpartition("/")[2].split())


def _unescaped(text: str) -> str:
    """The text whose bytes are written as letters; another text as it is."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _moment(value: Any) -> str:
    """The date and the time to the minute, in UTC where it is counted since 1970; "" for no time."""
    try:
        seconds = float(value)
        moment = datetime.fromtimestamp(seconds / (1_000 if seconds > MILLISECONDS else 1), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            return ""
    return moment.strftime("%Y-%m-%d %H:%M")
