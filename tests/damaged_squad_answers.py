"""Damage to what predictions and no-answer probabilities say."""

from __future__ import annotations

import json
import random

from damaged_squad import DATA, NA, PREDICTIONS, WRONG_TYPES, Case, Corruption, Refused, Scored


def predictions_other_text(case: Case, chance: random.Random) -> Scored:
    for qid in chance.sample(sorted(case.predictions), 3):
        case.predictions[qid] = chance.choice(["", "the", "1811", "x" * 100_000, "a\x00b", "Ada, Rook!"])
    return Scored()


def predictions_lost(case: Case, chance: random.Random) -> Scored:
    lost = chance.sample(sorted(case.predictions), chance.randrange(1, len(case.predictions)))
    for qid in lost:
        del case.predictions[qid]
    return Scored(unanswered=len(lost))


def predictions_renamed(case: Case, chance: random.Random) -> Scored:
    renamed = chance.sample(sorted(case.predictions), 2)
    for number, qid in enumerate(renamed):
        case.predictions[f"{qid}-{number}"] = case.predictions.pop(qid)
    return Scored(unanswered=2, unknown_predictions=2)


def predictions_added(case: Case, chance: random.Random) -> Scored:
    added = {f"added {i}": "Ada Rook" for i in range(chance.randrange(1, 20))}
    case.predictions.update(added)
    return Scored(unknown_predictions=len(added))


def predictions_of_other_data(case: Case, chance: random.Random) -> Refused | Scored:
    count = len(case.predictions)
    case.predictions = {f"other {qid}": text for qid, text in case.predictions.items()}
    if case.version == "2.0":
        return Refused("no prediction for any", PREDICTIONS)
    return Scored(unanswered=count, unknown_predictions=count)


def predictions_none(case: Case, chance: random.Random) -> Refused | Scored:
    count, case.predictions = len(case.predictions), {}
    return (
        Refused("no prediction for any", PREDICTIONS) if case.version == "2.0" else Scored(unanswered=count)
    )


def predictions_wrong_type(case: Case, chance: random.Random) -> Refused:
    case.predictions[chance.choice(sorted(case.predictions))] = chance.choice(WRONG_TYPES[str])
    return Refused("expected a string", PREDICTIONS)


def predictions_as_lists(case: Case, chance: random.Random) -> Refused:
    case.predictions = {qid: [{"text": text, "probability": 1}] for qid, text in case.predictions.items()}
    return Refused("expected a string", PREDICTIONS)


def predictions_twice(case: Case, chance: random.Random) -> Refused:
    again = f'"{chance.choice(sorted(case.predictions))}": "Ada Rook", '.encode()
    case.raw[PREDICTIONS] = b"{" + again + case.bytes_of(PREDICTIONS)[1:]
    return Refused("is given twice", PREDICTIONS)


def predictions_half_a_character(case: Case, chance: random.Random) -> Refused:
    case.predictions[chance.choice(sorted(case.predictions))] = "Ada \ud83d"
    case.raw[PREDICTIONS] = json.dumps(case.predictions).encode()
    return Refused("half of a surrogate pair in the answer", PREDICTIONS)


def predictions_are_the_data(case: Case, chance: random.Random) -> Refused:
    case.raw[PREDICTIONS] = case.bytes_of(DATA)
    return Refused("expected a string", PREDICTIONS)


def na_other_value(case: Case, chance: random.Random) -> Scored:
    for qid in chance.sample(sorted(case.na_probs), 3):
        case.na_probs[qid] = chance.choice([0, 1, 0.5, -3.5, 12, 1e-300, 1e300])
    return Scored()


def na_lost(case: Case, chance: random.Random) -> Refused:
    lost = chance.sample(sorted(case.na_probs), chance.randrange(1, len(case.na_probs)))
    for qid in lost:
        del case.na_probs[qid]
    return Refused(f"({len(lost)} of {len(case.predictions)} missing)", NA)


def na_renamed(case: Case, chance: random.Random) -> Refused:
    case.na_probs["renamed"] = case.na_probs.pop(chance.choice(sorted(case.na_probs)))
    return Refused("no no-answer probability for", NA)


def na_added(case: Case, chance: random.Random) -> Scored:
    added = {f"added {i}": 0.5 for i in range(chance.randrange(1, 20))}
    case.na_probs.update(added)
    return Scored(unknown_probabilities=len(added))


def na_wrong_type(case: Case, chance: random.Random) -> Refused:
    case.na_probs[chance.choice(sorted(case.na_probs))] = chance.choice(WRONG_TYPES[float])
    return Refused("expected a finite number", NA)


def na_beyond_all_numbers(case: Case, chance: random.Random) -> Refused:
    number = chance.choice([b"1e999", b"-1e999", b"9" * 400])
    known = f'"{chance.choice(sorted(case.na_probs))}": '.encode()
    before, _, after = case.bytes_of(NA).partition(known)
    case.raw[NA] = before + known + number + after[min(after.find(b","), after.find(b"}")) :]
    return Refused("expected a finite number", NA)


def na_twice(case: Case, chance: random.Random) -> Refused:
    again = f'"{chance.choice(sorted(case.na_probs))}": 0.5, '.encode()
    case.raw[NA] = b"{" + again + case.bytes_of(NA)[1:]
    return Refused("is given twice", NA)


def na_are_the_predictions(case: Case, chance: random.Random) -> Refused:
    case.raw[NA] = case.bytes_of(PREDICTIONS)
    return Refused("expected a finite number", NA)


KINDS: list[Corruption] = [
    predictions_other_text,
    predictions_lost,
    predictions_renamed,
    predictions_added,
    predictions_of_other_data,
    predictions_none,
    predictions_wrong_type,
    predictions_as_lists,
    predictions_twice,
    predictions_half_a_character,
    predictions_are_the_data,
]

NA_KINDS: list[Corruption] = [
    na_other_value,
    na_lost,
    na_renamed,
    na_added,
    na_wrong_type,
    na_beyond_all_numbers,
    na_twice,
    na_are_the_predictions,
]
