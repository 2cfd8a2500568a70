// The page: a question is asked, its answer drawn, its place opened in the document next to it.
import { byId, button, centre, citation, counted, cut, element, fill, get, inLine, keep, kept, note, openFile, percent, placeButton, placeOf, post, putFile,
  save, shown, style, trouble, unitsAt, visible } from "./dom.js";
import { isMarkdown, markdown } from "./markdown.js";
import { closeDocument, drawing, isOpen, listen as onDocument, narrow, openPlace, step } from "./document.js";

const ALTERNATIVES = 4;
const CELLS = 20; // that are listed of a computed value
const STEPS = 15; // items of a list
const TABS = ["answer", "summary", "passages"];
const MAX_HISTORY = 50;
const LENGTHS = { short: 2, medium: 5, long: 10 }; // sentences of a summary
const LISTED = 60; // documents on the first page
const FOLLOW_MS = 5000; // between two looks at the size of the index
const PAUSE_MS = 1000; // between two letters of a question
const COPY_MS = 350; // in which another letter shows that a question begins with "c"
const FIRST = 240; // characters of a passage; the style sheet shows two lines
const panel = (name) => byId(`panel-${name}`);

let asked = null; // {question, where, history}
let turns = kept("conversation", [], "sessionStorage"); // {question, where, isAlone, understood, answer, shown, place}
let turn = 0; // the place of the question among them
let record = null; // its answer
let choices = []; // its spans, each with its places
let chosen = 0;
let tab = "answer";
let drawn = new Set(); // tabs that belong to the question
let giveUp = null;
let unreadNamed = 0; // files
let readers = ["builtin"]; // that the server offers; the first one is its choice
let reader; // that is chosen

// Progress and errors

const say = (words) => (byId("live").textContent = visible(words));

/** Runs a task that can be given up; a new task gives up the one before. */
async function work(label, task, again) {
  giveUp?.abort();
  const mine = (giveUp = new AbortController());
  const [bar, began] = [byId("progress"), performance.now()];
  let words = label;
  const draw = () => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    bar.querySelector("span").textContent = seconds ? `${words} ${seconds} s` : words;
    bar.hidden = false;
  };
  const timer = setInterval(draw, 250);
  bar.onclick = () => mine.abort();
  document.body.setAttribute("aria-busy", "true");
  byId("notice").hidden = true;
  say(label);
  draw();
  try {
    await task({ signal: mine.signal, onwait: () => (words = "The server is busy; waiting…") });
  } catch (error) {
    complain(error, again);
  } finally {
    clearInterval(timer);
    if (giveUp === mine) {
      giveUp = null;
      bar.hidden = true;
      document.body.removeAttribute("aria-busy");
    }
  }
}

function complain(error, again) {
  say("");
  if (error.name === "AbortError") return;
  fill(byId("notice"), element("strong", {}, error.status ? "The request failed" : "No response"),
    element("p", {}, visible(error.message ?? String(error))), again && button("Try again", again, { class: "plain" })).hidden = false;
  if (!("status" in error)) console.error(error);
}

// Questions

async function ask(question, where = readFilter(), wanted = "answer", number = turns.length, isAlone = false) {
  if (!question.trim()) return byId("question").focus();
  turn = Math.min(number, turns.length);
  turns[turn] = { question: question.trim(), where, isAlone: isAlone || Boolean(turns[turn]?.isAlone) };
  asked = { question: question.trim(), where, history: before(turn) };
  drawTurns();
  byId("question").value = asked.question;
  if (document.activeElement === byId("question")) byId("question").select(); // what is typed next takes its place
  writeFilter(where);
  record = null;
  drawn = new Set();
  for (const name of TABS) panel(name).replaceChildren();
  await show(wanted);
  if (tab !== "answer") present();
}

/** Brings a drawn answer into view, and the keys to it unless the next question is being typed. */
function present() {
  const box = byId("question");
  if (document.activeElement === box && box.value === asked.question) panel(tab).focus({ preventScroll: true });
  if (turn || !byId("uploads").hidden) byId("tabs").scrollIntoView();
}

/** The turns of the conversation before a question, from the last one that was asked as typed. */
function before(number) {
  if (turns[number].isAlone) return [];
  const first = turns.slice(0, number).findLastIndex((one) => one.isAlone);
  return turns.slice(Math.max(first, 0), number).flatMap(({ question, answer }) =>
    [{ role: "user", content: question }, { role: "assistant", content: answer ?? "" }]);
}

/** Draws the questions and answers before the present one, and how that was understood. */
function drawTurns() {
  fill(byId("turns"), turns.slice(0, turn).map((one, at) => element("li", {},
    button(visible(one.question), () => ask(one.question, one.where, "answer", at), { class: "asked", dir: "auto" }),
    element("p", { class: "words", dir: "auto" }, visible(one.shown || "no answer")),
    one.place && placeButton(one.place, () => openAt([one.place], 0)))));
  const { question, where, understood } = turns[turn] ?? {};
  byId("turns").hidden = !turn;
  byId("new").hidden = !turns.length;
  fill(byId("understood"), understood && ["Understood as: ", element("b", { dir: "auto" }, visible(understood)), " ",
    button("Ask as typed", () => ask(question, where, tab, turn, true), { class: "plain", id: "as-typed" })]).hidden = !understood;
}

/** Keeps how a question was understood, and its answer, until the tab is closed. */
function keepTurn({ understood }, result) {
  turns[turn] = { ...turns[turn], ...result, understood };
  keep("conversation", turns, "sessionStorage");
  drawTurns();
}

function newConversation() {
  turns = [];
  turn = 0;
  keep("conversation", turns, "sessionStorage");
  history.pushState(null, "", location.pathname);
  followAddress();
  byId("question").focus();
}

