// What is shown before anything was asked: what this is, how to begin, and the documents there are.
import { get } from "./api.js";
import { byId, counted, element, fill } from "./dom.js";
import { offerTypes } from "./filters.js";
import { inLine } from "./visible.js";

const BEGINNINGS = ["Who ", "When was ", "Why ", "How many ", "What is ", "How do I "];
const LISTED = 60;
const TYPES = { "text/markdown": "md", "text/plain": "txt", "text/html": "html", "application/pdf": "pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx" };

/** Draws it; `open(place)` opens a document, `failed(error)` tells of what went wrong later. Says in the header what the index holds. */
export async function drawWelcome({ open, failed }) {
  const [status, listed] = [await get("/api/status"), await get("/api/documents", { limit: LISTED })];
  fill(byId("corpus"), `${counted(status.documents, "document")}, ${counted(status.passages, "passage")}`);
  offerTypes(Object.keys(status.formats).map((type) => TYPES[type] ?? type));
  const question = byId("question");
  const begin = (words) => {
    question.value = words;
    question.focus();
  };
  fill(
    byId("welcome"),
    element("h1", {}, "Ask, and see where it stands"),
    element("p", { class: "lead" }, "Answers are words of your documents, opened at their place, or an honest “not in ",
      "these documents”. This page talks to its own server and to nobody else."),
    element("div", { class: "beginnings", role: "group", "aria-label": "Begin a question" },
      BEGINNINGS.map((words) => element("button", { type: "button", class: "chip", onclick: () => begin(words) }, `${words.trim()} …`))),
    status.documents ? documents(listed, open, failed) : empty()
  );
}

function documents({ documents: found, total }, open, failed) {
  const row = (one) =>
    element("li", {}, element("button", { type: "button", onclick: () => open({ ...one, start: 0, end: 0, text: "", kind: "document" }) },
      element("span", { class: "words", dir: "auto" }, inLine(one.title || one.document)),
      element("span", { class: "quiet" }, inLine(one.document))));
  const list = element("ul", {}, found.map(row));
  const more = element("button", { type: "button", class: "plain", id: "more-documents", onclick: () => further().catch(failed) });
  const count = () => {
    more.textContent = `Show more: ${counted(total - list.childElementCount, "document")} not shown`;
    more.hidden = total <= list.childElementCount;
  };
  const further = async () => {
    const next = await get("/api/documents", { limit: LISTED, offset: list.childElementCount });
    const rows = next.documents.map(row);
    total = rows.length ? next.total : list.childElementCount;
    list.append(...rows);
    count();
    rows[0]?.querySelector("button").focus();
  };
  count();
  return element("section", { class: "documents" }, element("h2", {}, "The documents"), list, more);
}

const empty = () => element("p", { class: "trouble" }, "The index is empty: fill it with ", element("code", {}, "spanwise index FOLDER"));
