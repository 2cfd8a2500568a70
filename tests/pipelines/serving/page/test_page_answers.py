"""Journeys through answers: the span, its confidence, its rivals, and that there is none."""

from __future__ import annotations

from urllib.parse import unquote_plus

import pytest

pytestmark = pytest.mark.reliability  # minutes for all of them, on a busy machine

FOUNDER = "Who founded the mill on the river?"
FERRY_ON_MARS = "What did the ferry to Mars cost the Pope in dollars?"


def test_the_span_stands_marked_in_its_sentence(visit, site):
    answer = site.post("api/ask", question=FOUNDER, alternatives=4)["answer"]
    visit.ask(FOUNDER)
    assert visit.text("#span") == answer["text"]
    assert visit.text("#span .short") == answer["short"]["text"] == "Ada Rook"
    assert " ".join(visit.text("#quote").split()) == " ".join(answer["sentence"].split())


def test_the_place_is_named(visit):
    visit.ask("Who opened the tram of the town?")
    assert visit.text("#open-place .file") == "letters/falk.txt"
    assert visit.text("#open-place .where") == "line 1"


def test_confidence_is_given_in_per_cent_in_words_and_explained(visit, site):
    record = site.post("api/ask", question=FOUNDER, alternatives=4)
    visit.ask(FOUNDER).page.click("#best summary")
    shown = visit.text("#best .confidence")
    assert shown.startswith(f"{record['answer']['confidence'] * 100:.0f}%")
    assert "right" in shown
    assert "held back" in shown
    assert f"Below {record['threshold'] * 100:.0f}%" in shown


def test_an_answer_is_told_to_screen_readers(visit):
    visit.ask(FOUNDER)
    assert visit.text("[aria-live=polite]").startswith("Answer: ")
    assert "Ada Rook" in visit.text("[aria-live=polite]")


def test_other_answers_are_chosen_with_the_arrow_keys(visit, site):
    record = site.post("api/ask", question=FOUNDER, alternatives=4)
    assert record["alternatives"]
    visit.ask(FOUNDER).page.keyboard.press("ArrowDown")
    assert visit.text("#span") == record["alternatives"][0]["text"]
    visit.until(
        "text => [...document.querySelectorAll('mark.current')].map(m => m.textContent).join('') === text",
        record["alternatives"][0]["text"],
    )
    visit.page.keyboard.press("ArrowUp")
    assert visit.text("#span") == record["answer"]["text"]


def test_what_is_not_there_is_said_with_what_was_searched(visit, site):
    question = "What is the phone number of the Psaltar museum on Mars?"
    record = site.post("api/ask", question=question, alternatives=4)
    assert record["answer"] is None
    visit.ask(question)
    shown = visit.text("#panel-answer")
    assert "Not in these documents" in shown
    assert f"Searched {record['searched']['passages']} passages" in shown
    unknown = [word["text"] for word in record["searched"]["unknown_words"]]
    assert "Psaltar" in unknown
    assert all(f"“{word}” stands in none" in shown for word in unknown)
    assert all(reason in shown for each in record["searched"]["rejected"] for reason in each["reasons"])


def test_a_declined_question_leads_to_the_passages_that_came_nearest(visit, site):
    nearest = site.post("api/ask", question=FERRY_ON_MARS, alternatives=4)["nearest"]
    visit.ask(FERRY_ON_MARS)
    buttons = visit.page.get_by_role("region", name="Passages to look at").get_by_role("button")
    files = [button.locator(".file").text_content() for button in buttons.all()]
    assert files == [hit["document"] for hit in nearest]
    assert visit.text("[aria-live=polite]") == f"Not in these documents. {len(nearest)} passages to look at."
    assert " ".join(visit.text(".nearest .words").split())[:40] in " ".join(nearest[0]["text"].split())


def test_a_passage_to_look_at_opens_by_the_keyboard_at_its_place(visit, site):
    nearest = site.post("api/ask", question=FERRY_ON_MARS, alternatives=4)["nearest"]
    visit.ask(FERRY_ON_MARS).page.locator(".nearest .place").first.focus()
    visit.page.keyboard.press("Enter")
    visit.until("document.activeElement.id === 'document-body'")
    assert visit.marked() == nearest[0]["text"]
    visit.page.keyboard.press("n")
    visit.until("document.querySelector('#mark-number')?.textContent.startsWith('2 of 3')")
    assert visit.marked() == nearest[1]["text"]


def test_a_passage_to_look_at_is_text_whatever_it_holds(visit):
    visit.ask("What did the depot of the trams cost the Pope in dollars?")
    shown = visit.page.locator(".nearest li", has_text="The depot of the trams")
    assert "<script>canary()</script><img src=x onerror='canary()'>" in shown.locator(".words").text_content()
    assert "<img src=x onerror=canary()>.md" in shown.locator(".file").text_content()
    assert visit.page.locator(".nearest script, .nearest img, .nearest a").count() == 0


