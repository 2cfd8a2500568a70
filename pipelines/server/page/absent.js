// "Not in these documents": what was searched, which words stand nowhere, what came nearest and why not.
import { footnote } from "./answer.js";
import { confidenceMeter } from "./confidence.js";
import { element, fill } from "./dom.js";
import { nearestSection } from "./nearest.js";
import { unitsAt } from "./offsets.js";
import { placeButton, placeOf } from "./places.js";
import { inLine, visible } from "./visible.js";

/** Draws a declined question; `open(places, number)` shows a place, `ask(question)` asks another one. */
export function drawAbsent(panel, record, { open, ask }) {
  const { rejected, unknown_words: unknown } = record.searched;
  const places = rejected.map((span) => placeOf(span, "rejected"));
  const nothing = record.filter && record.filter.passages === 0;
  fill(
    panel,
    element(
      "article",
      { class: "card absent" },
      element("h2", { id: "absent" }, "Not in these documents"),
      nothing ? element("p", {}, "The filters leave no document to search.") : null,
      footnote(record),
      unknown.length ? element("ul", { class: "unknown" }, unknown.map((word) => unknownWord(word, record, ask))) : null
    ),
    record.nearest.length ? nearestSection(record.nearest, open) : null,
    rejected.length
      ? element(
          "section",
          { class: "others" },
          element("h2", {}, rejected.length > 1 ? "Came nearest, but rejected" : "Came nearest, but was rejected"),
          rejected.map((each, number) => rejection(each, () => open(places, number)))
        )
      : null
  );
}

function unknownWord(word, record, ask) {
  const told = ["“", ...inLine(word.text), "” stands in none of the documents."];
  if (!word.nearest) return element("li", {}, told);
  const [from, to] = unitsAt(record.question, [word.start, word.end]);
  const mended = record.question.slice(0, from) + word.nearest.text + record.question.slice(to);
  return element(
    "li",
    {},
    told,
    " Did you mean ",
    element("button", { type: "button", class: "inline", onclick: () => ask(mended) }, visible(word.nearest.text)),
    "?"
  );
}

function rejection(span, open) {
  return element(
    "article",
    { class: "card rejected" },
    element("p", { class: "words", dir: "auto" }, inLine(span.text)),
    placeButton(placeOf(span, "rejected"), open),
    confidenceMeter(span.confidence, span.threshold, true),
    span.reasons.length
      ? element("ul", { class: "reasons" }, span.reasons.map((reason) => element("li", {}, inLine(reason))))
      : null
  );
}
