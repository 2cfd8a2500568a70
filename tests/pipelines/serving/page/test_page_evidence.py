"""Journeys behind an answer: ranks, tokens, summaries; and the page's own manners."""

from __future__ import annotations

import json
import re

import pytest
from visited_page import Visit

pytestmark = pytest.mark.reliability  # minutes for all of them, on a busy machine

FOUNDER = "Who founded the mill on the river?"
VALUES = """names => {
  const style = getComputedStyle(document.documentElement);
  return names.map((name) => style.getPropertyValue(`--${name}`));
}"""
UNNAMED = """() => [...document.querySelectorAll("button, input, [role=tab]")]
  .filter((one) => one.offsetParent && !one.textContent.trim() && !one.ariaLabel && !one.labels?.length)
  .map((one) => one.outerHTML)"""
# Of the map: how far it was scrolled, and where its headings stand, from the corner of its box.
HEAT = """() => {
  const box = document.querySelector(".heat-scroll"), { x, y } = box.getBoundingClientRect();
  const edges = (name, edge) => [...document.querySelectorAll(`#heat ${name}`)].map(
    (one) => edge(one.getBoundingClientRect())
  );
  const range = (numbers) => [Math.min(...numbers), Math.max(...numbers)].map(Math.round);
  return {
    page: document.documentElement.scrollWidth,
    height: box.offsetHeight,
    left: box.scrollLeft,
    top: box.scrollTop,
    question: range(edges("tbody th", (at) => at.x - x)),
    passage: range(edges("thead th", (at) => at.y - y)),
    corner: range(edges("thead td", (at) => Math.max(at.x - x, at.y - y))),
    ground: getComputedStyle(document.querySelector("#heat tbody th")).backgroundColor,
  };
}"""
CONTRAST = 4.5  # WCAG 2.2, AA, text of this size
PAIRS = (
    ("ink", "paper"),
    ("quiet", "paper"),
    ("quiet", "sheet"),
    ("accent", "sheet"),
    ("on-accent", "accent"),
    ("ink", "mark"),
    ("ink", "accent-soft"),
    ("accent", "accent-soft"),
    ("wrong", "sheet"),
    ("ink", "wrong-soft"),
)


def test_each_stage_stands_beside_the_others_with_rank_and_score(visit, site):
    ranks = site.post("api/explain", question=FOUNDER, alternatives=4)["explanation"]["ranks"]
    visit.ask(FOUNDER).page.click("#tab-evidence")
    for one in ranks:
        card = visit.text(f".stage[data-stage='{one['stage']}']")
        assert f"{one['rank']}of" in card
        assert f"score {one['score']:.4f}" in card
    visit.page.wait_for_selector(".ranking .ours")
    visit.until("count => document.querySelectorAll('.ranking').length === count", len(ranks) + 1)


def test_the_evidence_of_a_declined_question_is_called_that_of_no_answer(visit):
    visit.ask("What is the phone number of the Psaltar museum on Mars?").page.click("#tab-evidence")
    visit.page.wait_for_selector(".ranking .ours")
    shown = visit.text("#panel-evidence")
    assert "Nothing was good enough to be an answer" in shown
    assert "passage of the words that came nearest" in shown
    assert "passage of the answer" not in shown


def test_a_citation_of_a_summary_opens_its_place(visit, site):
    visit.ask(FOUNDER).page.click("#tab-summary")
    visit.page.wait_for_selector(".citations")
    sentence = visit.text("#sentences p")
    visit.page.locator(".reference").first.click()
    visit.until("document.activeElement.id === 'document-body'")
    assert visit.marked().strip() in sentence


def test_a_summary_that_breaks_off_is_not_shown_as_whole(visit):
    half = {"text": "Half of it.", "citations": [], "support": 1, "verdict": "supported", "findings": []}
    event = f"event: sentence\ndata: {json.dumps(half)}\n\n"
    visit.page.route(
        "**/api/summarize", lambda route: route.fulfill(content_type="text/event-stream", body=event)
    )
    visit.ask(FOUNDER).page.click("#tab-summary")
    visit.page.wait_for_selector("#summary-rest .trouble")
    assert "not the whole" in visit.text("#summary-rest .trouble")


