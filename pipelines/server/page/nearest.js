// Passages to look at where there is no answer: where each stands, its first words, and a button that opens it.
import { element } from "./dom.js";
import { placeButton, placeOf } from "./places.js";
import { inLine } from "./visible.js";

const FIRST = 240; // characters; the style sheet shows two lines of them
const LONGEST_WORD = 20; // that is left out rather than broken

/** A section that lists the hits, best first; `open(places, number)` shows one among them. */
export function nearestSection(hits, open) {
  const places = hits.map((hit) => placeOf(hit, "passage to look at"));
  const row = (hit, number) =>
    element(
      "li",
      {},
      placeButton(places[number], () => open(places, number)),
      element("p", { class: "words", dir: "auto" }, inLine(firstWords(hit)))
    );
  return element("section", { class: "others nearest", "aria-label": "Passages to look at" },
    element("h2", {}, "Passages to look at"), element("ul", {}, hits.map(row)));
}

/** How a passage begins, without headings that its place names already. */
function firstWords({ text, heading }) {
  const lines = text.split("\n");
  const isHeading = (line) => ["", ...heading].includes(line.replace(/^[\s#]+|[\s#]+$/gu, ""));
  const first = lines.findIndex((line) => !isHeading(line));
  const words = [...lines.slice(Math.max(first, 0)).join(" ").replace(/\s+/gu, " ").trim()];
  if (words.length <= FIRST) return words.join("");
  const cut = words.slice(0, FIRST).join("").trimEnd();
  const space = cut.lastIndexOf(" ");
  return `${space > cut.length - LONGEST_WORD ? cut.slice(0, space) : cut} …`;
}
