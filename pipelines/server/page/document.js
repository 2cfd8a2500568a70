// The document pane: a document opened at a place, as stored text with its marks or, for a PDF, as a page.
import { byId, button, centre, citation, cut, element, fill, get, inLine, keep, kept, note, shown, style, trouble, unitsAt, visible,
  whereInFile } from "./dom.js";
import { isMarkdown, markdown } from "./markdown.js";

const AROUND = 60_000; // code points that are fetched before and after a place
const MORE = 200_000;
const MAX_KEPT = 8; // documents
const DRAWN = ["application/pdf", "image/png", "image/jpeg", "image/tiff"];
const MAX_LABELS = 400; // tables with thousands of rows are shown without

const pane = byId("document");
export const narrow = matchMedia("(max-width: 60rem)"); // where the document covers everything else
const known = new Map(); // parts of documents by id
let places = [];
let current = 0;
let giveUp = null;
let opener = null; // what had the focus before
let on = { summarize() {}, say() {} };

export const isOpen = () => !pane.hidden;
export const listen = (handlers) => (on = handlers);
narrow.addEventListener("change", cover);

/** Opens the place of that number; all of `among` are marked and can be stepped through. */
export async function openPlace(among, number, { focus = false } = {}) {
  places = among;
  current = number;
  if (!pane.contains(document.activeElement)) opener = document.activeElement;
  if ((await draw()) && focus) byId("document-body").focus({ preventScroll: true });
}