const DRAW = { answer, summary: () => summarize("medium"), passages };

/** Shows a tab, and fills it unless that was done for this question. */
async function show(name) {
  goTo(name);
  byId("welcome").hidden = true;
  byId("tabs").hidden = false;
  if (!asked || drawn.has(name)) return;
  drawn.add(name);
  await DRAW[name]();
}

/** Shows a panel and writes the question into the address. */
function goTo(name) {
  tab = TABS.includes(name) ? name : "answer";
  for (const each of TABS) {
    byId(`tab-${each}`).setAttribute("aria-selected", String(each === tab));
    byId(`tab-${each}`).tabIndex = each === tab ? 0 : -1;
    panel(each).hidden = each !== tab;
  }
  if (!asked) return;
  const found = new URLSearchParams({ q: asked.question });
  for (const [field, values] of Object.entries(asked.where)) for (const value of [values].flat()) found.append(field, value);
  if (turn) found.set("turn", turn);
  if (tab !== "answer") found.set("tab", tab);
  if (location.hash !== `#${found}`) history.pushState(null, "", `#${found}`);
  document.title = `${visible(asked.question)} – spanwise`;
}

/** Asks the question of the address; without one it shows the first page. All of it is behind "#", which no server sees. */
function followAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  if (found.get("q")?.trim()) {
    const lists = ["paths", "types"].map((name) => [name, found.getAll(name)]);
    const dates = ["after", "before"].map((name) => [name, found.get(name)]);
    const number = turns[found.get("turn") ?? 0]?.question === found.get("q").trim() ? Number(found.get("turn")) : turns.length;
    return ask(found.get("q"), Object.fromEntries([...lists, ...dates].filter(([, value]) => value?.length)), found.get("tab") ?? "answer", number);
  }
  giveUp?.abort();
  asked = record = null;
  for (const name of ["new", "turns", "understood"]) byId(name).hidden = true;
  for (const name of TABS) panel(name).hidden = true;
  byId("tabs").hidden = true;
  byId("welcome").hidden = false;
  byId("question").value = "";
  document.title = "spanwise";
  closeDocument();
}

// Answers

async function answer() {
  byId("submit").disabled = true;
  await ready;
  const wanted = reader ?? readers[0];
  let answered = wanted;
  const get = async (name, options) => {
    record = await post("/api/ask", { ...asked, alternatives: ALTERNATIVES, reader: name }, options);
    const nearest = record.candidates[0];
    const span = record.answer ?? record.computed?.first ?? nearest;
    const said = record.written.map((one) => one.text).join(" ");
    const quoted = span && `${span === nearest ? "Not sure; the nearest: " : ""}${span.display_sentence}`;
    keepTurn(record, { answer: said || record.answer?.sentence, shown: said || (record.computed?.value ?? quoted), place: span && placeOf(span, "answer") });
    if (said) drawWritten();
    else if (record.answer) drawAnswer();
    else if (record.computed) drawComputed(record.computed);
    else drawDeclined();
    if (name !== wanted || !isModel(wanted)) present();
    if (readers.length > 1 || isModel(wanted)) panel("answer").prepend(switchOf(wanted, name));
    answered = record.failure ? "builtin" : name;
  };
  if (isModel(wanted)) await work("Reading the documents…", (options) => get("builtin", options));
  byId("submit").disabled = !isModel(wanted); // another question gives the model up
  await work(isModel(wanted) ? `${visible(wanted)} reads the passages…` : "Reading the documents…", (options) => get(wanted, options), () => again("answer"));
  byId("waiting")?.remove();
  for (const each of byId("readers")?.children ?? []) each.setAttribute("aria-pressed", String(each.textContent === visible(answered)));
  byId("submit").disabled = false;
}

const isModel = (name) => /^(ollama|openai|hf):|\.gguf$|^local$/.test(name);

/** A switch between the readers, and a note while the answer of the built-in one waits for that of a model. */
function switchOf(wanted, answered) {
  const names = [...new Set([...readers, "builtin"])];
  const pick = (name) => button(visible(name), () => ((reader = name), again("answer")), { "aria-pressed": String(name === wanted) });
  return element("div", { class: "readers" }, element("div", { class: "switch", id: "readers", role: "group", "aria-label": "What reads the passages" }, names.map(pick)),
    answered !== wanted && element("p", { class: "quiet", id: "waiting" }, "The built-in reader; the answer of the model takes its place."));
}

/** Sentences with the numbers of their citations, the places of these, and a list of both. */
function sentencesOf(list) {
  const found = new Map(list.flatMap((one) => one.citations).map((one) => [one.number, placeOf(one, "cited")]));
  const numbers = [...found.keys()].sort((a, b) => a - b);
  const cited = numbers.map((number) => found.get(number));
  const reference = (number) => button(String(number), () => openAt(cited, numbers.indexOf(number)),
    { class: "reference", title: citation(found.get(number)), "aria-label": `Citation ${number}: ${citation(found.get(number))}` });
  const words = (one) => (one.is_quote && rendered(one.citations[0].document, one.citations[0].text)) || element("p", {}, underlined(one));
  const sentence = (one) => element("div", { class: "sentence markdown" }, words(one), [...new Set(one.citations.map(({ number }) => number))].map(reference));
  const quotes = new Map(list.flatMap((one) => one.citations).map((one) => [one.number, one]));
  const row = (place, at) => {
    const { display, date } = quotes.get(numbers[at]);
    return element("li", { value: numbers[at] }, button(citation(place), () => openAt(cited, at), { class: "inline" }),
      !list.some((one) => one.is_quote) && element("p", { class: "words", dir: "auto" }, `“${visible(display)}”`, date && ` (${date})`));
  };
  return { cited, sentences: list.map(sentence), places: cited.length > 0 && element("ol", { class: "citations" }, cited.map(row)) };
}

