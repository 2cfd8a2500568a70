"""Scans are read after all words: each page once, each document replaced once, a bad page costs a line."""

import shutil
from io import BytesIO

import pytest
from helpers.files import pdf_of
from helpers.scans import FakeEngine, picture_of, scan_of
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

import spanwise
from spanwise.index.pages import PageStore, recognised_page
from spanwise.pipelines.library.status import advice
from spanwise.pipelines.parsing import ocr
from spanwise.pipelines.parsing.ocr import use_ocr
from spanwise.pipelines.parsing.worker import Limits

ENCIPHERED = "Uif mjcsbsz dbse fyqjsft bu uif foe pg uif zfbs."


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> FakeEngine:
    return FakeEngine(tmp_path_factory.mktemp("program") / "engine")


@pytest.fixture
def engine(program, monkeypatch) -> FakeEngine:
    program.reset()
    monkeypatch.setenv("PATH", program.path)
    return program


@pytest.fixture
def no_engine(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/no-engine")  # engines of a PATH are remembered
    monkeypatch.setattr("spanwise.corpora.readers.scan.find_spec", lambda name: None)


@pytest.fixture
def scans(tmp_path):
    """A folder with a scan of three pages, a PDF of a page with text and one without, and a note."""
    root = tmp_path / "scans"
    root.mkdir()
    (root / "scan.pdf").write_bytes(scan_of([[f"page {n} of the scan"] for n in range(3)]))
    (root / "note.txt").write_text("The mill was built in 1811.\n")
    return root


def synced(folder, **options):
    with spanwise.open(folder) as library:
        return library.sync(vectors=False, **options)


def document(folder, name="scan.pdf"):
    with spanwise.open(folder) as library:
        return library.document(name)


def waiting(folder) -> int:
    with spanwise.open(folder) as library:
        return library.status()["ocr"]["waiting"]


def test_a_scan_becomes_a_document_of_its_pages(scans, engine):
    report = synced(scans, workers=1)
    assert report.added == ("note.txt", "scan.pdf")
    assert report.rejected == ()
    assert report.found == 2
    read = document(scans)
    sums = engine.pages_read
    assert read.text == "\n\n".join(f"Picture number\n{each}." for each in sums)
    assert len(read.page_starts) == 3
    assert [label.text for label in read.labels] == [f"page {n}, read from a picture" for n in (1, 2, 3)]
    assert "remark" not in read.metadata
    assert waiting(scans) == 0


def test_each_page_is_read_once_and_a_second_sync_reads_none(scans, engine):
    synced(scans)
    again = synced(scans)
    assert again.unchanged == 2
    assert len(engine.pages_read) == len(set(engine.pages_read)) == 3


def test_an_interrupted_sync_reads_the_other_pages(scans, engine):
    def stop(task, done, total):
        if task == ocr.TASK and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        synced(scans, workers=1, on_progress=stop)
    assert waiting(scans) == 3
    assert len(engine.pages_read) <= 2  # one done, one begun
    synced(scans, workers=1)
    assert set(engine.pages_read) == set(document(scans).text.replace(".", "").split()) - {
        "Picture",
        "number",
    }
    assert len(engine.pages_read) <= 4


def test_pages_with_text_are_not_read(scans, engine):
    with_text = pdf_of([["The weir was raised in 1920. " * 3]])
    (scans / "scan.pdf").write_bytes(with_text)
    synced(scans)
    assert engine.pages_read == []


@pytest.mark.parametrize(("certainty", "first"), [("95", "Picture number"), ("40", ENCIPHERED)])
def test_letters_that_no_language_has_are_read_if_the_engine_is_sure(scans, engine, certainty, first):
    (scans / "scan.pdf").write_bytes(pdf_of([[ENCIPHERED] * 3]))
    engine.act(certainty)
    synced(scans)
    assert document(scans).text.splitlines()[0] == first


def test_a_question_starts_no_reading(scans, engine, run):
    _, _, err = run("ask", "when was the mill built?", scans, "--retriever", "bm25")
    assert engine.pages_read == []
    assert "3 pages wait for OCR: run: spanwise index" in err


def test_without_an_engine_the_advice_names_both(scans, no_engine):
    report = synced(scans)
    [rejection] = report.rejected
    assert rejection.reason == "PDF without text (scanned?): all 3 pages. wait for OCR: 3 pages"
    with spanwise.open(scans) as library:
        [sentence] = [each for each in advice(library.status()) if "OCR" in each]
    assert "3 pages wait for OCR: install tesseract, or: pip install 'spanwise[ocr]'. Then run:" in sentence


def test_an_engine_that_fails_costs_a_line_and_is_tried_again_on_request(scans, engine):
    engine.act("fail")
    [rejection] = synced(scans).rejected
    assert rejection.reason.startswith("PDF could not be recognised (tesseract failed (3): no memory): all 3")
    engine.act("95")
    assert synced(scans).rejected == (rejection,)
    assert synced(scans, retry=True).added == ("scan.pdf",)


def test_a_remark_in_a_note_is_no_page_that_waits(scans, no_engine):
    (scans / "note.md").write_text("---\nremark: wait for OCR, wait for OCR: 7 pages\n---\nThe mill.\n")
    synced(scans)
    assert waiting(scans) == 3


def test_an_engine_that_hangs_costs_a_line(scans, engine, monkeypatch):
    (scans / "scan.pdf").write_bytes(scan_of([["a page"]]))
    monkeypatch.setattr(ocr, "LIMITS", Limits(memory_bytes=2 * 2**30, wall_s=1.0))
    engine.act("hang")
    [rejection] = synced(scans).rejected
    assert "could not be recognised (its parser took more than" in rejection.reason


def test_little_certainty_is_a_remark(scans, engine):
    engine.act("50")
    [remark] = synced(scans).remarks
    assert remark.text == "read from a picture with little certainty: all 3 pages"


def test_off_reads_nothing_and_all_reads_pictures_too(scans, engine):
    picture_of(["a photograph"]).save(scans / "photo.png")
    with spanwise.open(scans, ocr="off") as library:
        assert library.sync(vectors=False).added == ("note.txt",)
        assert engine.pages_read == []
        use_ocr(library.store, "all")
        report = library.sync(vectors=False)
    assert report.added == ("photo.png", "scan.pdf")
    assert report.skipped == {}
    assert document(scans, "photo.png").media_type == "image/png"


def test_hostile_pictures_cost_a_line_each(scans, engine, run):
    Image.new("1", (20_000, 10_000)).save(scans / "bomb.png")
    Image.new("L", (30_000, 1_500), 255).save(scans / "wide.png")
    file = BytesIO()
    picture_of(["a photograph"]).save(file, "JPEG")
    (scans / "cut.jpg").write_bytes(file.getvalue()[: len(file.getvalue()) // 2])
    (scans / "nothing.tif").write_bytes(b"II*\0")
    code, _, err = run("index", scans, "--ocr", "all", "--lexical-only")
    assert code == 0
    lines = [line for line in err.splitlines() if line.startswith("rejected")]
    assert [line.split()[1] for line in lines] == ["bomb.png:", "cut.jpg:", "nothing.tif:"]
    assert "damaged picture: Image size (200000000 pixels) exceeds limit" in lines[0]
    assert "damaged picture" in lines[1]
    with spanwise.open(scans) as library:
        assert sorted(library.snapshot.files()) == ["note.txt", "scan.pdf", "wide.png"]


def test_a_copy_in_another_file_is_not_read_again(scans, engine):
    synced(scans)
    shutil.copy(scans / "scan.pdf", scans / "copy.pdf")
    with (scans / "copy.pdf").open("ab") as file:
        file.write(b"\n% other bytes\n")
    assert synced(scans).added == ("copy.pdf",)
    assert len(engine.pages_read) == 3


def test_a_newer_engine_has_other_keys(scans, engine, monkeypatch):
    synced(scans)
    before = document(scans).metadata["ocr"]
    other = FakeEngine(engine.folder.parent / "other")
    (other.folder / "version").write_text("newer")
    monkeypatch.setenv("PATH", other.path)
    (scans / "scan.pdf").write_bytes((scans / "scan.pdf").read_bytes() + b"\n")
    synced(scans)
    assert len(other.pages_read) == 3
    assert document(scans).metadata["ocr"] != before


def test_a_kept_page_has_its_words_with_their_boxes(scans, engine):
    synced(scans)
    with spanwise.open(scans) as library:
        metadata = library.document("scan.pdf").metadata
        path = library.store.path
    page = recognised_page(path, metadata, 1)
    assert page["certainty"] == 0.95
    assert [word[0] for word in page["lines"][0]] == ["Picture", "number"]
    assert recognised_page(path, metadata, 4) is None


def test_a_damaged_page_is_as_if_it_was_not_kept(scans, engine):
    synced(scans)
    with spanwise.open(scans) as library:
        path = library.store.path
    [first, *_] = sorted((path / "ocr").rglob("*.json"))
    assert PageStore(path).get(first.stem)["key"] == first.stem
    first.write_bytes(first.read_bytes().replace(b"Picture", b"Pasture"))
    assert PageStore(path).get(first.stem) is None


def test_a_line_shows_that_an_answer_is_from_a_picture(scans, engine, run):
    run("index", scans, "--lexical-only")
    _, out, _ = run("search", "--index", scans, "picture number", "--retriever", "bm25")
    assert "scan.pdf, page 1, read from a picture" in out


def with_picture(words: str) -> bytes:
    """A PDF of a page with a few words over a large picture."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=(300, 400))
    canvas.drawImage(ImageReader(picture_of(["a page"])), 0, 0, 300, 400)
    canvas.drawString(10, 10, words)
    canvas.save()
    return file.getvalue()


def n_stored(folder) -> int:
    return len(list((folder / ".spanwise" / "ocr").rglob("*.json")))


def test_pages_of_a_deleted_document_are_deleted(scans, engine):
    (scans / "other.pdf").write_bytes(scan_of([["a page of another scan"]]))
    synced(scans)
    assert n_stored(scans) == 4
    (scans / "other.pdf").unlink()
    synced(scans, ocr=False)
    assert n_stored(scans) == 4
    synced(scans)
    assert n_stored(scans) == 3


def test_no_page_is_deleted_while_others_wait(scans, engine, monkeypatch):
    synced(scans)
    (scans / "scan.pdf").unlink()
    (scans / "other.pdf").write_bytes(scan_of([["a page of another scan"]]))
    monkeypatch.setattr("spanwise.pipelines.parsing.ocr.find_engine", lambda: None)
    synced(scans)
    assert n_stored(scans) == 3


def test_a_page_without_words_stays_while_its_document_has_others(scans, engine):
    engine.act("10")
    (scans / "scan.pdf").write_bytes(scan_of([["words"]]))
    (scans / "both.pdf").write_bytes(with_picture("Scanned by a phone"))
    [rejection] = synced(scans).rejected
    assert rejection.reason == "PDF without words that an engine recognises: its only page"
    assert n_stored(scans) == 1


@pytest.mark.parametrize("name", ["scan.pdf", "photo.png"])
def test_newer_readers_keep_the_words_of_scans(scans, engine, monkeypatch, name):
    picture_of(["a photograph"]).save(scans / "photo.png")
    with spanwise.open(scans, ocr="all") as library:
        library.sync(vectors=False)
        before = library.document(name)
        monkeypatch.setattr("spanwise.pipelines.parsing.sync.READERS", "newer")
        report = library.sync(vectors=False, ocr=False)
        assert name in report.updated
        assert library.document(name) == before
    assert len(engine.pages_read) == 4


def test_skipped_pictures_are_a_line_with_the_option(scans, engine, run):
    for name in ("a.png", "b.JPG"):
        picture_of(["a photograph"]).save(scans / name)
    _, _, err = run("index", scans, "--lexical-only")
    [line] = [line for line in err.splitlines() if "--ocr all" in line]
    assert line.startswith("pictures are skipped; read their words with: spanwise index")
    _, _, err = run("index", scans, "--lexical-only", "--ocr", "all")
    assert "--ocr all" not in err


def test_pictures_wait_where_they_are_wanted_without_an_engine(scans, no_engine, run):
    picture_of(["a photograph"]).save(scans / "a.png")
    _, _, err = run("index", scans, "--lexical-only", "--ocr", "all")
    assert "4 pages wait for OCR: install tesseract" in err