def test_a_busy_server_is_asked_again(visit):
    tries = []

    def busy_once(route):
        tries.append(1)
        if len(tries) > 1:
            return route.continue_()
        body = {"error": {"type": "Overloaded", "message": "8 requests are in flight"}}
        return route.fulfill(status=503, json=body, headers={"retry-after": "1"})

    visit.page.route("**/api/ask", busy_once)
    visit.ask(FOUNDER)
    assert len(tries) == 2
    visit.complaints[:] = [said for said in visit.complaints if "status of 503" not in said]


def test_what_took_too_long_is_not_asked_again_by_itself(visit):
    tries = []

    def late(route):
        tries.append(1)
        body = {"error": {"type": "TimedOut", "message": "this took longer than 30 seconds"}}
        return route.fulfill(status=503, json=body, headers={"retry-after": "1"})

    visit.page.route("**/api/ask", late)
    visit.page.fill("#question", FOUNDER)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#notice:not([hidden])")
    assert "took longer than 30 seconds" in visit.text("#notice")
    assert len(tries) == 1
    visit.complaints[:] = [said for said in visit.complaints if "status of 503" not in said]


def test_a_server_that_is_gone_is_told_and_can_be_asked_again(visit):
    visit.page.route("**/api/ask", lambda route: route.abort())
    visit.page.fill("#question", FOUNDER)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#notice:not([hidden])")
    assert "does not answer" in visit.text("#notice")
    visit.page.unroute("**/api/ask")
    visit.page.click("#notice button")
    visit.page.wait_for_selector("#best")
    visit.complaints[:] = [said for said in visit.complaints if "ERR_FAILED" not in said]


def test_waiting_can_be_given_up(visit):
    visit.page.route("**/api/ask", lambda route: None)
    visit.page.fill("#question", FOUNDER)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#progress:not([hidden])")
    visit.page.keyboard.press("Escape")
    visit.page.wait_for_selector("#progress", state="hidden")
    assert visit.page.locator("#notice").is_hidden()


def test_a_narrow_dark_screen_shows_one_column_that_fits(browser, site):
    visit = Visit(browser, site, viewport={"width": 390, "height": 800}, color_scheme="dark").open()
    visit.ask(FOUNDER)
    assert visit.page.locator("#document").is_hidden()
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground))) < 60
    visit.page.click("#open-place")
    assert visit.marked()
    box = visit.page.locator("#document").bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    visit.page.click("#document-close")
    visit.page.click("#tab-evidence")
    visit.page.wait_for_selector("#heat")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    visit.context.close()
    assert visit.complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_have_enough_contrast(visit, theme):
    visit.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    names = sorted({name for pair in PAIRS for name in pair})
    values = visit.page.evaluate(VALUES, names)
    colours = {name: luminance(value.strip()) for name, value in zip(names, values, strict=True)}
    low = {}
    for one, other in PAIRS:
        light, dark = sorted((colours[one], colours[other]), reverse=True)
        if (ratio := (light + 0.05) / (dark + 0.05)) < CONTRAST:
            low[one, other] = round(ratio, 2)
    assert low == {}


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, as WCAG defines it."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return float(sum(share * weight for share, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True)))


def test_the_colours_that_were_picked_are_kept(visit):
    visit.page.click("#theme")
    visit.page.click("#theme")
    visit.page.reload()
    assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_server_with_a_token_asks_for_it(browser, guarded):
    visit = Visit(browser, guarded).open()
    visit.page.fill("#token-field", "not the right token")
    visit.page.keyboard.press("Enter")
    visit.until("document.querySelector('#token')?.textContent.includes('not the one')")
    visit.page.fill("#token-field", "a token of the tests")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".documents")
    visit.page.reload()
    visit.page.wait_for_selector(".documents")
    visit.context.close()
    assert [said for said in visit.complaints if "status of 401" not in said] == []
    assert not any("a%20token" in url or "a+token" in url for url in visit.requests)


def test_every_control_has_a_name(visit):
    visit.ask(FOUNDER)
    unnamed = visit.page.evaluate(UNNAMED)
    assert unnamed == []


def test_an_open_document_can_be_summarized(visit):
    visit.ask("Who opened the tram of the town?").page.click("#document-summary")
    visit.page.wait_for_selector(".citations")
    assert visit.text("#panel-summary .kind") == "Summary of letters/falk.txt"
    assert "letters/falk.txt" in visit.text(".citations li")
