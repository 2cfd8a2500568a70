"""Damaged SQuAD data, predictions and no-answer probabilities, each with what must come of scoring them.

A corruption knows what it did: either the files must be refused with certain words, or they must be scored
with certain counts on stderr. Those that change JSON values change them in the case, so that the right score
is that of what the case then holds; those that change bytes never change what the bytes still say.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

DATA, PREDICTIONS, NA = "data", "predictions", "na_probs"


@dataclass(frozen=True)
class Refused:
    """One line on stderr with these words and the name of the file, nothing on stdout, exit 1."""

    words: str
    file: str


@dataclass(frozen=True)
class Scored:
    """The score of what the case holds, and these counts on stderr; 0 is not said."""

    unanswered: int = 0
    unknown_predictions: int = 0
    unknown_probabilities: int = 0
    relocated: int = 0


@dataclass
class Case:
    """What three files say; `raw` holds the bytes of those that do not simply say it."""

    data: Any
    predictions: Any
    na_probs: Any
    raw: dict[str, bytes] = field(default_factory=dict)

    @property
    def version(self) -> str:
        return "1.1" if self.na_probs is None else "2.0"

    def bytes_of(self, name: str) -> bytes:
        if name in self.raw:
            return self.raw[name]
        return json.dumps(getattr(self, name), ensure_ascii=False).encode()

    def paragraphs(self) -> list[dict[str, Any]]:
        return [paragraph for article in self.data["data"] for paragraph in article["paragraphs"]]

    def questions(self) -> list[dict[str, Any]]:
        return [question for paragraph in self.paragraphs() for question in paragraph["qas"]]

    def golds(self) -> dict[str, list[str]]:
        return {q["id"]: [answer["text"] for answer in q["answers"]] for q in self.questions()}


Corruption = Callable[[Case, random.Random], Refused | Scored]
WHOLE_FILE: list[Callable[[Case, random.Random, str], Refused | Scored]] = []
ONE_FILE: list[Corruption] = []
NOT_JSON = {DATA: "not JSON", PREDICTIONS: "not a JSON object", NA: "not a JSON object"}
WRONG_TYPES: dict[type, tuple[Any, ...]] = {
    str: (None, 7, 0.5, ["x"], {"text": "x"}, True, float("nan"), float("inf"), []),
    list: (None, 7, "x", {"0": []}, False, float("nan")),
    dict: (None, 7, "x", [], [[]], True),
    int: (None, "3", 3.5, [3], {}, True, float("nan"), float("-inf")),
    bool: (None, 0, "false", [], {}),
    float: (None, "0.5", [0.5], {}, True, float("nan"), float("inf"), float("-inf")),
}


def corruptions(case: Case) -> Iterator[tuple[str, Corruption]]:
    """All kinds that a case can have, by name."""
    names = [DATA, PREDICTIONS] + [NA] * (case.na_probs is not None)
    for whole in WHOLE_FILE:
        for name in names:
            yield f"{name}-{whole.__name__}", _bound(whole, name)
    for one in ONE_FILE:
        if one.__name__.startswith("na_") <= (case.na_probs is not None):
            yield one.__name__, one


def _bound(whole: Callable[[Case, random.Random, str], Refused | Scored], name: str) -> Corruption:
    return lambda case, chance: whole(case, chance, name)


def whole_file(
    function: Callable[[Case, random.Random, str], Refused | Scored],
) -> Callable[[Case, random.Random, str], Refused | Scored]:
    WHOLE_FILE.append(function)
    return function


def one_file(function: Corruption) -> Corruption:
    ONE_FILE.append(function)
    return function


# Bytes of any of the files


@whole_file
def cut_off(case: Case, chance: random.Random, name: str) -> Refused:
    content = case.bytes_of(name)
    case.raw[name] = content[: chance.randrange(len(content))]
    return Refused(NOT_JSON[name], name)


@whole_file
def emptied(case: Case, chance: random.Random, name: str) -> Refused:
    case.raw[name] = chance.choice([b"", b" ", b"\n", b"\x00", b"\xef\xbb\xbf"])
    return Refused(NOT_JSON[name], name)


@whole_file
def not_utf8(case: Case, chance: random.Random, name: str) -> Refused:
    """The high bit of an ASCII letter is flipped, or a byte becomes one that UTF-8 does not have."""
    content = bytearray(case.bytes_of(name))
    if chance.random() < 0.5:
        content[chance.choice([at for at, byte in enumerate(content) if byte < 0x80])] ^= 0x80
    else:
        content[chance.randrange(len(content))] = chance.choice([0xFF, 0xC0, 0xF8])
    case.raw[name] = bytes(content)
    return Refused(NOT_JSON[name], name)


@whole_file
def sign_lost(case: Case, chance: random.Random, name: str) -> Refused:
    """A sign that holds JSON together goes, or has a bit flipped; no text of the small files has one."""
    content = case.bytes_of(name)
    at = chance.choice([at for at, byte in enumerate(content) if byte in b'{}[]:"'])
    instead = chance.choice([b"", bytes([content[at] ^ (1 << chance.randrange(7))])])
    case.raw[name] = content[:at] + instead + content[at + 1 :]
    return Refused(NOT_JSON[name], name)


@whole_file
def line_break_in_a_text(case: Case, chance: random.Random, name: str) -> Refused:
    content = case.bytes_of(name)
    at = chance.choice([at for at in range(1, len(content)) if content[at - 1 : at + 1].isalnum()])
    case.raw[name] = content[:at] + b"\n" + content[at:]
    return Refused(NOT_JSON[name], name)


@whole_file
def in_another_encoding(case: Case, chance: random.Random, name: str) -> Scored:
    encoding = chance.choice(["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
    case.raw[name] = case.bytes_of(name).decode().encode(encoding)
    return Scored()


@whole_file
def half_a_utf16_unit(case: Case, chance: random.Random, name: str) -> Refused:
    case.raw[name] = case.bytes_of(name).decode().encode("utf-16")[:-1]
    return Refused(NOT_JSON[name], name)


@whole_file
def gzipped(case: Case, chance: random.Random, name: str) -> Scored:
    case.raw[name] = gzip.compress(case.bytes_of(name), chance.randrange(1, 10))
    return Scored()


@whole_file
def damaged_gzip(case: Case, chance: random.Random, name: str) -> Refused:
    packed = gzip.compress(case.bytes_of(name), mtime=0)
    at = chance.randrange(10, len(packed) - 30)
    hole = bytes(byte ^ 0xFF for byte in packed[at : at + 20])
    sums = bytearray(packed)
    sums[-chance.randrange(1, 9)] ^= 1 << chance.randrange(8)
    damaged = [packed[:at], packed[:at] + hole + packed[at + 20 :], bytes(sums), packed + b"{}", packed[:2]]
    case.raw[name] = chance.choice(damaged)
    return Refused("cannot be read", name)


@whole_file
def endless_depth(case: Case, chance: random.Random, name: str) -> Refused:
    opened = chance.choice([b"[", b'{"a":'])
    case.raw[name] = opened * 100_000
    return Refused("nested too deeply" if name == DATA else NOT_JSON[name], name)


@whole_file
def other_json(case: Case, chance: random.Random, name: str) -> Refused:
    case.raw[name] = chance.choice([b"[]", b"null", b"3", b'"data"', b"true", b"NaN", b"[{}]"])
    return Refused("expected an object", name)


@whole_file
def wrapped(case: Case, chance: random.Random, name: str) -> Refused:
    setattr(case, name, chance.choice([{"file": getattr(case, name)}, [getattr(case, name)]]))
    return Refused("expected", name)


@whole_file
def half_a_character(case: Case, chance: random.Random, name: str) -> Refused:
    """Half of a surrogate pair in an id, by its escape, which is JSON."""
    known = chance.choice([question["id"] for question in case.questions()])
    half = chance.choice(["\\ud800", "\\udfff"])
    case.raw[name] = case.bytes_of(name).replace(f'"{known}"'.encode(), f'"{known}{half}"'.encode())
    return Refused("surrogate", name)


# The data


@one_file
def data_a_letter_of_a_question(case: Case, chance: random.Random) -> Scored:
    question = chance.choice(case.questions())
    at = chance.randrange(len(question["question"]))
    question["question"] = question["question"][:at] + "x" + question["question"][at + 1 :]
    return Scored()


@one_file
def data_start_moved(case: Case, chance: random.Random) -> Scored:
    """Before the text (an offset of 0 is none of its places), behind it, or far away."""
    answer = chance.choice([answer for q in case.questions() for answer in q["answers"]])
    answer["answer_start"] = chance.choice([0, answer["answer_start"] + 1, -5, 10**6, 10**30])
    return Scored(relocated=1)


@one_file
def data_answer_not_in_its_text(case: Case, chance: random.Random) -> Refused:
    answer = chance.choice([answer for q in case.questions() for answer in q["answers"]])
    answer["text"] = answer["text"][:-1] + "§"
    return Refused("expected the context to hold the answer", DATA)


@one_file
def data_other_answer(case: Case, chance: random.Random) -> Scored:
    paragraph = chance.choice([p for p in case.paragraphs() if any(q["answers"] for q in p["qas"])])
    answer = chance.choice([answer for q in paragraph["qas"] for answer in q["answers"]])
    answer["text"] = paragraph["context"].split(maxsplit=1)[0]
    return Scored(relocated=1)


@one_file
def data_key_lost(case: Case, chance: random.Random) -> Refused:
    owner, key = chance.choice([place for place in _places(case) if place[1] != "is_impossible"])
    if chance.random() < 0.5:
        owner[key + "s"] = owner[key]
    del owner[key]
    return Refused(f"expected the key {key!r}", DATA)


@one_file
def data_wrong_type(case: Case, chance: random.Random) -> Refused:
    owner, key = chance.choice(_places(case))
    owner[key] = chance.choice(WRONG_TYPES[type(owner[key])])
    return Refused(f"expected {key!r} to be", DATA)


@one_file
def data_item_of_wrong_type(case: Case, chance: random.Random) -> Refused:
    owner, key = chance.choice([(o, k) for o, k in _places(case) if isinstance(o[k], list) and o[k]])
    owner[key][chance.randrange(len(owner[key]))] = chance.choice(WRONG_TYPES[dict])
    return Refused("expected an object", DATA)


@one_file
def data_id_twice(case: Case, chance: random.Random) -> Refused:
    one, other = chance.sample(case.questions(), 2)
    one["id"] = other["id"]
    return Refused("expected every id once", DATA)


@one_file
def data_id_renamed(case: Case, chance: random.Random) -> Scored:
    chance.choice(case.questions())["id"] = "renamed"
    return Scored(unanswered=1, unknown_predictions=1, unknown_probabilities=_one_with_na(case))


@one_file
def data_question_lost(case: Case, chance: random.Random) -> Scored:
    questions = chance.choice([p["qas"] for p in case.paragraphs() if p["qas"]])
    questions.pop(chance.randrange(len(questions)))
    return Scored(unknown_predictions=1, unknown_probabilities=_one_with_na(case))


@one_file
def data_no_question_left(case: Case, chance: random.Random) -> Refused:
    if chance.random() < 0.5:
        case.data["data"] = []
    else:
        for paragraph in case.paragraphs():
            paragraph["qas"] = []
    return Refused("holds no questions", DATA)


@one_file
def data_key_twice(case: Case, chance: random.Random) -> Refused:
    key = chance.choice([b"answers", b"id", b"context", b"text", b"qas", b"data"])
    content, place = case.bytes_of(DATA), b'"%s": ' % key
    case.raw[DATA] = content.replace(place, place + b"[], " + place, 1)
    return Refused("twice", DATA)


@one_file
def data_answers_against_is_impossible(case: Case, chance: random.Random) -> Refused:
    question = chance.choice(case.questions())
    question["is_impossible"] = bool(question["answers"])
    return Refused("expected no answers" if question["answers"] else "expected at least one answer", DATA)


@one_file
def data_endless_number(case: Case, chance: random.Random) -> Refused:
    start = b'"answer_start": '
    case.raw[DATA] = case.bytes_of(DATA).replace(start, start + b"9" * 10_000, 1)
    return Refused("not JSON", DATA)


@one_file
def data_are_the_predictions(case: Case, chance: random.Random) -> Refused:
    case.raw[DATA] = case.bytes_of(PREDICTIONS)
    return Refused("expected the key 'data'", DATA)


# The predictions


@one_file
def predictions_other_text(case: Case, chance: random.Random) -> Scored:
    for qid in chance.sample(sorted(case.predictions), 3):
        case.predictions[qid] = chance.choice(["", "the", "1811", "x" * 100_000, "a\x00b", "Ada, Rook!"])
    return Scored()


@one_file
def predictions_lost(case: Case, chance: random.Random) -> Scored:
    lost = chance.sample(sorted(case.predictions), chance.randrange(1, len(case.predictions)))
    for qid in lost:
        del case.predictions[qid]
    return Scored(unanswered=len(lost))


@one_file
def predictions_renamed(case: Case, chance: random.Random) -> Scored:
    renamed = chance.sample(sorted(case.predictions), 2)
    for number, qid in enumerate(renamed):
        case.predictions[f"{qid}-{number}"] = case.predictions.pop(qid)
    return Scored(unanswered=2, unknown_predictions=2)


@one_file
def predictions_added(case: Case, chance: random.Random) -> Scored:
    added = {f"added {i}": "Ada Rook" for i in range(chance.randrange(1, 20))}
    case.predictions.update(added)
    return Scored(unknown_predictions=len(added))


@one_file
def predictions_of_other_data(case: Case, chance: random.Random) -> Refused | Scored:
    count = len(case.predictions)
    case.predictions = {f"other {qid}": text for qid, text in case.predictions.items()}
    if case.version == "2.0":
        return Refused("no prediction for any", PREDICTIONS)
    return Scored(unanswered=count, unknown_predictions=count)


@one_file
def predictions_none(case: Case, chance: random.Random) -> Refused | Scored:
    count, case.predictions = len(case.predictions), {}
    return (
        Refused("no prediction for any", PREDICTIONS) if case.version == "2.0" else Scored(unanswered=count)
    )


@one_file
def predictions_wrong_type(case: Case, chance: random.Random) -> Refused:
    case.predictions[chance.choice(sorted(case.predictions))] = chance.choice(WRONG_TYPES[str])
    return Refused("expected a string", PREDICTIONS)


@one_file
def predictions_as_lists(case: Case, chance: random.Random) -> Refused:
    case.predictions = {qid: [{"text": text, "probability": 1}] for qid, text in case.predictions.items()}
    return Refused("expected a string", PREDICTIONS)


@one_file
def predictions_twice(case: Case, chance: random.Random) -> Refused:
    again = f'"{chance.choice(sorted(case.predictions))}": "Ada Rook", '.encode()
    case.raw[PREDICTIONS] = b"{" + again + case.bytes_of(PREDICTIONS)[1:]
    return Refused("is given twice", PREDICTIONS)


@one_file
def predictions_half_a_character(case: Case, chance: random.Random) -> Refused:
    case.predictions[chance.choice(sorted(case.predictions))] = "Ada \ud83d"
    case.raw[PREDICTIONS] = json.dumps(case.predictions).encode()
    return Refused("half of a surrogate pair in the answer", PREDICTIONS)


@one_file
def predictions_are_the_data(case: Case, chance: random.Random) -> Refused:
    case.raw[PREDICTIONS] = case.bytes_of(DATA)
    return Refused("expected a string", PREDICTIONS)


# The no-answer probabilities


@one_file
def na_other_value(case: Case, chance: random.Random) -> Scored:
    for qid in chance.sample(sorted(case.na_probs), 3):
        case.na_probs[qid] = chance.choice([0, 1, 0.5, -3.5, 12, 1e-300, 1e300])
    return Scored()


@one_file
def na_lost(case: Case, chance: random.Random) -> Refused:
    lost = chance.sample(sorted(case.na_probs), chance.randrange(1, len(case.na_probs)))
    for qid in lost:
        del case.na_probs[qid]
    return Refused(f"({len(lost)} of {len(case.predictions)} missing)", NA)


@one_file
def na_renamed(case: Case, chance: random.Random) -> Refused:
    case.na_probs["renamed"] = case.na_probs.pop(chance.choice(sorted(case.na_probs)))
    return Refused("no no-answer probability for", NA)


@one_file
def na_added(case: Case, chance: random.Random) -> Scored:
    added = {f"added {i}": 0.5 for i in range(chance.randrange(1, 20))}
    case.na_probs.update(added)
    return Scored(unknown_probabilities=len(added))


@one_file
def na_wrong_type(case: Case, chance: random.Random) -> Refused:
    case.na_probs[chance.choice(sorted(case.na_probs))] = chance.choice(WRONG_TYPES[float])
    return Refused("expected a finite number", NA)


@one_file
def na_beyond_all_numbers(case: Case, chance: random.Random) -> Refused:
    number = chance.choice([b"1e999", b"-1e999", b"9" * 400])
    known = f'"{chance.choice(sorted(case.na_probs))}": '.encode()
    before, _, after = case.bytes_of(NA).partition(known)
    case.raw[NA] = before + known + number + after[min(after.find(b","), after.find(b"}")) :]
    return Refused("expected a finite number", NA)


@one_file
def na_twice(case: Case, chance: random.Random) -> Refused:
    again = f'"{chance.choice(sorted(case.na_probs))}": 0.5, '.encode()
    case.raw[NA] = b"{" + again + case.bytes_of(NA)[1:]
    return Refused("is given twice", NA)


@one_file
def na_are_the_predictions(case: Case, chance: random.Random) -> Refused:
    case.raw[NA] = case.bytes_of(PREDICTIONS)
    return Refused("expected a finite number", NA)


def _places(case: Case) -> list[tuple[dict[str, Any], str]]:
    """Every key of the data that must be there and of its type, with the object that holds it."""
    found: list[tuple[dict[str, Any], str]] = [(case.data, "data")]
    found += [(article, key) for article in case.data["data"] for key in ("title", "paragraphs")]
    found += [(paragraph, key) for paragraph in case.paragraphs() for key in ("context", "qas")]
    found += [(q, key) for q in case.questions() for key in q]
    found += [(answer, key) for q in case.questions() for answer in q["answers"] for key in answer]
    return found


def _one_with_na(case: Case) -> int:
    return int(case.na_probs is not None)
