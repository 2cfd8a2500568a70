// How similar each token of the question is to each token of the passage: what MaxSim takes the best of.
import { post } from "./api.js";
import { element, fill, set } from "./dom.js";
import { inLine, visible } from "./visible.js";

const WIDEST_WORD = 18;

/** Fetches and draws the map of a question and a passage, or says why there is none. */
export async function drawHeatMap(at, question, passage, options) {
  const title = element("h2", {}, "Which token matched which");
  let found;
  try {
    found = await post("/api/alignment", { question, passage }, options);
  } catch (error) {
    if (error.name === "AbortError" || ![409, 503].includes(error.status)) throw error;
    fill(at, title, element("p", { class: "quiet", id: "no-heat" }, visible(error.message)));
    return;
  }
  const best = found.similarities.map((row) => row.indexOf(Math.max(...row)));
  fill(
    at,
    title,
    element("p", { class: "quiet" }, "Rows are tokens of the question, columns those of the passage. The framed ",
      `token of each row is its best; together they make the score of the colbert stage, ${found.score.toFixed(2)}. `,
      "Words of headings are searched with the passage."),
    legend(),
    element("div", { class: "scrolls heat-scroll", tabindex: "0", role: "group", "aria-label": "Map of similarities; a table follows" },
      grid(found, best)),
    element("details", { class: "as-table" }, element("summary", {}, "As a table of the best matches"), table(found, best))
  );
}

const word = ({ text }) => visible(text.replace(/\s+/gu, " ")) || "·";
const short = (words) => (words.length > WIDEST_WORD ? `${words.slice(0, WIDEST_WORD - 1)}…` : words);

function legend() {
  const steps = [0, 0.25, 0.5, 0.75, 1].map((value) => cell(value, `similarity ${value}`, "span"));
  return element("p", { class: "heat-legend quiet", "aria-hidden": "true" }, "0 ", steps, " 1");
}

function cell(similarity, title, name = "td") {
  return set(element(name, { class: "cell", title }), { "--heat-here": Math.max(0, Math.min(1, similarity)) ** 1.5 });
}

/** The map itself, hidden from screen readers, for which the table says the same. */
function grid({ question, tokens, similarities }, best) {
  const head = tokens.map((token) =>
    element("th", { class: token.start < 0 ? "elsewhere" : null }, element("span", {}, short(word(token))))
  );
  const rows = question.map((asked, i) =>
    element(
      "tr",
      {},
      element("th", { class: asked.start < 0 ? "elsewhere" : null }, short(word(asked))),
      tokens.map((token, j) => {
        const made = cell(similarities[i][j], `${word(asked)} × ${word(token)}: ${similarities[i][j].toFixed(2)}`);
        if (best[i] === j) made.classList.add("best");
        return made;
      })
    )
  );
  return element("table", { class: "heat", id: "heat", "aria-hidden": "true" },
    element("thead", {}, element("tr", {}, element("td"), head)), element("tbody", {}, rows));
}

function table({ question, tokens, similarities }, best) {
  const named = (token) => (token.text ? inLine(token.text) : "(marker)");
  const note = (token) => (token.text && token.start < 0 ? " (in a heading)" : "");
  const rows = question.map((asked, i) =>
    element("tr", {}, element("th", { scope: "row" }, named(asked)), element("td", {}, named(tokens[best[i]]), note(tokens[best[i]])),
      element("td", {}, similarities[i][best[i]].toFixed(4)))
  );
  return element("table", { class: "figures", id: "heat-table" },
    element("caption", { class: "unseen" }, "The best match of each token of the question"),
    element("thead", {}, element("tr", {}, ["question", "best match", "similarity"].map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows));
}
