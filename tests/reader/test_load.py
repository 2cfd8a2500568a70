"""Loading readers: other families read as transformers reads them, unfit folders are refused."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from helpers.checkpoints import question_answerer
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from spanwise.errors import ModelRejected
from spanwise.reader.evidence import Calibrations, Features
from spanwise.reader.load import load_calibration, load_reader, reader_folder
from spanwise.types import Passage

GOLDEN = Path(__file__).parents[1] / "golden" / "calibration-v4.json"
FAMILIES = ("Bert", "Roberta", "DebertaV2")
PAIRS = [
    ("who built the mill?", "the mill was built by Ada Rook."),
    ("who?", "Rook, Ada. In 1887 the mill  burnt; Émile was by the weir."),
    ("was the mill built by Ada Rook, or by who?", "by  Rook"),
]


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request, tmp_path_factory):
    return question_answerer(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture
def reader(folder, float32):
    made = load_reader(str(folder), "cpu")
    made.answers_null = True
    return made


def passage(text: str) -> Passage:
    return Passage(1, "d.txt", 0, len(text), text)


@torch.inference_mode()
def library_answer(folder, question: str, text: str) -> tuple[float, str, float]:
    """Score and words of the best span by brute force over the logits of the plain model; the null score."""
    model = AutoModelForQuestionAnswering.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    segments = {"return_token_type_ids": getattr(model.config, "type_vocab_size", 0) > 1}
    encoded = tokenizer(question, text, return_offsets_mapping=True, return_tensors="pt", **segments)
    offsets = encoded.pop("offset_mapping")[0].tolist()
    inside = [i for i, sequence in enumerate(encoded.sequence_ids(0)) if sequence == 1]
    logits = model.eval()(**encoded)
    start = logits.start_logits[0].tolist()
    end = logits.end_logits[0].tolist()
    spans = [
        (start[i] + end[j], text[offsets[i][0] : offsets[j][1]].strip())
        for i in inside
        for j in inside
        if i <= j < i + 30
    ]
    score, words = max(span for span in spans if span[1])
    return score, words, start[0] + end[0]


@pytest.mark.parametrize(("question", "text"), PAIRS)
def test_spans_are_those_of_transformers(folder, reader, question, text):
    [[[best, *_]]] = reader.read([question], [[passage(text)]])
    score, words, null = library_answer(folder, question, text)
    assert best.span.text == words
    assert text[best.span.start : best.span.end] == words
    assert best.score == pytest.approx(score, abs=1e-4)
    assert best.null_score == pytest.approx(null, abs=1e-4)


def test_a_long_passage_is_read_in_windows_of_the_models_positions(reader):
    text = "the mill " * 300
    [[spans]] = reader.read(["who?"], [[passage(text)]], n_best=10_000)
    assert reader.max_length <= 384
    assert max(scored.span.end for scored in spans) == len(text.rstrip())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"family": "Roberta", "head": "SequenceClassification"}, "is no question-answering model"),
        ({"family": "Roberta", "head": ""}, "is no question-answering model"),
        ({"max_position_embeddings": 100}, "reads 100 tokens at once"),
        ({"vocab_size": 9}, "its tokenizer makes ids up to"),
    ],
)
def test_a_model_of_another_kind_or_size_is_refused(tmp_path, options, says):
    with pytest.raises(ModelRejected, match=says):
        load_reader(str(question_answerer(tmp_path, **options)))


def test_a_folder_without_tokenizer_is_refused(tmp_path):
    folder = question_answerer(tmp_path)
    for path in folder.glob("*token*"):
        path.unlink()
    with pytest.raises(ModelRejected, match="holds no tokenizer"):
        load_reader(str(folder))


@pytest.mark.parametrize(
    ("settings", "card", "expected"),
    [
        (None, "", False),
        (None, "---\ndatasets: [squad_v2]\n---\n", True),
        (None, "---\ndatasets: [squad]\n---\nNot for squad_v2.", False),
        (True, "---\ndatasets: [squad]\n---\n", True),
        (False, "---\ndatasets: [squad_v2]\n---\n", False),
    ],
)
def test_settings_or_the_model_card_tell_whether_it_declines(tmp_path, settings, card, expected):
    folder = question_answerer(tmp_path)
    (folder / "README.md").write_text(card)
    if settings is not None:
        (folder / "settings.json").write_text(json.dumps({"answers_null": settings}))
    assert load_reader(str(folder), "cpu").answers_null is expected


def test_a_calibration_of_other_weights_is_refused(tmp_path):
    shutil.copytree(reader_folder("builtin"), tmp_path / "reader")
    name = str(tmp_path / "reader")
    reader = load_reader()
    assert reader.answers_null
    assert load_calibration(name, reader.digest) == load_calibration("builtin", reader.digest)
    with pytest.raises(ModelRejected, match="other weights"):
        load_calibration(name, "another digest")
    (tmp_path / "reader" / "calibration.json").unlink()
    assert load_calibration(name, reader.digest) is None


def test_a_committed_calibration_keeps_its_meaning():
    calibrations = Calibrations.load(GOLDEN)
    answer = Features(margin=3.0, log_rank=0.0, coverage=0.5, sentence_coverage=0.5, relevance=2.0)
    calibration = calibrations.of("colbert")
    confidence = calibration.confidence(calibration.evidence(answer), answer)
    assert confidence == pytest.approx(0.62952680, abs=1e-7)  # by the formula, from the numbers of the file
