// The page: a question is asked, its answer drawn, its place opened. Everything else is called from here.
import { addressOf, readAddress } from "./address.js";
import { choicesOf, drawAnswer, drawChosen } from "./answer.js";
import { drawAbsent } from "./absent.js";
import { post } from "./api.js";
import { switchColours } from "./colours.js";
import { copyText } from "./copy.js";
import { closeDocument, isOpen, onSummarize, openPlace, step } from "./document.js";
import { byId, counted, percent } from "./dom.js";
import { onFilter, readFilter, writeFilter } from "./filters.js";
import { remember, showHistory } from "./history.js";
import { onKeys, showKeys } from "./keys.js";
import { citation, placeOf } from "./places.js";
import { forget, say, told, working } from "./status.js";
import { drawSummary } from "./summary.js";
import { currentTab, onTabs, showTab } from "./tabs.js";
import { visible } from "./visible.js";
import { drawWelcome } from "./welcome.js";

const ALTERNATIVES = 4;
const narrow = matchMedia("(max-width: 60rem)");
const panel = (name) => byId(`panel-${name}`);

let asked = null; // {question, where}
let record = null; // its answer
let choices = [];
let chosen = 0;
let drawn = new Set(); // the tabs that show what belongs to the question
let giveUp = null;

/** Does some work that can be given up; the next one gives up the last one. */
async function work(label, deed, again) {
  giveUp?.abort();
  const mine = (giveUp = new AbortController());
  const progress = working(label, () => mine.abort());
  forget();
  const onwait = (seconds) => progress.say(`The server is busy; trying again in ${seconds} s.`);
  try {
    await deed({ signal: mine.signal, onwait });
  } catch (error) {
    told(error, again);
  } finally {
    progress.done();
    if (giveUp === mine) giveUp = null;
  }
}

async function ask(question, where = readFilter(), tab = "answer") {
  if (!question.trim()) return byId("question").focus();
  asked = { question: question.trim(), where };
  byId("question").value = asked.question;
  writeFilter(where);
  record = null;
  drawn = new Set();
  for (const name of ["answer", "summary"]) panel(name).replaceChildren();
  goTo(tab);
  if (tab !== "answer") return show(tab);
  await answer();
}

async function answer() {
  byId("submit").disabled = true;
  await work("Reading the documents…", async (options) => {
    record = await post("/api/ask", { ...asked, alternatives: ALTERNATIVES }, options);
    byId("welcome").hidden = true;
    byId("tabs").hidden = false;
    drawn.add("answer");
    if (currentTab() === "answer") showTab("answer");
    drawRecord();
  }, answer);
  byId("submit").disabled = false;
}

function drawRecord() {
  choices = choicesOf(record);
  chosen = 0;
  if (!record.answer) {
    drawAbsent(panel("answer"), record, { open: openAt, ask: (words) => ask(words) });
    closeDocument();
    say(record.nearest.length ? `Not in these documents. ${counted(record.nearest.length, "passage")} to look at.` : "Not in these documents.");
    remember(asked.question, asked.where, "not in these documents");
    return;
  }
  drawAnswer(panel("answer"), record, handlers());
  const { confidence } = record.answer;
  const sure = confidence === null ? "" : `, confidence ${percent(confidence)}`;
  say(`Answer: ${record.answer.text}, in ${citation(placeOf(record.answer))}${sure}. ${counted(record.alternatives.length, "other answer")}.`);
  remember(asked.question, asked.where, record.answer.short.text);
  if (!narrow.matches) openPlace(allPlaces(), 0);
  else closeDocument();
}

const handlers = () => ({
  choose,
  open: (place) => open(allPlaces(), place),
  copy: (words) => copyText(words, "Copied with its citation."),
  link: () => copyText(location.href, "Copied the link to this question."),
});

const allPlaces = () => choices.flatMap((choice) => choice.places);

/** Opens the place of that number among others, with the focus on the document, so that reading goes on there. */
const openAt = (places, number) => openPlace([...places], number, { focus: true });

/** The same for a place that may be among the others or not. */
function open(among, place) {
  const at = among.findIndex((one) => one.document === place.document && one.start === place.start && one.end === place.end);
  openAt(at < 0 ? [place] : among, Math.max(at, 0));
}

function choose(number) {
  if (!record?.answer || number < 0 || number >= choices.length) return false;
  chosen = number;
  drawChosen(panel("answer"), record, number, handlers());
  const { span } = choices[number];
  say(`${number ? "Other answer" : "Answer"} ${number + 1} of ${choices.length}: ${span.text}`);
  const before = choices.slice(0, number).reduce((sum, choice) => sum + choice.places.length, 0);
  if (!narrow.matches || isOpen()) openPlace(allPlaces(), before);
  return true;
}

/** Shows a tab, and fills it if that was not done for this question. */
async function show(tab, length = "medium") {
  goTo(tab);
  byId("welcome").hidden = true;
  byId("tabs").hidden = false;
  if (drawn.has(tab) || !asked) return;
  drawn.add(tab);
  if (tab === "answer") return answer();
  return summarize(length);
}

/** Summarizes what answers the question, or a document. */
function summarize(length, of = asked) {
  const again = (other) => summarize(other, of);
  const on = { open: openAt, again };
  return work("Summarizing…", (options) => drawSummary(panel("summary"), of, length, on, options), () => again(length));
}

/** Shows the summary of a document in the place of that of the question, which is made again when wanted. */
function summarizeDocument(document) {
  showTab("summary");
  byId("welcome").hidden = true;
  byId("tabs").hidden = false;
  drawn.delete("summary");
  if (narrow.matches) closeDocument();
  return summarize("medium", { document });
}

/** Shows the panel and writes the question into the address. */
function goTo(tab) {
  showTab(tab);
  if (!asked) return;
  const address = addressOf(asked.question, asked.where, tab);
  if (location.hash !== address) history.pushState(null, "", address);
  document.title = `${visible(asked.question)} – spanwise`;
}

/** Asks what stands in the address; without a question it is the beginning again. */
function followAddress() {
  const found = readAddress(location.hash);
  if (found) return ask(found.question, found.where, found.tab);
  giveUp?.abort();
  asked = record = null;
  for (const name of ["answer", "summary"]) panel(name).hidden = true;
  byId("tabs").hidden = true;
  byId("welcome").hidden = false;
  byId("question").value = "";
  document.title = "spanwise";
  closeDocument();
}

function escape() {
  if (giveUp) giveUp.abort();
  else if (isOpen()) closeDocument();
  else document.activeElement?.blur();
}

function listen() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    ask(byId("question").value);
  });
  byId("history-open").addEventListener("click", () => showHistory(ask));
  byId("keys-open").addEventListener("click", showKeys);
  window.addEventListener("popstate", followAddress);
  onFilter(() => asked && ask(asked.question));
  onTabs((tab) => show(tab));
  onSummarize(summarizeDocument);
  switchColours();
  const tabs = { 1: () => show("answer"), 2: () => show("summary") };
  onKeys({
    ...tabs,
    "/": () => byId("question").select(),
    "?": showKeys,
    ArrowDown: () => currentTab() === "answer" && choose(chosen + 1),
    ArrowUp: () => currentTab() === "answer" && choose(chosen - 1),
    n: () => step(1),
    p: () => step(-1),
    c: () => byId("copy")?.click(),
    Escape: escape,
  });
}

listen();
drawWelcome({ open: (place) => open([place], place), failed: (error) => told(error) }).catch((error) => told(error));
followAddress();
if (!asked) byId("question").focus();
