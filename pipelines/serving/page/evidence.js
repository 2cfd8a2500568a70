// What an answer rests on: its ranks in each stage of the retriever, the reader's probabilities, the evidence.
import { post } from "./api.js";
import { counted, element, fill, percent, set } from "./dom.js";
import { unitsAt } from "./offsets.js";
import { placeButton, placeOf } from "./places.js";
import { inLine, shown } from "./visible.js";

const SHOWN = 5; // passages of each ranking
const LEAST = 0.01; // of a probability that is shaded

/** Fetches and draws the evidence of a question; `open(place)` shows a place. */
export async function drawEvidence(panel, asked, { open }, options) {
  const record = await post("/api/explain", asked, options);
  const { explanation } = record;
  if (!explanation) {
    fill(panel, element("p", { class: "quiet" }, "No words were read, so there is nothing to explain."));
    return;
  }
  const span = record.answer ?? record.searched.best_rejected;
  const ours = { id: span.passage.id, mark: record.answer ? "passage of the answer" : "passage of the words that came nearest" };
  const rankings = element("div", { class: "rankings" });
  fill(
    panel,
    record.answer ? null : element("p", { class: "quiet" }, "Nothing was good enough to be an answer; this is about the words that came nearest."),
    element("section", {}, element("h2", {}, "How the passage was found"), ranksOf(explanation), rankings),
    element("section", {}, element("h2", {}, "Where the reader saw it"), ...seen(span, explanation)),
    element("section", {}, element("h2", {}, "What was weighed"), weighed(explanation))
  );
  await drawRankings(rankings, asked, record.retriever, explanation, ours, open, options);
}

/** A card for each stage: the rank and the score of the passage there. */
function ranksOf({ ranks, rank, scores }) {
  const cards = ranks.map((one) =>
    stageCard(one.stage, one.rank ? `${one.rank}` : "–", one.rank ? `of ${counted(one.depth, "passage")}` : "not found",
      one.score)
  );
  const fused = Object.entries(scores).filter(([stage]) => !ranks.some((one) => one.stage === stage));
  cards.push(...fused.map(([stage, score]) => stageCard(stage, "", "added up", score)));
  cards.push(stageCard("all together", `${rank}`, "among those read", null));
  return element("ul", { class: "stages", id: "stages" }, cards);
}

function stageCard(stage, rank, note, score) {
  return element(
    "li",
    { class: "stage", "data-stage": stage },
    element("span", { class: "stage-name" }, stage),
    rank ? element("span", { class: "rank" }, rank) : null,
    element("span", { class: "quiet" }, note),
    score === null || score === undefined ? null : element("span", { class: "score" }, `score ${score.toFixed(4)}`)
  );
}

/** The first passages of each stage beside each other, and of all of them together; that of the answer is marked. */
async function drawRankings(at, asked, retriever, explanation, ours, open, options) {
  const names = [...new Set([...explanation.ranks.map((one) => one.stage), retriever])];
  const { question, where } = asked;
  for (const name of names) {
    const { hits } = await post("/api/search", { question, where, k: SHOWN, retriever: name }, options);
    at.append(
      element(
        "div",
        { class: "ranking", "data-retriever": name },
        element("h3", {}, `First by ${name}`),
        element("ol", {}, hits.map((hit) => rankedHit(hit, hit.passage === ours.id ? ours.mark : "", open)))
      )
    );
  }
}

function rankedHit(hit, mark, open) {
  const place = placeOf({ ...hit, heading: hit.heading.slice(-1) }, "passage");
  return element(
    "li",
    { class: mark ? "ours" : null },
    placeButton(place, () => open(place), { title: hit.text.slice(0, 300) }),
    element("span", { class: "quiet" }, `${hit.score.toFixed(3)}${mark && ` · ${mark}`}`)
  );
}

/** The passage with its tokens shaded by how probably the answer begins, underlined by how it ends, there. */
function seen({ passage }, { tokens, null: none }) {
  const likely = tokens.filter(([, , begins, ends]) => Math.max(begins, ends) >= LEAST);
  const units = unitsAt(passage.text, likely.flatMap(([start, end]) => [start - passage.start, end - passage.start]));
  const parts = [];
  let at = 0;
  for (const [i, [, , begins, ends]] of likely.entries()) {
    const [from, to] = [units[2 * i], units[2 * i + 1]];
    if (from < at) continue;
    parts.push(shown(passage.text.slice(at, from)));
    const title = `begins here: ${percent(begins)}, ends here: ${percent(ends)}`;
    const token = element("span", { class: "token", title }, shown(passage.text.slice(from, to)));
    parts.push(set(token, { "--begins": begins.toFixed(3), "--ends-here": ends.toFixed(3) }));
    at = to;
  }
  parts.push(shown(passage.text.slice(at)));
  return [
    element("p", { class: "legend quiet" }, element("span", { class: "key begins" }), " the answer begins here ",
      element("span", { class: "key ends" }), " it ends here; point at a word for figures"),
    element("div", { class: "passage", dir: "auto" }, parts),
    element("p", { class: "quiet" }, `“No answer” in this passage: begins ${percent(none.p_start)}, ends ${percent(none.p_end)}.`),
  ];
}

function weighed({ evidence, confidence }) {
  const rows = Object.entries(evidence.features);
  const most = Math.max(...rows.map(([, one]) => Math.abs(one.contribution)), 1e-9);
  const cells = (one) => [one.value, one.weight, one.contribution].map((value) => element("td", {}, value.toFixed(3)));
  const bar = ({ contribution }) =>
    element("td", { class: "bar-cell", "aria-hidden": "true" },
      set(element("span", { class: contribution < 0 ? "against" : "for" }), { "--share": Math.abs(contribution) / most }));
  return element(
    "div",
    { class: "scrolls" },
    element(
      "table",
      { class: "figures" },
      element("thead", {}, element("tr", {}, ["feature", "value", "weight", "product", ""].map((name) => element("th", {}, name)))),
      element("tbody", {}, rows.map(([name, one]) => element("tr", {}, element("th", { scope: "row" }, inLine(name)), cells(one), bar(one)))),
      element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, "evidence"), element("td"), element("td"),
        element("td", {}, evidence.evidence.toFixed(3)), element("td")))
    ),
    confidence
      ? element("p", { class: "quiet" }, `The evidence was fitted to a confidence of ${percent(evidence.confidence)}; `,
        `below ${percent(confidence.threshold)} a question is declined.`)
      : null
  );
}

