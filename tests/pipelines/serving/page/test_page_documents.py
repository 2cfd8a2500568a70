"""Journeys into documents: text and printed pages, hostile ones, and ones that came meanwhile."""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

import pytest
from made_files import pdf_of

pytestmark = pytest.mark.reliability  # minutes for all of them, on a busy machine

FOUNDER = "Who founded the mill on the river?"
# Dark pixels of the picture in the first box, and in as large a piece some lines below it.
DARK = """() => {
  const image = document.querySelector(".sheet img"), sheet = image.getBoundingClientRect();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const drawing = canvas.getContext("2d", { willReadFrequently: true });
  drawing.drawImage(image, 0, 0);
  const scale = image.naturalWidth / sheet.width;
  const box = document.querySelector(".box").getBoundingClientRect();
  const at = (...area) => drawing.getImageData(...area).data.filter((v, i) => i % 4 === 0 && v < 100).length;
  const [x, y] = [(box.x - sheet.x) * scale, (box.y - sheet.y) * scale];
  const [width, height] = [box.width * scale, box.height * scale];
  return [at(x, y, width, height), at(x, y + 3 * height, width, height)];
}"""
KEEPER_QUESTION = "Who was the keeper of the lighthouse on Gannet Rock?"


def keep_nothing_of(visit, status: int) -> None:
    """Takes out of the complaints what the browser says itself of a status that was meant."""
    visit.complaints[:] = [said for said in visit.complaints if f"status of {status}" not in said]


@pytest.mark.parametrize("name", ["mill.md", "letters/rook.txt"])
def test_the_marked_words_are_those_of_the_answer(visit, site, name):
    record = site.post("api/ask", question=FOUNDER, where={"paths": [name]}, alternatives=4)
    answer = record["answer"] or record["searched"]["best_rejected"]
    visit.page.click("#filters summary")
    visit.page.fill("#filter-paths", name)
    visit.ask(FOUNDER)
    visit.page.locator("#panel-answer .card .place").first.click()
    assert visit.marked() == answer["text"] == site.text(name)[answer["start"] : answer["end"]]
    assert visit.page.locator("mark.current").first.is_visible()


def test_headings_of_a_document_are_headings(visit):
    visit.ask(FOUNDER)
    visit.page.locator(".choice", has_text="mill.md").first.click()
    visit.page.wait_for_selector("#document-body .heading")
    titles = visit.page.get_by_role("heading", name="Its founder").all_text_contents()
    assert titles == ["## Its founder\n"]


def test_a_mark_of_the_same_words_elsewhere_is_stepped_to(visit):
    visit.ask(FOUNDER)
    first = (visit.text("#document-place"), visit.marked())
    visit.page.click("#mark-after")
    visit.until("document.querySelector('#mark-number')?.textContent.startsWith('2 of')")
    assert (visit.text("#document-place"), visit.marked()) != first


def test_words_that_turn_the_line_around_are_spelled_out(visit, site):
    visit.ask("Who painted the old bakery of the harbour?")
    assert "<U+202E><U+200B>" in visit.text("#document-body")
    assert "\u202e" not in visit.page.content()
    assert "הטחנה נוסדה" in visit.text("#document-body")


def test_a_page_of_a_long_pdf_is_shown_with_its_box(visit):
    visit.ask(KEEPER_QUESTION)
    visit.page.wait_for_selector(".sheet img")
    assert visit.text("#page-number") == "page 137 of 200"
    sheet, box = (visit.page.locator(each).first.bounding_box() for each in (".sheet", ".box"))
    middle = (box["y"] + box["height"] / 2 - sheet["y"]) / sheet["height"]
    assert middle == pytest.approx((595.28 - 560 + 14 - 4) / 595.28, abs=0.008)  # the second line drawn
    assert visit.page.locator(".box").first.is_visible()


def test_the_words_in_the_box_are_dark_and_those_around_it_are_not(visit):
    visit.ask(KEEPER_QUESTION)
    visit.page.wait_for_selector(".box")
    dark = visit.page.evaluate(DARK)
    assert dark[0] > 50
    assert dark[1] == 0


def test_the_pages_of_a_pdf_are_turned_and_its_text_is_a_click_away(visit, site):
    visit.ask(KEEPER_QUESTION)
    visit.page.click("#page-after")
    visit.until("document.querySelector('#page-number')?.textContent === 'page 138 of 200'")
    visit.page.click("#view-text")
    answer = site.post("api/ask", question=KEEPER_QUESTION, alternatives=4)["answer"]
    assert visit.marked() == answer["text"]
    assert visit.page.locator(".page-break[aria-label='page 137']").count() == 1


def test_a_pdf_that_changed_since_is_told_and_its_text_is_shown(visit, site):
    file = site.folder / "log.pdf"
    before = file.read_bytes()
    file.write_bytes(pdf_of([["Something else."]]))
    try:
        visit.ask(KEEPER_QUESTION)
        visit.page.wait_for_selector("#document .trouble")
        assert "has changed since it was indexed" in visit.text("#document .trouble")
        assert visit.marked()
    finally:
        file.write_bytes(before)
    keep_nothing_of(visit, 409)


def test_nothing_in_a_document_runs(visit):
    visit.page.add_init_script("window.ran = 0; window.canary = () => { window.ran += 1 }")
    visit.page.reload()
    visit.ask("Who designed the depot of the trams?")
    visit.page.wait_for_selector("#document-body")
    visit.page.click("#tab-summary")
    visit.page.wait_for_selector("#summary-rest .footnote")
    visit.page.click("#tab-evidence")
    visit.page.wait_for_selector("#heat")
    visit.page.click("#history-open")
    assert "<script>canary()</script>" in visit.text("#document-body")
    assert visit.page.evaluate("window.ran") == 0
    assert (
        visit.page.locator("main img[src=x], main script, dialog img, main a[href^=javascript]").count() == 0
    )


def test_a_document_that_another_process_indexes_is_found_without_a_restart(visit, site):
    question = "Who carved the wooden owl of the town hall?"
    visit.ask(question)
    (site.folder / "owl.txt").write_text(
        "The wooden owl of the town hall was carved by Berit Lund in 1934.\n"
    )
    site.sync()
    try:
        visit.ask("Who opened the tram of the town?").ask(question)
        visit.until("document.querySelector('#span .short')?.textContent === 'Berit Lund'")
        assert visit.marked() == visit.text("#span")
    finally:
        (site.folder / "owl.txt").unlink()
        site.sync()


def test_further_documents_are_listed_when_they_are_asked_for(visit):
    named = [{"document": f"{number}.md", "title": f"Note {number}", "metadata": {}} for number in range(130)]

    def listed(route):
        asked = parse_qs(urlparse(route.request.url).query)
        first, n = int(asked.get("offset", ["0"])[0]), int(asked["limit"][0])
        route.fulfill(json={"documents": named[first : first + n], "total": len(named)})

    visit.page.route("**/api/documents?*", listed)
    visit.open()
    rows, more = visit.page.locator(".documents li"), visit.page.locator("#more-documents")
    for shown, left in ((60, "70 documents not shown"), (120, "10 documents not shown")):
        visit.until("count => document.querySelectorAll('.documents li').length === count", shown)
        assert left in more.inner_text()
        more.click()
    visit.until("count => document.querySelectorAll('.documents li').length === count", 130)
    assert more.is_hidden()
    assert rows.nth(120).locator("button").evaluate("button => button === document.activeElement")
