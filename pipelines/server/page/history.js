// The questions asked in this browser, kept nowhere else; it works without being able to keep them.
import { byId, element, fill } from "./dom.js";
import { keep, kept } from "./store.js";
import { visible } from "./visible.js";

const MOST = 50;

/** The questions, last first: {question, where, said}. */
export function asked() {
  const found = kept("history", []);
  return Array.isArray(found) ? found.filter((one) => typeof one?.question === "string") : [];
}

/** Remember a question and, in a few words, what came of it. */
export function remember(question, where, said) {
  const same = (one) => one.question === question && JSON.stringify(one.where ?? {}) === JSON.stringify(where);
  keep("history", [{ question, where, said }, ...asked().filter((one) => !same(one))].slice(0, MOST));
}

/** Shows the list; `ask(question, where)` is called for one that is chosen. */
export function showHistory(ask) {
  const dialog = byId("history");
  const found = asked();
  const again = (one) => {
    dialog.close();
    ask(one.question, one.where ?? {});
  };
  const clear = () => {
    keep("history", null);
    dialog.close();
  };
  const row = (one) =>
    element("li", {}, element("button", { type: "button", onclick: () => again(one) },
      element("span", { class: "words", dir: "auto" }, visible(one.question)),
      element("span", { class: "quiet" }, visible(String(one.said ?? "")))));
  fill(
    dialog,
    element("h2", { id: "history-title" }, "Asked before"),
    found.length ? element("ol", {}, found.map(row)) : element("p", { class: "quiet" }, "Nothing yet."),
    element("p", { class: "quiet" }, "Kept in this browser alone."),
    element(
      "div",
      { class: "actions" },
      found.length ? element("button", { type: "button", class: "plain", id: "history-clear", onclick: clear }, "Forget all") : null,
      element("button", { type: "button", class: "main", onclick: () => dialog.close() }, "Close")
    )
  );
  dialog.showModal();
}
