"""Documents in other languages are found by their words: whatever the script, the case or the accents' form.

In scripts without spaces a passage is found by pairs of characters, so that others may follow the right one.
The stemmer is English here, as for a document whose language is unsure.
"""

from unicodedata import normalize

import pytest
from helpers.corpora import document_of

from spanwise.index.analysis import Analyzer
from spanwise.index.schema import FileState
from spanwise.retrieval.bm25 import bm25_retriever

# A word, a passage that holds it as it stands here, and one that does not.
FOUND = [
    ("Fähre", "Die Fähre fährt morgens um acht.", "Der Müller wohnt am Wehr."),
    ("ÜBERFAHRT", "Die Überfahrt dauert zehn Minuten.", "Der Müller wohnt am Wehr."),
    ("Straße", "An der STRASSE steht ein Turm.", "Der Müller wohnt am Wehr."),
    ("château", "Le château domine la rivière.", "Le moulin est en bas."),
    ("l’école", "Il va à l'école le lundi.", "Le moulin est en bas."),
    ("паром", "Паром отходит в восемь утра.", "Мельник живёт у плотины."),
    ("πλοίο", "Το ΠΛΟΊΟ φεύγει στις οκτώ.", "Ο μυλωνάς μένει εδώ."),
    ("العبارة", "تغادر العبارة من الرصيف", "يسكن الطحان هنا"),
    ("המעבורת", "המעבורת יוצאת בשמונה", "הטוחן גר כאן"),
    ("नाव", "नाव सुबह आठ बजे चलती है", "चक्कीवाला यहाँ रहता है"),
    ("渡轮", "渡轮早上八点从下码头出发", "磨坊主住在这里"),
    ("図書館", "町の図書館は朝九時に開きます", "渡し船は朝八時に出ます"),
    ("도서관", "도서관은 아침 아홉 시에 엽니다", "나룻배는 여덟 시에 떠납니다"),
    ("ห้องสมุด", "วันนี้ห้องสมุดเปิดเก้าโมง", "เรือข้ามฟากออกแปดโมง"),
    ("စာကြည့်တိုက်", "မြို့စာကြည့်တိုက်ဖွင့်သည်", "လှေထွက်သည်"),
    ("ngựa", "Con ngựa đứng bên sông", "Người thợ xay sống ở đây"),
    ("istanbul", "ISTANBUL boğazında bir vapur", "Değirmenci burada oturur"),
]


def texts_found(corpus_of, question: str, *texts: str) -> list[str]:
    corpus = corpus_of({})
    analyzer = Analyzer()
    with corpus.store.writer() as writer:
        for number, text in enumerate(texts):
            document, passages = document_of(str(number), [text])
            state = FileState(len(text), 0, document.sha256)
            writer.put(document, passages, [analyzer.terms(text)], state)
        writer.commit()
    with corpus.snapshot() as snapshot:
        [hits] = bm25_retriever(snapshot, analyzer).search([question], 5)
    return [hit.passage.text for hit in hits]


@pytest.mark.parametrize(("word", "text", "other"), FOUND)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_word_is_found_in_either_form(corpus_of, form: str, word: str, text: str, other: str) -> None:
    assert texts_found(corpus_of, normalize(form, word), other, text)[0] == text
    assert texts_found(corpus_of, word, other, normalize(form, text))[0] == normalize(form, text)
