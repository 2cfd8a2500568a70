// A summary, sentence by sentence as it is checked, each with the places that it stands on.
import { post } from "./api.js";
import { counted, element, fill } from "./dom.js";
import { nearestSection } from "./nearest.js";
import { citation, placeOf } from "./places.js";
import { say } from "./status.js";
import { inLine, visible } from "./visible.js";

/** Draws the choice of a length and streams a summary; `open(places, number)` shows a citation. */
export async function drawSummary(panel, asked, length, { open, again }, options) {
  const sentences = element("div", { class: "sentences", id: "sentences", dir: "auto" });
  const rest = element("div", { id: "summary-rest" });
  const title = asked.document ? element("p", { class: "kind" }, "Summary of ", inLine(asked.document)) : null;
  fill(panel, lengths(length, again), element("article", { class: "card" }, title, sentences, rest));
  const cited = [];
  const summary = await post("/api/summarize", { ...(asked.document ? asked : { question: asked.question, where: asked.where }), max_sentences: { short: 2, medium: 5, long: 10 }[length] }, options);
  sentences.append(...summary.sentences.map((one) => sentence(one, cited, open)));
  drawWhole(sentences, rest, summary, cited, open);
  say(summary.sentences.length ? `Summary of ${counted(summary.sentences.length, "sentence")}` : "Nothing can be said to that");
}

/** What is known at the end: dropped sentences, contradictions, what was left out. */
function drawWhole(sentences, rest, summary, cited, open) {
  if (!summary.sentences.length) {
    fill(sentences, element("h2", {}, "Nothing in these documents can be said to that"));
    if (summary.nearest.length) rest.append(nearestSection(summary.nearest, open));
  } else {
    rest.append(citations(cited, open));
  }
  const notes = [];
  if (summary.dropped.length) notes.push(`${counted(summary.dropped.length, "sentence")} dropped: nothing carries what they say.`);
  const by = summary.generator === "extractive" ? "Sentences are quoted" : `Written by ${visible(summary.generator)}`;
  notes.push(`${by} from ${counted(summary.passages, "passage")}.`);
  rest.append(element("p", { class: "footnote" }, notes.join(" ")));
}

function sentence({ text, citations: found, verdict, findings }, cited, open) {
  const numbers = [];
  for (const one of found) {
    if (!cited.some((place) => place.number === one.number)) cited.push({ ...placeOf(one, "cited"), number: one.number });
    if (!numbers.includes(one.number)) numbers.push(one.number);
  }
  const told = findings.map((one) => `${one.words}: ${one.reason}`).join("; ");
  return element(
    "p",
    { class: findings.length ? "doubted" : null },
    inLine(text),
    numbers.map((number) => reference(number, cited, open)),
    told ? element("span", { class: "finding" }, `${verdict}: ${visible(told)}`) : null
  );
}

function reference(number, cited, open) {
  const at = () => cited.findIndex((place) => place.number === number);
  return element(
    "button",
    { type: "button", class: "reference", title: citation(cited[at()]), "aria-label": `Citation ${number}: ${citation(cited[at()])}`,
      onclick: () => open(cited, at()) },
    String(number)
  );
}

function citations(cited, open) {
  const rows = [...cited].sort((a, b) => a.number - b.number).map((place) =>
    element("li", { value: place.number },
      element("button", { type: "button", class: "inline", onclick: () => open(cited, cited.indexOf(place)) }, citation(place))));
  return element("ol", { class: "citations" }, rows);
}

function lengths(chosen, again) {
  const button = (name) =>
    element("button", { type: "button", "aria-pressed": String(name === chosen), onclick: () => again(name) }, name);
  return element("div", { class: "switch", role: "group", "aria-label": "Length of the summary" }, ["short", "medium", "long"].map(button));
}
