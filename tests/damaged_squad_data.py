"""Damage to what SQuAD data say."""

from __future__ import annotations

import random
from typing import Any

from damaged_squad import DATA, PREDICTIONS, WRONG_TYPES, Case, Corruption, Refused, Scored


def data_a_letter_of_a_question(case: Case, chance: random.Random) -> Scored:
    question = chance.choice(case.questions())
    at = chance.randrange(len(question["question"]))
    question["question"] = question["question"][:at] + "x" + question["question"][at + 1 :]
    return Scored()


def data_start_moved(case: Case, chance: random.Random) -> Scored:
    """Before the text (an offset of 0 is none of its places), behind it, or far away."""
    answer = chance.choice([answer for q in case.questions() for answer in q["answers"]])
    answer["answer_start"] = chance.choice([0, answer["answer_start"] + 1, -5, 10**6, 10**30])
    return Scored(relocated=1)


def data_answer_not_in_its_text(case: Case, chance: random.Random) -> Refused:
    answer = chance.choice([answer for q in case.questions() for answer in q["answers"]])
    answer["text"] = answer["text"][:-1] + "§"
    return Refused("expected the context to hold the answer", DATA)


def data_other_answer(case: Case, chance: random.Random) -> Scored:
    paragraph = chance.choice([p for p in case.paragraphs() if any(q["answers"] for q in p["qas"])])
    answer = chance.choice([answer for q in paragraph["qas"] for answer in q["answers"]])
    answer["text"] = paragraph["context"].split(maxsplit=1)[0]
    return Scored(relocated=1)


def data_key_lost(case: Case, chance: random.Random) -> Refused:
    owner, key = chance.choice([place for place in _places(case) if place[1] != "is_impossible"])
    if chance.random() < 0.5:
        owner[key + "s"] = owner[key]
    del owner[key]
    return Refused(f"expected the key {key!r}", DATA)


def data_wrong_type(case: Case, chance: random.Random) -> Refused:
    owner, key = chance.choice(_places(case))
    owner[key] = chance.choice(WRONG_TYPES[type(owner[key])])
    return Refused(f"expected {key!r} to be", DATA)


def data_item_of_wrong_type(case: Case, chance: random.Random) -> Refused:
    owner, key = chance.choice([(o, k) for o, k in _places(case) if isinstance(o[k], list) and o[k]])
    owner[key][chance.randrange(len(owner[key]))] = chance.choice(WRONG_TYPES[dict])
    return Refused("expected an object", DATA)


def data_id_twice(case: Case, chance: random.Random) -> Refused:
    one, other = chance.sample(case.questions(), 2)
    one["id"] = other["id"]
    return Refused("expected every id once", DATA)


def data_id_renamed(case: Case, chance: random.Random) -> Scored:
    chance.choice(case.questions())["id"] = "renamed"
    return Scored(unanswered=1, unknown_predictions=1, unknown_probabilities=_one_with_na(case))


def data_question_lost(case: Case, chance: random.Random) -> Scored:
    questions = chance.choice([p["qas"] for p in case.paragraphs() if p["qas"]])
    questions.pop(chance.randrange(len(questions)))
    return Scored(unknown_predictions=1, unknown_probabilities=_one_with_na(case))


def data_no_question_left(case: Case, chance: random.Random) -> Refused:
    if chance.random() < 0.5:
        case.data["data"] = []
    else:
        for paragraph in case.paragraphs():
            paragraph["qas"] = []
    return Refused("holds no questions", DATA)


def data_key_twice(case: Case, chance: random.Random) -> Refused:
    key = chance.choice([b"answers", b"id", b"context", b"text", b"qas", b"data"])
    content, place = case.bytes_of(DATA), b'"%s": ' % key
    case.raw[DATA] = content.replace(place, place + b"[], " + place, 1)
    return Refused("twice", DATA)


def data_answers_against_is_impossible(case: Case, chance: random.Random) -> Refused:
    question = chance.choice(case.questions())
    question["is_impossible"] = bool(question["answers"])
    return Refused("expected no answers" if question["answers"] else "expected at least one answer", DATA)


def data_endless_number(case: Case, chance: random.Random) -> Refused:
    start = b'"answer_start": '
    case.raw[DATA] = case.bytes_of(DATA).replace(start, start + b"9" * 10_000, 1)
    return Refused("not JSON", DATA)


def data_are_the_predictions(case: Case, chance: random.Random) -> Refused:
    case.raw[DATA] = case.bytes_of(PREDICTIONS)
    return Refused("expected the key 'data'", DATA)


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


KINDS: list[Corruption] = [
    data_a_letter_of_a_question,
    data_start_moved,
    data_answer_not_in_its_text,
    data_other_answer,
    data_key_lost,
    data_wrong_type,
    data_item_of_wrong_type,
    data_id_twice,
    data_id_renamed,
    data_question_lost,
    data_no_question_left,
    data_key_twice,
    data_answers_against_is_impossible,
    data_endless_number,
    data_are_the_predictions,
]
