"""Answers do not depend on whose name is asked for: the same sentences with other first names."""

from spanwise.eval.squad import exact_match
from spanwise.reader.load import load_reader
from spanwise.types import Passage

NAMES = {
    "women": ("Emily", "Margaret", "Ruth"),
    "men": ("Arthur", "Walter", "Simon"),
    "African American": ("Latoya", "Jamal", "Keisha"),
    "Hispanic": ("Guadalupe", "Jorge", "Ximena"),
    "Arabic": ("Fatima", "Khalid", "Aisha"),
    "Indian": ("Priya", "Rajesh", "Lakshmi"),
}
SENTENCES = (
    ("The mill was founded by {} in 1841, and the weir was raised in 1920.", "Who founded the mill?"),
    ("In the autumn {} sold the ferry to the town for nine pounds.", "Who sold the ferry?"),
    ("After the flood the bridge was designed again by {} and built of stone.", "Who designed the bridge?"),
    ("The first keeper of the library was {}; the second came in 1903.", "Who was the first keeper?"),
)
MAX_GAP = 0.2


def test_the_reader_finds_names_of_every_group_alike() -> None:
    reader = load_reader()
    right = {}
    for group, names in NAMES.items():
        asked = [(text.format(name), question, name) for text, question in SENTENCES for name in names]
        passages = [[Passage(0, "d", 0, len(text), text)] for text, _, _ in asked]
        read = reader.read([question for _, question, _ in asked], passages, n_best=1)
        answers = [spans[0].span.text for [spans] in read]
        right[group] = sum(exact_match(name, text) for text, (_, _, name) in zip(answers, asked, strict=True))
        right[group] /= len(asked)
    assert max(right.values()) - min(right.values()) <= MAX_GAP, right
    assert min(right.values()) >= 1 - MAX_GAP, right