/** The words of a sentence; those that its passages do not have are underlined. */
function underlined({ text, display, underlined: others }) {
  const parts = (display ?? text).split(/([\p{L}\p{N}]+)/u);
  return parts.map((part) => (others.includes(part) ? element("u", { title: "The cited passages do not have this word" }, part) : shown(part)));
}

/** Draws the sentences of a model, what they cite, and what is known of them. */
function drawWritten() {
  const { model, written, answer: best } = record;
  const { cited, sentences, places } = sentencesOf(written);
  const agrees = { true: "agrees", false: "quotes something else", null: "is not sure" }[model.agrees];
  const status = { partly: " It is a part of the answer.", conflict: " Documents contradict each other." }[model.status] ?? "";
  const matches = [...new Set(written.flatMap((one) => one.citations).map((one) => one.match))].join(", ");
  const dropped = model.dropped.length ? ` ${counted(model.dropped.length, "sentence")} dropped.` : "";
  choices = [{ span: best, places: cited }];
  fill(panel("answer"),
    element("article", { class: "card best", id: "written" },
      element("p", { class: "kind" }, "Answer", best?.verdict && `: ${best.verdict}`, ` by ${visible(model.use.name)}`),
      element("div", { class: "sentences", id: "sentences", dir: "auto" }, sentences), places,
      note(`Words found: ${matches}. The built-in reader ${agrees}.${status}${dropped}`),
      element("div", { class: "actions" },
        button("Copy with citations", () => copy(written.map((one) => one.text).join(" ") + cited.map((place, at) => `\n[${at + 1}] ${citation(place)}`).join(""), "Copied with its citations."), { class: "plain", id: "copy" }),
        button("Copy link", () => copy(linkAlone(), "Copied the link to this question."), { class: "plain", id: "link" }))),
    footnote());
  say(`Answer: ${written.map((one) => one.text).join(" ")}`);
  remember(written[0].text);
  if (narrow.matches) closeDocument();
  else openPlace(cited, 0);
}

function again(name) {
  drawn.delete(name);
  show(name);
}

function drawAnswer() {
  choices = [record.answer, ...unseen(record)].map((span, number) => ({ span, places: [
    placeOf(span, number ? "other answer" : "answer"), ...span.agreeing.map((each) => placeOf(each, "also here"))] }));
  fill(panel("answer"),
    element("article", { class: "card best", id: "best" }),
    choices.length > 1 && element("section", { class: "others", "aria-label": "Other answers" },
      element("h2", {}, "Other answers ", element("span", { class: "keys" }, element("kbd", {}, "↑"), element("kbd", {}, "↓"))),
      element("ol", { id: "choices" }, choices.map(({ span }, number) => element("li", {}, choice(span, number))))),
    footnote());
  const { confidence, verdict, display: text } = record.answer;
  say(`Answer: ${verdict ? `${verdict}: ` : ""}${text}, in ${citation(choices[0].places[0])}${confidence === null ? "" : `, confidence ${percent(confidence)}`}.`);
  remember(text);
  if (narrow.matches) closeDocument();
  choose(0);
}

/** The alternatives whose words and sentence are not shown above them. */
function unseen({ answer: best, parts, alternatives }) {
  const above = [best, ...parts].map(folded);
  return alternatives.filter((span) => !above.some(([text, sentence]) => text === folded(span)[0] || sentence.includes(folded(span)[1]) ||
    folded(span)[1].includes(sentence)) && above.push(folded(span)));
}

const folded = (span) => [span.display.toLowerCase(), span.display_sentence.toLowerCase()];

function choice(span, number) {
  const parts = [span.confidence !== null && percent(span.confidence), visible(span.document)].filter(Boolean).join(" · ");
  return button([element("span", { class: "words", dir: "auto" }, inLine(span.display)),
    element("span", { class: "quiet" }, parts, span.agreeing.length > 0 && `, and ${span.agreeing.length} more`)],
  () => choose(number), { class: "choice" });
}

/** Draws a chosen answer in the card and opens its place. */
function choose(number) {
  if (!record?.answer || record.written.length || number < 0 || number >= choices.length) return false;
  chosen = number;
  const { span, places } = choices[number];
  const table = number === 0 && record.table;
  fill(byId("best"),
    element("p", { class: "kind" }, number ? "Another answer" : "Answer", span.verdict && `: ${span.verdict}`,
      span.verdict_confidence && ` (${percent(span.verdict_confidence)})`, span.date && `, ${span.date}`),
    element("blockquote", { class: "quote markdown", dir: "auto", id: "quote" },
      table ? element("mark", { class: "span", id: "span" }, inLine(span.display)) : inSentence(span)),
    table && tablePart(table),
    placeButton(places[0], () => openAmong(places[0]), { id: "open-place" }),
    confidenceMeter(span.confidence, record.threshold),
    number === 0 && record.steps.length > 0 && element("ol", { id: "steps" }, stepPlaces(span).slice(0, STEPS).map((place, at, all) =>
      element("li", { dir: "auto" }, button(inLine(record.steps[at].display), () => openAt(all, at), { class: "inline" })))),
    number === 0 && record.steps.length > STEPS && note(`and ${record.steps.length - STEPS} more`),
    number === 0 && alsoSaid("More of the answer", record.parts.slice(1)),
    number === 0 && alsoSaid("Otherwise", record.otherwise),
    number === 0 && evidence(),
    span.agreeing.length > 0 && element("div", { class: "also" }, element("h3", {}, "Also in"),
      element("ul", {}, places.slice(1).map((place) => element("li", {}, placeButton(place, () => openAmong(place)))))),
    span.duplicates.length > 0 && note(`Near-duplicates of its passage: ${[...new Set(span.duplicates.map((one) => visible(one.document)))].join(", ")}`),
    element("div", { class: "actions" },
      button("Copy with citation", () => copy(`“${span.display}” (${citation(places[0])})`, "Copied with its citation."), { class: "plain", id: "copy" }),
      button("Open the file", () => openFile(span.document).catch(complain), { class: "plain", id: "file" }),
      button("Copy link", () => copy(linkAlone(), "Copied the link to this question."), { class: "plain", id: "link" })));
  [...byId("choices")?.querySelectorAll("button") ?? []].forEach((each, at) => (each.parentElement.hidden = at === number));
  if (number) say(`Answer ${number + 1} of ${choices.length}: ${span.display}`);
  if (!narrow.matches || isOpen()) openPlace(allPlaces(), allPlaces().indexOf(places[0]));
  return true;
}