def test_a_summary_of_nothing_leads_to_the_same_passages(visit):
    visit.page.goto("about:blank")
    visit.open("#q=zeppelin+psaltar+ferry&tab=summary").page.wait_for_selector("#summary-rest .footnote")
    assert "Nothing in these documents can be said to that" in visit.text("#panel-summary")
    visit.page.locator("#summary-rest .nearest .place").first.click()
    assert "ferry" in visit.marked()


def test_a_word_that_was_mistyped_is_mended_by_a_click(visit):
    visit.ask("What did the ferrry to Mars cost the Pope in dollars?")
    if not visit.page.locator(".unknown .inline", has_text="ferry").count():
        pytest.fail(f"no suggestion in: {visit.text('#panel-answer')}")
    visit.page.locator(".unknown .inline", has_text="ferry").click()
    visit.until("document.querySelector('#question').value.includes('the ferry to Mars')")


def test_filters_confine_the_search(visit):
    visit.page.click("#filters summary")
    for path, price in (("prices/2019*", "four"), ("prices/2024*", "seven")):
        visit.page.fill("#filter-paths", path)
        visit.ask("What did a ticket for the ferry to the island cost?")
        visit.until("word => document.querySelector('#span')?.textContent.includes(word)", price)
        assert "of 1 of 8 documents" in visit.text(".footnote")


def test_a_filter_that_the_server_does_not_know_is_told(visit):
    visit.page.click("#filters summary")
    visit.page.fill("#filter-types", "exe")
    visit.page.fill("#question", FOUNDER)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#notice:not([hidden])")
    assert "exe" in visit.text("#notice")
    visit.complaints[:] = [said for said in visit.complaints if "status of 400" not in said]


def test_a_link_asks_its_question_again(visit, browser, site):
    visit.ask(FOUNDER)
    address = visit.page.url
    assert f"#q={FOUNDER}" in unquote_plus(address)
    visit.page.goto("about:blank")
    visit.page.goto(address)
    visit.page.wait_for_selector("#best")
    assert visit.page.input_value("#question") == FOUNDER


def test_the_answer_is_copied_with_its_citation(visit):
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.ask("Who opened the tram of the town?").page.click("#copy")
    visit.page.wait_for_selector(".toast")
    copied = visit.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("“Ute Falk” (letters/falk.txt, line 1, The tram")


def test_questions_are_remembered_and_forgotten(visit):
    visit.ask(FOUNDER).ask("Who opened the tram of the town?")
    visit.page.click("#history-open")
    assert visit.page.locator("#history li .words").all_text_contents() == [
        "Who opened the tram of the town?",
        FOUNDER,
    ]
    visit.page.locator("#history li button").nth(1).click()
    visit.until("document.querySelector('#span')?.textContent.includes('Rook')")
    visit.page.click("#history-open")
    visit.page.click("#history-clear")
    visit.page.goto("about:blank")
    visit.open()
    visit.page.click("#history-open")
    assert "Nothing yet" in visit.text("#history")


def test_a_browser_that_keeps_nothing_can_ask(visit):
    visit.page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage'])"
        " Object.defineProperty(window, name, { get() { throw new Error('denied') } })"
    )
    visit.page.reload()
    visit.ask(FOUNDER)
    visit.page.click("#history-open")
    assert "Nothing yet" in visit.text("#history")


def test_a_question_can_be_asked_and_read_with_the_keyboard_alone(visit):
    press = visit.page.keyboard.press
    visit.page.locator("#theme").focus()
    press("/")
    visit.page.keyboard.type(FOUNDER)
    press("Enter")
    visit.page.wait_for_selector("#best")
    visit.page.locator("#open-place").focus()
    press("Enter")
    visit.until("document.activeElement.id === 'document-body'")
    press("n")
    visit.until("document.querySelector('#mark-number')?.textContent.startsWith('2 of')")
    press("Escape")
    assert visit.page.locator("#document").is_hidden()
    press("?")
    assert visit.page.locator("#keys").is_visible()


def test_a_link_to_a_summary_keeps_it_when_the_answer_is_looked_at(visit):
    visit.page.goto("about:blank")
    visit.open("#q=Who+opened+the+tram+of+the+town%3F&tab=summary").page.wait_for_selector(".citations")
    visit.page.click("#tab-answer")
    visit.page.wait_for_selector("#best")
    visit.page.click("#tab-summary")
    assert visit.page.locator(".citations").is_visible()


def test_going_back_leads_to_the_question_before_and_then_to_the_beginning(visit):
    visit.ask(FOUNDER).ask("Who opened the tram of the town?")
    visit.until("document.querySelector('#span')?.textContent.includes('Falk')")
    visit.page.go_back()
    visit.until("document.querySelector('#span')?.textContent.includes('Rook')")
    visit.page.go_back()
    visit.page.wait_for_selector("#welcome h1")
    assert visit.page.locator("#best").is_hidden()


def test_closing_a_document_gives_the_focus_back(visit):
    visit.ask(FOUNDER).page.locator("#open-place").focus()
    visit.page.keyboard.press("Enter")
    visit.until("document.activeElement.id === 'document-body'")
    visit.page.keyboard.press("Escape")
    assert visit.page.evaluate("document.activeElement.id") == "open-place"
