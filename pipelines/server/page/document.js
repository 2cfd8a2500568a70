// The document pane: a document opened at a place, as its stored text or, for a PDF, as its page.
import { get } from "./api.js";
import { byId, centre, element, fill } from "./dom.js";
import { cut } from "./offsets.js";
import { citation, whereInFile } from "./places.js";
import { say } from "./status.js";
import { keep, kept } from "./store.js";
import { textNodes } from "./text_view.js";
import { inLine, visible } from "./visible.js";

const AROUND = 60_000; // code points that are fetched before and after a place
const MORE = 200_000;
const MOST_KEPT = 8;
const PDF = "application/pdf";

const pane = byId("document");
const known = new Map(); // parts of documents by id
let places = [];
let current = 0;
let view = "text";
let giveUp = null;
let opener = null; // what had the focus before the document took it
const narrow = matchMedia("(max-width: 60rem)"); // where the document covers everything else
let summarize = () => {};

/** What is called with the id of a document that is to be summarized. */
export const onSummarize = (deed) => (summarize = deed);

/** Opens the place of that number; all of `among` are marked and can be stepped through. */
export async function openPlace(among, number, { focus = false } = {}) {
  places = among;
  current = number;
  if (!pane.contains(document.activeElement)) opener = document.activeElement;
  const record = await draw();
  if (focus && record) pane.querySelector("#document-body").focus({ preventScroll: true });
}

/** The next place, or with -1 the one before; from the last to the first. */
export function step(by) {
  if (pane.hidden || !places.length) return;
  current = (current + by + places.length) % places.length;
  const place = places[current];
  say(`${place.kind} ${current + 1} of ${places.length}, ${citation(place)}`);
  draw();
}

export function closeDocument() {
  giveUp?.abort();
  const hadFocus = pane.contains(document.activeElement);
  pane.hidden = true;
  document.body.classList.remove("two");
  cover();
  if (hadFocus && opener?.isConnected) opener.focus();
}

/** What a document covers cannot be reached by keys, either. */
function cover() {
  const covered = narrow.matches && !pane.hidden;
  byId("left").inert = covered;
  document.querySelector(".top").inert = covered;
}

narrow.addEventListener("change", cover);

export const isOpen = () => !pane.hidden;

async function draw(page = null) {
  giveUp?.abort();
  giveUp = new AbortController();
  const { signal } = giveUp;
  const place = places[current];
  document.body.classList.add("two");
  pane.hidden = false;
  cover();
  try {
    const record = await textAt(place, { signal });
    const isPdf = false;
    fill(pane, header(record, place, isPdf), body());
    if (view === "page") await showPage(record, place, page ?? null, signal);
    else showText(record, place);
    return record;
  } catch (error) {
    if (error.name !== "AbortError") fill(pane, header(null, place, false), trouble(error.message));
    return null;
  }
}

const body = () => element("div", { id: "document-body", tabindex: "0", "aria-label": "Text of the document" });

const trouble = (message) => element("p", { class: "trouble", role: "alert" }, visible(message));

/** The part of a document around a place; fetched anew when the words are no longer those of the answer. */
async function textAt(place, options, reach = AROUND) {
  const before = known.get(place.document);
  if (before && covers(before, place) && holds(before, place)) return before;
  const window = { start: Math.max(0, place.start - reach), end: place.end + reach };
  const record = await get("/api/document", { id: place.document, ...window }, options);
  record.isOther = !holds(record, place);
  known.delete(place.document);
  known.set(place.document, record);
  if (known.size > MOST_KEPT) known.delete(known.keys().next().value);
  return record;
}

const covers = (record, place) => record.start <= place.start && place.end <= record.end;
const holds = (record, place) => cut(record.text, place.start - record.start, place.end - record.start) === place.text;

function header(record, place, isPdf) {
  const button = (id, words, label, onclick) =>
    element("button", { type: "button", id, class: "tool", "aria-label": label, title: label, onclick }, words);
  return element(
    "header",
    { class: "document-header" },
    element(
      "div",
      { class: "titles" },
      element("h2", { id: "document-title", dir: "auto" }, inLine(record?.title || place.document)),
      element("p", { class: "quiet", id: "document-place" }, inLine([place.document, whereInFile(place)].filter(Boolean).join(", ")))
    ),
    element(
      "div",
      { class: "tools" },
      button("document-summary", "Summarize", "Summarize this document", () => summarize(place.document)),
      isPdf ? viewSwitch() : null,
      button("mark-before", "↑", "Place before (p)", () => step(-1)),
      element("span", { id: "mark-number", class: "quiet" }, `${current + 1} of ${places.length}`),
      button("mark-after", "↓", "Next place (n)", () => step(1)),
      button("document-close", "✕", "Close the document (Esc)", closeDocument)
    )
  );
}

function viewSwitch() {
  const button = (name, words) =>
    element("button", { type: "button", id: `view-${name}`, "aria-pressed": String(view === name), onclick: () => pick(name) }, words);
  return element("div", { class: "switch", role: "group", "aria-label": "View" }, button("page", "Page"), button("text", "Text"));
}

function pick(name) {
  keep("view", name);
  draw();
}

async function showPage(record, place, number, signal) {
  const at = byId("document-body");
  at.classList.add("paper");
  fill(at, element("p", { class: "quiet" }, "Drawing the page…"));
  try {
    await drawPage(at, place, number ?? place.page, (page) => draw(page), { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    at.classList.remove("paper");
    showText(record, place);
    at.prepend(trouble(`The page cannot be shown: ${error.message}. Below is the text that was indexed.`));
  }
}

function showText(record, place) {
  const at = byId("document-body");
  const marks = places
    .map((each, number) => ({ ...each, number, current: number === current }))
    .filter((each) => each.document === place.document && covers(record, each) && holds(record, each));
  fill(
    at,
    record.isOther ? trouble("The document has changed since this was answered: ask again to see the place.") : null,
    record.start > 0 ? more("Show what comes before", { start: Math.max(0, record.start - MORE), end: record.end }, place) : null,
    textNodes(record, marks),
    record.end < record.characters ? more("Show what follows", { start: record.start, end: record.end + MORE }, place) : null
  );
  const mark = at.querySelector("mark.current");
  if (mark) centre(at, mark);
  else at.scrollTop = 0;
}

function more(words, window, place) {
  const load = async (event) => {
    event.target.disabled = true;
    try {
      const record = await get("/api/document", { id: place.document, ...window });
      known.set(place.document, record);
      showText(record, place);
    } catch (error) {
      event.target.replaceWith(trouble(error.message));
    }
  };
  return element("button", { type: "button", class: "plain more", onclick: load }, words);
}