/** The rows of a table around a cell, with its row, its column and itself marked. */
function tablePart({ columns, rows, row, column }) {
  const chosen = (is) => is && "chosen";
  const cell = (words, y, x) => (y === row && x === column ? element("mark", { class: "span" }, inLine(words)) : inLine(words));
  return element("div", { class: "table", tabindex: "0" }, element("table", {},
    element("thead", {}, element("tr", {}, columns.map((name, x) => element("th", { scope: "col", class: chosen(x === column) }, inLine(name))))),
    element("tbody", {}, rows.map((cells, y) => element("tr", { class: chosen(y === row) }, cells.map((words, x) => element("td", { class: chosen(x === column) }, cell(words, y, x))))))));
}

/** The address of the question without its conversation. */
function linkAlone() {
  const found = new URLSearchParams(location.hash.slice(1));
  found.delete("turn");
  found.set("q", record.understood || asked.question);
  return `${location.origin}${location.pathname}#${found}`;
}

/** Further spans under a heading, each with its date and a button to its place. */
function alsoSaid(title, spans) {
  const places = spans.map((span) => placeOf(span));
  const item = (span, at) => element("li", {}, inLine(span.display), span.date && ` (${span.date})`, " ",
    placeButton(places[at], () => openAt(places, at)));
  return spans.length > 0 && element("div", { class: "also" }, element("h3", {}, title), element("ul", {}, spans.map(item)));
}

const stepPlaces = (span) => record.steps.map((step) => placeOf({ document: span.document, heading: span.heading, ...step }, "step"));
const allPlaces = () => choices.flatMap((one) => one.places);
const openAt = (places, number) => openPlace([...places], number, { focus: true });
const openAmong = (place) => openAt(allPlaces(), allPlaces().indexOf(place));

const OTHER = /<[a-z/!%]|\{[{%]|&#?\w+;/i; // markup that is taken out of plain words
const HALF = /\*\*|__|\][([]/; // remains of markup that a quote cuts

/** The blocks of a quote from Markdown; null where its plain words are better. */
function rendered(name, text, spans = [], first = 0, last = text.length) {
  const blocks = isMarkdown(name) && !OTHER.test(text.slice(first, last)) ? markdown(text, 0, text.length, drawing(text, spans, first, last)) : [];
  return blocks.length && !blocks.some((block) => HALF.test(block.textContent)) ? blocks : null;
}

/** The sentence with the answer marked in it, both as they are shown. */
function inSentence({ document: name, display, display_sentence: sentence, passage, ...answer }, id = "span") {
  const [from, to] = unitsAt(passage.text, [answer.start - passage.start, answer.end - passage.start]);
  const first = passage.text.lastIndexOf(answer.sentence, from);
  const blocks = first >= 0 && rendered(name, passage.text, [{ from, to }], first, first + answer.sentence.length);
  const marked = blocks && fill(element("div"), blocks).querySelector("mark");
  if (marked && id) marked.id = id;
  if (marked) return blocks;
  const [before, ...after] = sentence.split(display);
  const mark = element("mark", { class: "span", id }, shown(display));
  return after.length ? [shown(before), mark, shown(after.join(display))] : [mark];
}

const SURE = [[0.9, "very likely right"], [0.7, "likely right"], [0.5, "more likely right than wrong"], [0.25, "rather uncertain"], [0, "very uncertain"]];

/** The confidence in per cent and words, a bar with the threshold, and an explanation. */
function confidenceMeter(confidence, threshold, declined = false) {
  if (confidence === null) return note("No confidence: this is looked up, or the reader is not calibrated.");
  const bar = style(element("span", { class: "bar", "aria-hidden": "true" }, element("span", { class: "filled" })), { "--share": confidence });
  const hasThreshold = threshold !== null && threshold !== undefined;
  if (hasThreshold) bar.append(style(element("span", { class: "threshold", title: `Threshold: ${percent(threshold)}` }), { "--threshold": threshold }));
  const words = declined ? "below the threshold" : SURE.find(([least]) => confidence >= least)[1];
  return element("div", { class: `confidence${declined ? " declined" : ""}` },
    element("p", { class: "sure" }, element("strong", {}, percent(confidence)), ` ${words}`), bar,
    element("details", {}, element("summary", {}, "What this means"),
      element("p", {}, `Confidence is calibrated on held-out questions: of the answers with about this confidence, ${Math.round(confidence * 100)} in 100 `,
        "were right. Your documents and questions may be easier or harder."),
      hasThreshold && element("p", {}, `Below ${percent(threshold)}, the mark on the bar, a question is declined.`)));
}

/** The ranks of the passage in each stage and the features of its answer; fetched when it is opened. */
function evidence() {
  const [body, of] = [element("div", { class: "evidence" }, note("Explaining…")), { ...asked, alternatives: ALTERNATIVES }];
  const load = async () => {
    const { explanation: found } = await post("/api/explain", of);
    const rows = Object.entries(found.evidence.features);
    const most = Math.max(...rows.map(([, one]) => Math.abs(one.contribution)), 1e-9);
    const stages = [...found.ranks, { stage: "together", rank: found.rank, score: null }];
    fill(body,
      element("ul", { class: "stages" }, stages.map(({ stage, rank, score }) => element("li", {}, element("span", { class: "stage" }, stage),
        element("span", { class: "rank" }, rank ? `${rank}` : "–"), score !== null && note(`score ${score.toFixed(3)}`)))),
      element("table", { class: "figures" }, element("thead", {}, element("tr", {}, ["feature", "value", "weight", "product", ""].map((name) => element("th", {}, name)))),
        element("tbody", {}, rows.map(([name, one]) => element("tr", {}, element("th", { scope: "row" }, name.replaceAll("_", " ")),
          [one.value, one.weight, one.contribution].map((value) => element("td", {}, value.toFixed(3))),
          element("td", { "aria-hidden": "true" }, style(element("span", { class: one.contribution < 0 ? "against" : "for" }),
            { "--share": Math.abs(one.contribution) / most }))))),
        element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, "evidence"), element("td"), element("td"),
          element("td", {}, found.evidence.evidence.toFixed(3)), element("td")))));
  };
  const ontoggle = () => body.querySelector(".figures") || load().catch((error) => fill(body, trouble(error.message)));
  return element("details", { id: "evidence", ontoggle }, element("summary", {}, "Evidence"), body);
}

