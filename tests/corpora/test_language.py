"""Languages are told by enough text, named, and never guessed."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.language import NAMES, SAMPLE, _identifier, detect
from spanwise.corpora.reading import parse

ENGLISH = "The ferry leaves from the lower quay at eight in the morning and it is back by noon. "
TEXTS = {
    "en": ENGLISH,
    "de": "Die Fähre fährt morgens um acht vom unteren Kai ab und ist gegen Mittag wieder zurück.",
    "nl": "De veerboot vertrekt om acht uur van de lage kade en is in de middag weer terug in de haven.",
    "sv": "Färjan går från den nedre kajen klockan åtta på morgonen och är tillbaka före lunch.",
    "fr": "Le bac quitte le quai à huit heures du matin et il est de retour avant midi, sauf le dimanche.",
    "es": "El transbordador sale del muelle a las ocho de la mañana y vuelve antes del mediodía.",
    "pl": "Prom odpływa z dolnego nabrzeża o ósmej rano i wraca przed południem, oprócz niedziel.",
    "ru": "Паром отходит от нижнего причала в восемь утра и возвращается к полудню, кроме воскресенья.",
    "el": "Το πλοίο φεύγει από την κάτω προβλήτα στις οκτώ το πρωί και επιστρέφει το μεσημέρι.",
    "ar": "تغادر العبارة من الرصيف السفلي في الساعة الثامنة صباحا وتعود قبل الظهر. "
    "وفي يوم الأحد لا تعمل العبارة، وعلى المسافرين أن ينتظروا حتى صباح يوم الاثنين.",
    "he": "המעבורת יוצאת מהמזח התחתון בשעה שמונה בבוקר וחוזרת לפני הצהריים.",
    "hi": "नाव सुबह आठ बजे निचले घाट से चलती है और दोपहर से पहले लौट आती है।",
    "th": "เรือข้ามฟากออกจากท่าเรือด้านล่างเวลาแปดโมงเช้าและกลับมาก่อนเที่ยง",
    "zh": "渡轮早上八点从下码头出发，中午以前回来，星期天不开。我们在那里等了很久。",
    "ja": "渡し船は朝八時に下の桟橋を出て、昼前に戻ってきます。日曜日は休みです。",
    "ko": "나룻배는 아침 여덟 시에 아래 부두를 떠나 정오 전에 돌아옵니다. 일요일은 쉽니다.",
}


@pytest.mark.parametrize(("code", "text"), TEXTS.items())
def test_a_language_is_told(code: str, text: str) -> None:
    assert detect(text) == code


@pytest.mark.parametrize(
    "text", ["", "ok", "12 34 56 789 1011", "Opening hours", "ACGT" * 90, "|--|--|\n" * 99]
)
def test_what_is_too_short_or_no_prose_has_none(text: str) -> None:
    assert detect(text) is None


def test_a_licence_in_front_does_not_decide() -> None:
    assert detect(ENGLISH * (SAMPLE // len(ENGLISH)) + TEXTS["de"] * 200) == "de"


def test_every_language_of_the_model_has_a_name() -> None:
    assert {code for code in _identifier().nb_classes if len(code) == 2} == set(NAMES)


@given(st.text(max_size=300))
def test_any_text_has_a_known_language_or_none(text: str) -> None:
    assert detect(text) in {None, *NAMES}


def test_english_is_told_without_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    _identifier.cache_clear()
    monkeypatch.setitem(sys.modules, "py3langid", None)
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    assert detect(ENGLISH) == "en"


def test_a_document_says_its_language_and_remarks_another_one() -> None:
    assert parse(ENGLISH.encode(), "a.txt").metadata == {"encoding": "utf-8", "language": "en"}
    metadata = parse(TEXTS["de"].encode(), "a.txt").metadata
    assert metadata == {"encoding": "utf-8", "language": "de", "remark": "in German (de)"}
