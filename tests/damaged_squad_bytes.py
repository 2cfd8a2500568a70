"""Damage to the bytes of SQuAD data, predictions or probabilities, whatever they say."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable

from damaged_squad import DATA, NOT_JSON, Case, Refused, Scored


def cut_off(case: Case, chance: random.Random, name: str) -> Refused:
    content = case.bytes_of(name)
    case.raw[name] = content[: chance.randrange(len(content))]
    return Refused(NOT_JSON[name], name)


def emptied(case: Case, chance: random.Random, name: str) -> Refused:
    case.raw[name] = chance.choice([b"", b" ", b"\n", b"\x00", b"\xef\xbb\xbf"])
    return Refused(NOT_JSON[name], name)


def not_utf8(case: Case, chance: random.Random, name: str) -> Refused:
    """The high bit of an ASCII letter is flipped, or a byte becomes one that UTF-8 does not have."""
    content = bytearray(case.bytes_of(name))
    if chance.random() < 0.5:
        content[chance.choice([at for at, byte in enumerate(content) if byte < 0x80])] ^= 0x80
    else:
        content[chance.randrange(len(content))] = chance.choice([0xFF, 0xC0, 0xF8])
    case.raw[name] = bytes(content)
    return Refused(NOT_JSON[name], name)


def sign_lost(case: Case, chance: random.Random, name: str) -> Refused:
    """A sign that holds JSON together goes, or has a bit flipped; no text of the small files has one."""
    content = case.bytes_of(name)
    at = chance.choice([at for at, byte in enumerate(content) if byte in b'{}[]:"'])
    instead = chance.choice([b"", bytes([content[at] ^ (1 << chance.randrange(7))])])
    case.raw[name] = content[:at] + instead + content[at + 1 :]
    return Refused(NOT_JSON[name], name)


def line_break_in_a_text(case: Case, chance: random.Random, name: str) -> Refused:
    content = case.bytes_of(name)
    at = chance.choice([at for at in range(1, len(content)) if content[at - 1 : at + 1].isalnum()])
    case.raw[name] = content[:at] + b"\n" + content[at:]
    return Refused(NOT_JSON[name], name)


def in_another_encoding(case: Case, chance: random.Random, name: str) -> Scored:
    encoding = chance.choice(["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
    case.raw[name] = case.bytes_of(name).decode().encode(encoding)
    return Scored()


def half_a_utf16_unit(case: Case, chance: random.Random, name: str) -> Refused:
    case.raw[name] = case.bytes_of(name).decode().encode("utf-16")[:-1]
    return Refused(NOT_JSON[name], name)


def gzipped(case: Case, chance: random.Random, name: str) -> Scored:
    case.raw[name] = gzip.compress(case.bytes_of(name), chance.randrange(1, 10))
    return Scored()


def damaged_gzip(case: Case, chance: random.Random, name: str) -> Refused:
    packed = gzip.compress(case.bytes_of(name), mtime=0)
    at = chance.randrange(10, len(packed) - 30)
    hole = bytes(byte ^ 0xFF for byte in packed[at : at + 20])
    sums = bytearray(packed)
    sums[-chance.randrange(1, 9)] ^= 1 << chance.randrange(8)
    damaged = [packed[:at], packed[:at] + hole + packed[at + 20 :], bytes(sums), packed + b"{}", packed[:2]]
    case.raw[name] = chance.choice(damaged)
    return Refused("cannot be read", name)


def endless_depth(case: Case, chance: random.Random, name: str) -> Refused:
    opened = chance.choice([b"[", b'{"a":'])
    case.raw[name] = opened * 100_000
    return Refused("nested too deeply" if name == DATA else NOT_JSON[name], name)


def other_json(case: Case, chance: random.Random, name: str) -> Refused:
    case.raw[name] = chance.choice([b"[]", b"null", b"3", b'"data"', b"true", b"NaN", b"[{}]"])
    return Refused("expected an object", name)


def wrapped(case: Case, chance: random.Random, name: str) -> Refused:
    setattr(case, name, chance.choice([{"file": getattr(case, name)}, [getattr(case, name)]]))
    return Refused("expected", name)


def half_a_character(case: Case, chance: random.Random, name: str) -> Refused:
    """Half of a surrogate pair in an id, by its escape, which is JSON."""
    known = chance.choice([question["id"] for question in case.questions()])
    half = chance.choice(["\\ud800", "\\udfff"])
    case.raw[name] = case.bytes_of(name).replace(f'"{known}"'.encode(), f'"{known}{half}"'.encode())
    return Refused("surrogate", name)


KINDS: list[Callable[[Case, random.Random, str], Refused | Scored]] = [
    cut_off,
    emptied,
    not_utf8,
    sign_lost,
    line_break_in_a_text,
    in_another_encoding,
    half_a_utf16_unit,
    gzipped,
    damaged_gzip,
    endless_depth,
    other_json,
    wrapped,
    half_a_character,
]