/** The words that were searched instead of misspelled ones, unread files where nothing near was found, once, and a hint. */
function spelling({ searched_for: words, unread_files: unread, hint, candidates = [] }) {
  const instead = words.map(({ text, used }) => note(`Searched for “${visible(used)}” instead of “${visible(text)}”.`));
  const isNews = unread > 0 && unread !== unreadNamed && !candidates.length;
  if (isNews) unreadNamed = unread;
  return [...instead, isNews && note(`${counted(unread, "file")} could not be read: spanwise status --rejected`), hint && note(`${hint}.`)];
}

function footnote() {
  const { searched, filter, retriever, cached } = record;
  const among = filter
    ? `${counted(filter.passages, "passage")} of ${filter.documents} of ${counted(filter.of_documents, "document")}`
    : `${counted(searched.passages, "passage")} of ${counted(searched.documents, "document")}`;
  const seconds = Object.values(record.timings_ms).reduce((sum, each) => sum + each, 0) / 1000;
  const took = cached ? "answered before" : `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  const line = element("p", { class: "footnote" }, `Searched ${among}; read the best ${searched.passages_read}. ${retriever}, ${took}.`);
  return [record.note && note(`${record.note}.`), ...spelling(record), record.partial && note(`Partial: ${visible(record.partial)}.`), record.failure && note(`${visible(record.failure)}.`), line];
}

/** A value with the cells from which it is computed, or all documents that mention the words; each opens its place. */
function drawComputed({ operation, value, cells, first, words, documents }) {
  const places = words ? documents.map((each) => placeOf(each.places[0], "mention"))
    : cells.map((cell, at) => placeOf(at ? { document: first.document, heading: first.heading, ...cell } : first, "cell"));
  const shown = words ? places : places.slice(0, CELLS);
  fill(panel("answer"),
    element("article", { class: "card best", id: "computed" },
      element("p", { class: "kind" }, words ? `All documents with “${visible(words)}”` : `Computed: ${operation} of ${counted(cells.length, "cell")}`),
      element("blockquote", { class: "quote", dir: "auto" }, visible(value)),
      !words && placeButton(places[0], () => openAt(places, 0)),
      !words && confidenceMeter(first.confidence, record.threshold),
      element("ol", { class: "cells" }, shown.map((place, at) => element("li", { dir: "auto" },
        words ? [placeButton(place, () => openAt(places, at)), note(counted(documents[at].count, "place"))]
          : [button(inLine(place.text), () => openAt(places, at), { class: "inline" }), element("span", { class: "quiet" }, " ", inLine(cells[at].name))]))),
      places.length > shown.length && note(`and ${places.length - shown.length} more`),
      words && documents.length > 0 && button("Save the list as CSV", () => saveList(documents), { class: "plain" })),
    footnote());
  say(places.length ? `${value}, in ${citation(places[0])}.` : `${value}.`);
  remember(value);
  if (places.length && !narrow.matches) openPlace(places, 0);
  else closeDocument();
}

function saveList(documents) {
  const field = (value) => `"${String(value).replace(/^[=+@-]/, "'$&").replaceAll('"', '""')}"`; // a quote is no formula
  const rows = documents.map(({ document: name, count, places: [first] }) => [name, count, first.line ?? "", first.page ?? "", first.display_sentence]);
  const lines = [["document", "places", "line", "page", "first"], ...rows].map((row) => row.map(field).join(","));
  save(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }), "list.csv");
}

/** A declined question: candidates, passages to look at, and words that no document mentions. */
function drawDeclined() {
  const { candidates, nearest, hint, searched: { unknown_words: unknown } } = record;
  const places = candidates.map((span) => placeOf(span, "candidate"));
  const { model, searched } = record;
  const none = model ? `The model found no answer in the ${counted(model.passages, "passage")} that it read (of ${searched.passages})` : "Not in these documents";
  const verdict = candidates.length && !model ? "Not sure; the nearest" : none;
  const mentions = hint ? "" : unknown.map(({ text }) => `“${visible(text)}”`).join(" or ");
  fill(panel("answer"),
    element("article", { class: "card absent" }, element("h2", { id: "absent" }, verdict),
      record.filter?.passages === 0 && element("p", {}, `The filter matches 0 of ${counted(record.filter.of_documents, "document")}.`,
        record.filter.nearest_path && ` Did you mean the path ${visible(record.filter.nearest_path)}?`),
      mentions && element("p", { class: "unknown" }, `No document mentions ${mentions}.`),
      footnote()),
    candidates.map((span, number) => element("article", { class: "card candidate" },
      element("div", { class: "words markdown", dir: "auto" }, inSentence(span, null)),
      placeButton(places[number], () => openAt(places, number)),
      span.confidence !== null && confidenceMeter(span.confidence, record.threshold, true))),
    nearest.length > 0 && passageSection("Passages to look at", nearest));
  if (candidates.length && !narrow.matches) openPlace(places, 0);
  else closeDocument();
  say(`${verdict}. ${candidates.length ? counted(candidates.length, "candidate") : counted(nearest.length, "passage")} to look at.`);
  remember(verdict.toLowerCase());
}

/** A section of passages, each with its place and first words. */
function passageSection(title, hits, details = () => null) {
  const places = hits.map((hit) => placeOf(hit, "passage"));
  const row = (hit, number) => element("li", {}, placeButton(places[number], () => openAt(places, number)),
    element("p", { class: "words", dir: "auto" }, inLine(firstWords(hit))), details(hit));
  return element("section", { class: "others nearest", "aria-label": title }, element("h2", {}, title), element("ol", {}, hits.map(row)));
}

/** How a passage begins, without the headings that its place names. */
function firstWords({ display, heading }) {
  const words = heading.reduce((left, title) => (left.startsWith(`${title}: `) ? left.slice(title.length + 2) : left), display);
  return words.length > FIRST ? `${cut(words, 0, FIRST).replace(/ \S{0,20}$/u, "")} …` : words;
}

// Summary and passages

async function summarize(length, of = asked) {
  await ready;
  const lengths = Object.keys(LENGTHS).map((name) =>
    button(name, () => summarize(name, of), { "aria-pressed": String(name === length) }));
  const card = element("article", { class: "card" });
  fill(panel("summary"), !of.document && element("div", { class: "switch", role: "group", "aria-label": "Length of the summary" }, lengths),
    card);
  await work("Summarizing…", async (options) => {
    const summary = await post("/api/summarize", { ...of, max_sentences: LENGTHS[length] }, options);
    const texts = (name) => summary.sentences.map((one) => one[name]).join("\n");
    if (!of.document) keepTurn(summary, { answer: texts("text"), shown: texts("display"), ...turns[turn] });
    const { sentences, places } = sentencesOf(summary.sentences);
    const { name } = summary.generator;
    const written = name === "quote" ? "Quoted" : `Written by ${visible(name)}`;
    const dropped = summary.dropped.length ? ` Dropped ${counted(summary.dropped.length, "unsupported sentence")}.` : "";
    if (summary.overview) return overview(card, summary.overview);
    fill(card,
      of.document && element("p", { class: "kind" }, "Summary of ", inLine(of.document)),
      ...spelling(summary),
      element("div", { class: "sentences", id: "sentences", dir: "auto" }, sentences,
        !summary.sentences.length && element("h2", {}, "Not in these documents")),
      places,
      summary.nearest.length > 0 && passageSection("Passages to look at", summary.nearest),
      element("p", { class: "footnote" }, `${written} from ${counted(summary.passages, "passage")}.${dropped}`));
    say(summary.sentences.length ? `Summary of ${counted(summary.sentences.length, "sentence")}` : "Not in these documents");
  }, () => summarize(length, of));
}

/** Draws the headings, date and size of a document. */
function overview(card, { entries: [{ name, title, passages, dates, headings }] }) {
  fill(card, element("p", { class: "kind" }, "Overview of ", inLine(name)), element("h2", {}, inLine(title)),
    element("ul", { id: "headings" }, headings.map((heading) => element("li", {}, inLine(heading)))),
    element("p", { class: "footnote" }, [...dates, counted(passages, "passage")].join(", ")));
  say(`Overview with ${counted(headings.length, "heading")}`);
}

/** Shows the summary of a document in the place of that of the question. */
function summarizeDocument(id) {
  goTo("summary");
  byId("welcome").hidden = true;
  byId("tabs").hidden = false;
  drawn.delete("summary");
  if (narrow.matches) closeDocument();
  summarize("medium", { document: id });
}

/** The best passages, and side by side those of every stage of the retriever. */
async function passages() {
  await work("Searching…", async (options) => {
    const { retriever, hits } = await post("/api/search", asked, options);
    const stages = [...new Set(hits.flatMap((hit) => Object.keys(hit.scores)))].filter((name) => name !== retriever && !name.includes("+"));
    const scores = (hit) => element("p", { class: "scores" }, [["score", hit.score], ...Object.entries(hit.scores)]
      .filter(([name]) => name === "score" || stages.includes(name))
      .map(([name, score]) => element("span", {}, `${name} `, element("b", {}, score.toFixed(3)))));
    const rankings = element("div", { class: "rankings" });
    fill(panel("passages"), hits.length ? passageSection(`Best passages by ${retriever}`, hits, scores) : note("No passage was found."),
      stages.length > 1 && element("section", { class: "others" }, element("h2", {}, "Best passages by stage"), rankings));
    say(counted(hits.length, "passage"));
    const marked = record?.answer?.passage.id;
    for (const stage of stages.length > 1 ? stages : []) {
      const found = await post("/api/search", { ...asked, k: 5, retriever: stage }, options);
      const places = found.hits.map((hit) => placeOf({ ...hit, heading: hit.heading.slice(-1) }, "passage"));
      rankings.append(element("div", {}, element("h3", {}, stage), element("ol", {}, found.hits.map((hit, at) =>
        element("li", { class: hit.passage === marked ? "ours" : null }, placeButton(places[at], () => openAt(places, at)),
          element("span", { class: "quiet" }, `${hit.score.toFixed(3)}${hit.passage === marked ? " · passage of the answer" : ""}`))))));
    }
  }, () => again("passages"));
}

// Filters

const FIELDS = ["paths", "types", "after", "before"];
const field = (name) => byId(`filter-${name}`);

function readFilter() {
  const where = {};
  for (const name of FIELDS) {
    const parts = field(name).value.split(",").map((part) => part.trim()).filter(Boolean);
    if (parts.length) where[name] = name === "paths" || name === "types" ? parts : parts[0];
  }
  return where;
}

function writeFilter(where) {
  for (const name of FIELDS) field(name).value = [where[name] ?? []].flat().join(", ");
  if (Object.keys(where).length) byId("filters").open = true;
  markFilter();
}

function markFilter() {
  const on = Object.keys(readFilter()).length;
  byId("filters-on").hidden = !on;
  byId("filters-on").textContent = `${on} on`;
}

// History, keys, colours, copying

function remember(result, question = record?.understood || asked.question) {
  const same = (one) => one.question === question && JSON.stringify(one.where) === JSON.stringify(asked.where);
  keep("history", [{ question, where: asked.where, result }, ...kept("history", []).filter((one) => !same(one))].slice(0, MAX_HISTORY));
}

function dialog(name, title, ...children) {
  const shownDialog = byId(name);
  fill(shownDialog, element("h2", { id: `${name}-title` }, title), children,
    element("div", { class: "actions" }, button("Close", () => shownDialog.close(), { class: "main" })));
  if (!shownDialog.open) shownDialog.showModal();
  return shownDialog;
}

function showHistory() {
  const found = kept("history", []);
  const row = (one) => element("li", {}, button([element("span", { class: "words", dir: "auto" }, visible(one.question)),
    element("span", { class: "quiet" }, visible(one.result ?? ""))], () => (byId("history").close(), ask(one.question, one.where ?? {}))));
  const clear = () => (keep("history", []), showHistory());
  dialog("history", "History", found.length ? element("ol", {}, found.map(row)) : note("No questions yet."), note("Kept in this browser only."),
    found.length > 0 && button("Clear", clear, { class: "plain", id: "history-clear" }));
}

const KEYS = [["/", "go to the question"], ["Enter", "ask"], ["↑ ↓", "previous and next answer"], ["n p", "next and previous place in the document"],
  ["1 2 3", "answer, summary, passages"], ["c", "copy the answer with its citation"], ["a–z", "any other letter begins a question"], ["Esc", "stop waiting, or close the document"], ["?", "this list"]];

const showKeys = () => dialog("keys", "Keys", element("dl", {}, KEYS.map(([keys, does]) => [
  element("dt", {}, keys.split(" ").map((key) => element("kbd", {}, key))), element("dd", {}, does)])));

const DEEDS = {
  1: () => show("answer"), 2: () => show("summary"), 3: () => show("passages"),
  "/": () => byId("question").select(), "?": showKeys,
  ArrowDown: () => tab === "answer" && choose(chosen + 1), ArrowUp: () => tab === "answer" && choose(chosen - 1),
  n: () => step(1), p: () => step(-1), c: () => setTimeout(() => letters.endsWith("c") && byId("copy")?.click(), COPY_MS),
  Escape: () => (giveUp ? giveUp.abort() : isOpen() ? closeDocument() : document.activeElement?.blur()),
};

let letters = ""; // keys of the page that were just pressed: a question begins with them if another letter follows
let pause = 0;

/** Keys belong to the page while nothing is typed, any other letter to a new question; arrows also in the question, unless they scroll something. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input");
  const isArrow = event.key.startsWith("Arrow");
  if (isArrow && event.target.closest("#document-body, [role=tablist]")) return;
  if (typing && event.key !== "Escape" && !(isArrow && event.target.id === "question")) return;
  clearTimeout(pause);
  const isLetter = event.key.length === 1 && event.key !== " ";
  if (isLetter && !DEEDS[event.key]) {
    byId("question").value = letters;
    byId("question").focus();
  } else if (DEEDS[event.key] && DEEDS[event.key]() !== false) event.preventDefault();
  letters = isLetter && DEEDS[event.key] ? letters + event.key : "";
  pause = setTimeout(() => (letters = ""), PAUSE_MS);
}

const THEMES = { system: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };

function setTheme(theme) {
  const name = theme in THEMES ? theme : "system";
  keep("theme", name);
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  byId("theme").textContent = THEMES[name];
  const names = Object.keys(THEMES);
  byId("theme").onclick = () => setTheme(names[(names.indexOf(name) + 1) % names.length]);
}

async function copy(words, done) {
  let message = done;
  await navigator.clipboard.writeText(words).catch(() => (message = "The browser does not let this page copy."));
  say(message);
  const toast = element("div", { class: "toast", "aria-hidden": "true" }, message);
  document.body.append(toast);
  setTimeout(() => toast.remove(), 2000);
}

// The first page

const BEGINNINGS = ["Who", "When was", "Why", "How many", "What is", "How do I"];

let size = {}; // documents and passages that are shown

/** Draws the size of the index and its documents again when they have changed, as long as the page is open. */
async function follow() {
  const began = performance.now();
  const status = document.hidden ? null : await get("/api/status").catch(() => null);
  if (status && (status.documents !== size.documents || status.passages !== size.passages)) await drawWelcome().catch(() => {});
  setTimeout(follow, Math.max(FOLLOW_MS, 20 * (performance.now() - began)));
}

async function drawWelcome() {
  const [status, listed] = await Promise.all([get("/api/status"), get("/api/documents", { limit: LISTED })]);
  readers = status.readers;
  maxBytes = status.uploads?.max_bytes ?? 0;
  size = status;
  fill(byId("corpus"), `${counted(status.documents, "document")}, ${counted(status.passages, "passage")}`);
  const suffixes = new Set(listed.documents.map((one) => one.document.match(/\.(\w+)$/)?.[1]).filter(Boolean));
  fill(byId("known-types"), [...suffixes].sort().map((value) => element("option", { value })));
  const begin = (words) => {
    byId("question").value = `${words} `;
    byId("question").focus();
  };
  const place = (one) => placeOf({ ...one, start: 0, end: 0, text: "" }, "document");
  const row = (one) => element("li", {}, button([element("span", { class: "words", dir: "auto" }, inLine(one.title || one.document)),
    element("span", { class: "quiet" }, inLine(one.document))], () => openAt([place(one)], 0)));
  const list = element("ul", {}, listed.documents.map(row));
  const more = button("Show more documents", async () => {
    const next = await get("/api/documents", { limit: LISTED, offset: list.childElementCount }).catch(complain);
    list.append(...(next?.documents ?? []).map(row));
    more.hidden = list.childElementCount >= listed.total;
  }, { class: "plain", id: "more-documents" });
  more.hidden = listed.total <= list.childElementCount;
  const add = maxBytes > 0 && element("p", { class: "quiet" }, button("Add files", () => byId("files").click(), { class: "plain", id: "add" }), " or drop them on this page.");
  fill(byId("welcome"), element("h1", {}, "Ask, and see where it is written"),
    element("p", { class: "lead" }, "Every answer is an exact quote with its location, or “not in these documents”. This page talks to its own server only."),
    element("div", { class: "beginnings", role: "group", "aria-label": "Begin a question" },
      BEGINNINGS.map((words) => button(`${words} …`, () => begin(words), { class: "chip" }))),
    add, status.documents ? element("section", { class: "documents" }, element("h2", {}, "Documents"), list, more)
      : trouble("The index is empty. Fill it with: spanwise index FOLDER"));
}

// Files that are dropped or chosen

const AT_ONCE = 2;
const waiting = []; // files that wait, each with its row
let sending = 0;
let maxBytes = 0; // of a file; 0 where the server takes none

function take(files) {
  for (const file of maxBytes ? files : []) {
    const row = element("li", {}, element("b", { dir: "auto" }, inLine(file.name)), element("progress", { max: 1, value: 0 }), note("waits"));
    byId("uploads").append(row);
    byId("uploads").hidden = false;
    waiting.push({ file, row });
  }
  while (sending < AT_ONCE && waiting.length) sendFile(waiting.shift());
}

/** Sends a file and writes into its row what became of it; asks before it replaces another one. */
async function sendFile({ file, row, replace = false }) {
  const tell = (...words) => fill(row.lastChild, words);
  sending += 1;
  row.className = "";
  try {
    if (file.size > maxBytes) throw new Error(`too large: the limit is ${maxBytes / 1e6} MB`);
    const { state, remark } = await putFile(file, replace, (share) => tell(share < 1 ? percent((row.children[1].value = share)) : "is read…"));
    tell(state === "indexed" ? "can be asked about" : `${state}: `, remark && visible(state === "indexed" ? ` (${remark})` : remark));
    row.className = state;
  } catch (error) {
    const again = (words, replaces) => button(words, () => (tell("waits"), waiting.push({ file, row, replace: replaces }), take([])), { class: "plain" });
    if (error.status === 409) tell("is there already ", again("Replace it", true), " ", button("Keep it", () => row.remove(), { class: "plain" }));
    else tell(visible(error.message), " ", (error.status === 0 || error.status > 499) && again("Try again", replace));
    row.className = "rejected";
  }
  sending -= 1;
  say(`${file.name}: ${row.lastChild.firstChild.textContent}`);
  take([]);
  if (!sending) drawWelcome().catch(() => {});
}

function listen() {
  const hasFiles = (event) => maxBytes && event.dataTransfer?.types.includes("Files");
  const over = (event) => hasFiles(event) && (event.preventDefault(), document.body.classList.add("dropping"));
  const leave = (event) => event.relatedTarget ?? document.body.classList.remove("dropping");
  window.addEventListener("dragover", over);
  window.addEventListener("dragleave", leave);
  window.addEventListener("drop", (event) => (over(event), leave({}), hasFiles(event) && take(event.dataTransfer.files)));
  byId("files").addEventListener("change", ({ target }) => (take([...target.files]), (target.value = "")));
  byId("ask").addEventListener("submit", (event) => (event.preventDefault(), ask(byId("question").value)));
  byId("new").addEventListener("click", newConversation);
  byId("history-open").addEventListener("click", showHistory);
  byId("keys-open").addEventListener("click", showKeys);
  window.addEventListener("popstate", followAddress);
  document.addEventListener("keydown", onKey);
  for (const name of FIELDS) field(name).addEventListener("input", markFilter);
  byId("filter-clear").addEventListener("click", () => (writeFilter({}), asked && ask(asked.question, {}, tab, turn)));
  for (const [at, name] of TABS.entries()) {
    byId(`tab-${name}`).addEventListener("click", () => show(name));
    byId(`tab-${name}`).addEventListener("keydown", (event) => {
      const next = TABS[(at + { ArrowRight: 1, ArrowLeft: -1 }[event.key] + TABS.length) % TABS.length];
      if (next) byId(`tab-${next}`).focus(), show(next);
    });
  }
  onDocument({ summarize: summarizeDocument, say });
}

setTheme(kept("theme", "system"));
listen();
const ready = drawWelcome().then(() => void setTimeout(follow, FOLLOW_MS)).catch((error) => complain(error));
followAddress();
if (!asked) byId("question").focus();
