// An answer: the words inside their sentence, where they stand, how sure that is, and what else was found.
import { confidenceMeter } from "./confidence.js";
import { counted, element, fill, percent } from "./dom.js";
import { cut, unitsAt } from "./offsets.js";
import { citation, placeButton, placeOf } from "./places.js";
import { inLine, shown, visible } from "./visible.js";

/** The answers that can be chosen, best first, and every place that is marked in documents. */
export function choicesOf(record) {
  const spans = [record.answer, ...record.alternatives].filter(Boolean);
  return spans.map((span, number) => ({
    span,
    places: [
      placeOf(span, number ? "other answer" : "answer"),
      ...span.agreeing.map((each) => placeOf(each, "also said here")),
    ],
  }));
}

/** Draws an answer; `choose(number)` is called for another answer, `open(place)` for a place. */
export function drawAnswer(panel, record, { choose, open, copy, link }) {
  const best = record.answer;
  fill(
    panel,
    element(
      "article",
      { class: "card best", id: "best" },
      chosen(best, record, { open, copy, link, kind: "answer" })
    ),
    record.alternatives.length
      ? element(
          "section",
          { class: "others", "aria-label": "Answers to choose from" },
          element("h2", {}, "Answers to choose from ", element("span", { class: "keys" }, element("kbd", {}, "↑"), element("kbd", {}, "↓"))),
          element(
            "ol",
            { id: "choices" },
            [best, ...record.alternatives].map((span, number) => element("li", {}, choice(span, number, choose)))
          )
        )
      : null,
    footnote(record)
  );
}

/** Draws in the card what was chosen. */
export function drawChosen(panel, record, number, handlers) {
  const span = number === 0 ? record.answer : record.alternatives[number - 1];
  fill(panel.querySelector("#best"), chosen(span, record, { ...handlers, kind: number ? "other answer" : "answer" }));
  for (const [at, button] of [...panel.querySelectorAll("#choices button")].entries()) {
    button.setAttribute("aria-current", String(at === number));
  }
}

function chosen(span, record, { open, copy, link, kind }) {
  const place = placeOf(span, kind);
  return [
    element("p", { class: "kind" }, kind === "answer" ? "Answer" : "Another answer"),
    element("blockquote", { class: span.page ? "quote printed" : "quote", dir: "auto", id: "quote" }, inSentence(span)),
    placeButton(place, () => open(place), { id: "open-place" }),
    confidenceMeter(span.confidence, record.threshold),
    span.agreeing.length ? alsoSaid(span, open) : null,
    span.duplicates.length ? element("p", { class: "quiet" }, duplicates(span.duplicates)) : null,
    element(
      "div",
      { class: "actions" },
      element("button", { type: "button", class: "plain", id: "copy", onclick: () => copy(copied(span, place)) },
        "Copy with citation"),
      element("button", { type: "button", class: "plain", id: "link", onclick: link }, "Copy link")
    ),
  ];
}

/** The sentence with the answer marked in it, and in the answer the words that the reader chose. */
export function inSentence(span) {
  const { passage, sentence } = span;
  const [from, to, short, shortEnd] = unitsAt(
    passage.text,
    [span.start, span.end, span.short.start, span.short.end].map((offset) => offset - passage.start)
  );
  let start = passage.text.lastIndexOf(sentence, from);
  if (start < 0 || start + sentence.length < to) start = from;
  const end = Math.max(start === from ? to : start + sentence.length, to);
  const text = (a, b) => shown(passage.text.slice(a, Math.max(a, b)));
  return [
    text(start, from),
    element(
      "mark",
      { class: "span", id: "span" },
      text(from, short),
      element("b", { class: "short" }, text(Math.max(short, from), Math.min(shortEnd, to))),
      text(shortEnd, to)
    ),
    text(to, end),
  ];
}

function choice(span, number, choose) {
  const confidence = span.confidence === null ? "" : percent(span.confidence);
  return element(
    "button",
    { type: "button", class: "choice", "aria-current": String(number === 0), onclick: () => choose(number) },
    element("span", { class: "words", dir: "auto" }, inLine(span.text)),
    element("span", { class: "quiet" }, `${confidence ? `${confidence} · ` : ""}${visible(span.document)}`,
      span.agreeing.length ? `, and ${span.agreeing.length} more` : "")
  );
}

function alsoSaid(span, open) {
  return element(
    "div",
    { class: "also" },
    element("h3", {}, "Also said in"),
    element(
      "ul",
      {},
      span.agreeing.map((each) => {
        const place = placeOf(each, "also said here");
        return element("li", {}, placeButton(place, () => open(place)));
      })
    )
  );
}

function duplicates(found) {
  const files = [...new Set(found.map((each) => each.document))].map(visible).join(", ");
  return `${counted(found.length, "near-duplicate")} of its passage: ${files}`;
}

const copied = (span, place) => `“${span.text.trim()}” (${citation(place)})`;

/** How much was searched and read, by what, and how long it took. */
export function footnote(record) {
  const { searched, filter } = record;
  const read = `the best ${searched.passages_read} were read${searched.passages_unread ? ", which was enough" : ""}`;
  const among = filter
    ? `${counted(filter.passages, "passage")} of ${filter.documents} of ${counted(filter.of_documents, "document")}`
    : `${counted(searched.passages, "passage")} of ${counted(searched.documents, "document")}`;
  const took = Object.values(record.timings_ms).reduce((sum, each) => sum + each, 0);
  const cached = record.cached ? "answered before" : `${(took / 1000).toFixed(took < 1000 ? 2 : 1)} s`;
  return element("p", { class: "footnote" }, `Searched ${among}; ${read}. ${record.retriever}, ${cached}.`);
}

/** The words of a question between two code points. */
export const wordOf = (question, { start, end }) => cut(question, start, end);