/** The next place, or with -1 the one before; from the last to the first. */
export function step(by) {
  if (pane.hidden || !places.length) return;
  current = (current + by + places.length) % places.length;
  on.say(`${places[current].kind} ${current + 1} of ${places.length}, ${citation(places[current])}`);
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

/** What the document covers cannot be reached by keys either. */
function cover() {
  const covered = narrow.matches && !pane.hidden;
  byId("left").inert = covered;
  document.querySelector(".top").inert = covered;
}

async function draw() {
  giveUp?.abort();
  giveUp = new AbortController();
  const place = places[current];
  document.body.classList.add("two");
  pane.hidden = false;
  cover();
  const body = element("div", { id: "document-body", tabindex: "0", "aria-label": "Text of the document" });
  try {
    const record = await textAround(place, { signal: giveUp.signal });
    fill(pane, header(record, place), body);
    if (DRAWN.includes(record.media_type) && kept("view", "page") === "page") await showPage(body, record, place, null, { signal: giveUp.signal });
    else showText(body, record, place);
    return true;
  } catch (error) {
    if (error.name !== "AbortError") fill(pane, header(null, place), trouble(error.message));
    return false;
  }
}

const covers = (record, place) => record.start <= place.start && place.end <= record.end;
const holds = (record, place) => cut(record.text, place.start - record.start, place.end - record.start) === place.text;

/** The part of a document around a place; fetched again when its words are no longer those of the place. */
async function textAround(place, options) {
  const before = known.get(place.document);
  if (before && covers(before, place) && holds(before, place)) return before;
  const window = { start: Math.max(0, place.start - AROUND), end: place.end + AROUND };
  const record = await get("/api/document", { id: place.document, ...window }, options);
  remember(record);
  return record;
}

function remember(record) {
  known.delete(record.document);
  known.set(record.document, record);
  if (known.size > MAX_KEPT) known.delete(known.keys().next().value);
}

function header(record, place) {
  const tool = (id, words, label, onclick) => button(words, onclick, { id, class: "tool", "aria-label": label, title: label });
  const where = [place.document, whereInFile(place)].filter(Boolean).join(", ");
  return element("header", { class: "document-header" },
    element("div", { class: "titles" },
      element("h2", { id: "document-title", dir: "auto" }, inLine(record?.title || place.document)),
      element("p", { class: "quiet", id: "document-place" }, inLine(where))),
    element("div", { class: "tools" },
      tool("document-summary", "Summarize", "Summarize this document", () => on.summarize(place.document)),
      DRAWN.includes(record?.media_type) && switchView(),
      tool("mark-before", "↑", "Previous place (p)", () => step(-1)),
      element("span", { id: "mark-number", class: "quiet" }, `${current + 1} of ${places.length}`),
      tool("mark-after", "↓", "Next place (n)", () => step(1)),
      tool("document-close", "✕", "Close the document (Esc)", closeDocument)));
}

/** Two buttons: the page as printed, or the stored text. */
function switchView() {
  const view = (name, words) => button(words, () => (keep("view", name), draw()), { "aria-pressed": String(kept("view", "page") === name) });
  return element("div", { class: "switch", role: "group", "aria-label": "View" }, view("page", "Page"), view("text", "Text"));
}

/** Draws the page of the place, or another one, with boxes over the words; the text where that fails. */
async function showPage(body, record, place, number, options = {}) {
  const width = Math.min(Math.ceil((body.clientWidth * devicePixelRatio) / 200) * 200, 2000);
  const span = { id: place.document, start: place.start, end: place.end, page: number ?? place.page, width };
  try {
    const page = await get("/api/document/page", span, options);
    const turn = (to, words) => button(words, () => showPage(body, record, place, to), { class: "plain", disabled: to < 1 || to > page.pages });
    const share = (length, of) => `${(100 * length) / of}%`;
    const { width: wide, height: high } = page;
    const box = ([x, y, w, h]) => style(element("span", { class: "box" }), { left: share(x, wide), top: share(y, high), width: share(w, wide), height: share(h, high) });
    const image = element("img", { src: `data:image/png;base64,${page.png}`, alt: `Page ${page.page} of ${visible(place.document)}` });
    body.classList.add("paper");
    fill(body, element("div", { class: "turner" }, turn(page.page - 1, "‹ Previous"), `page ${page.page} of ${page.pages}`, turn(page.page + 1, "Next ›")),
      style(element("div", { class: "sheet" }, image, page.boxes.map(box)), { "aspect-ratio": `${wide} / ${high}` }),
      !page.boxes.length && note("Nothing is marked on this page."));
    centre(body, body.querySelector(".box") ?? body.firstChild);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    showText(body, record, place);
    body.prepend(trouble(`The page cannot be shown: ${error.message}`));
  }
}

function showText(body, record, place) {
  const marks = places
    .map((each, number) => ({ ...each, number, current: number === current }))
    .filter((each) => each.document === place.document && covers(record, each) && holds(record, each));
  const more = (words, start, end) => {
    const load = async (event) => {
      event.target.disabled = true;
      try {
        const longer = await get("/api/document", { id: place.document, start, end });
        remember(longer);
        showText(body, longer, place);
      } catch (error) {
        event.target.replaceWith(trouble(error.message));
      }
    };
    return button(words, load, { class: "plain more" });
  };
  fill(body,
    !holds(record, place) && trouble("The document has changed. Ask again to see the place."),
    record.start > 0 && more("Show text before", Math.max(0, record.start - MORE), record.end),
    [...blocks(record, marks)],
    record.end < record.characters && more("Show text after", record.start, record.end + MORE));
  const mark = body.querySelector("mark.current");
  if (mark) centre(body, mark);
  else body.scrollTop = 0;
}

/** Page breaks, headings, and the text between them, with marks at the places of spans. */
function* blocks(record, marks) {
  const { text, start: base } = record;
  const inside = (offset) => offset >= base && offset <= record.end;
  const pages = record.page_starts.map((start, i) => [start, i + 1]).filter(([start]) => inside(start));
  const headings = record.headings.filter((one) => inside(one.start));
  const labels = record.labels.filter((one) => inside(one.start));
  const edges = marks.flatMap((one) => [one.start, one.end]);
  const offsets = [...pages.map(([start]) => start), ...headings.map((one) => one.start), ...labels.map((one) => one.start), ...edges];
  const units = unitsAt(text, offsets.map((offset) => offset - base));
  const at = new Map(offsets.map((offset, i) => [offset, units[i]]));
  const pageAt = new Map(pages.map(([start, number]) => [at.get(start), number]));
  const levelAt = new Map(headings.map((one) => [at.get(one.start), one.level]));
  const labelAt = new Map(labels.length > MAX_LABELS ? [] : labels.map((one) => [at.get(one.start), one.text]));
  const spans = marks.map((one) => ({ ...one, from: at.get(one.start), to: at.get(one.end) }));
  if (isMarkdown(record.document)) return yield* rendered(record, spans, Math.min(...levelAt.keys()));
  const starts = new Set([0, ...pageAt.keys(), ...levelAt.keys()]);
  for (const start of levelAt.keys()) if (text.indexOf("\n", start) >= 0) starts.add(text.indexOf("\n", start) + 1);
  const order = [...starts].filter((start) => start < text.length).sort((a, b) => a - b);
  for (const [i, start] of order.entries()) {
    const page = pageAt.get(start);
    if (page) yield element("div", { class: "page-break", role: "separator", "data-label": `page ${page}`, "aria-label": `page ${page}` });
    const inner = [...pieces(text, start, order[i + 1] ?? text.length, spans, labelAt)];
    const level = Math.min(levelAt.get(start) ?? 0, 6);
    if (level) yield element("div", { class: `heading h${level}`, role: "heading", "aria-level": level, dir: "auto" }, inner);
    else yield element("div", { class: "text", dir: "auto" }, inner);
  }
}

/** Markdown behind its front matter; a part of a document may begin in code, which ends before the first heading. */
function* rendered({ text, start: base }, spans, heading) {
  const matter = /^---[ \t]*\n/.test(text) ? text.indexOf("\n---", 3) + 1 : 0;
  const begin = base > 0 ? Math.min(heading, text.length) : matter && (text.indexOf("\n", matter) + 1 || text.length);
  if (begin) yield element("div", { class: "text", dir: "auto" }, [...pieces(text, 0, begin, spans, new Map())]);
  yield element("div", { class: "markdown", dir: "auto" }, markdown(text, begin, text.length, drawing(text, spans)));
}

/** How `markdown` draws the words of a text between two offsets, and whether spans let it hide characters. */
export function drawing(text, spans, first = 0, last = text.length) {
  const draw = (from, to) => [...pieces(text, Math.max(from, first), Math.min(to, last), spans, new Map())];
  const isHidden = (start, end) => spans.every(({ from, to }) => from >= end || to <= start || (from <= start && to >= end && to - from > end - start));
  return { draw, isHidden };
}

/** A block in pieces that are marked alike. */
function* pieces(text, start, end, spans, labelAt) {
  const cuts = [start, end, ...spans.flatMap(({ from, to }) => [from, to]), ...labelAt.keys()];
  const order = [...new Set(cuts)].filter((each) => each >= start && each <= end).sort((a, b) => a - b);
  for (const [i, from] of order.slice(0, -1).entries()) {
    const [words, to] = [shown(text.slice(from, order[i + 1])), order[i + 1]];
    if (labelAt.has(from)) yield element("span", { class: "label", "data-label": labelAt.get(from) });
    const over = spans.filter((span) => span.from <= from && to <= span.to);
    if (!over.length) {
      yield words;
      continue;
    }
    const chosen = over.find((span) => span.current);
    yield element("mark", { class: `span${chosen ? " current" : ""}` }, words);
  }
}
