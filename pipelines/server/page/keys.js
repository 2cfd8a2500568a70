// The keys, and the list of them. They are the page's only while nothing is being typed.
import { byId, element, fill } from "./dom.js";

const LIST = [
  ["/", "to the question"],
  ["Enter", "ask"],
  ["↑ ↓", "the answer before, the next answer"],
  ["n p", "next and previous place in the document"],
  ["1 2", "answer, summary"],
  ["c", "copy the answer with its citation"],
  ["Esc", "give up waiting, or close what is open"],
  ["?", "this list"],
];

/** Listens; `deeds` are functions by key, "ArrowUp" and "ArrowDown" also while the question is typed. */
export function onKeys(deeds) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const typing = event.target.matches("input, textarea, select");
    const arrow = event.key === "ArrowUp" || event.key === "ArrowDown";
    const anywhere = event.key === "Escape" || (arrow && (!typing || event.target.id === "question") && !scrolls(event.target));
    const deed = typing && !anywhere ? null : arrow && !anywhere ? null : deeds[event.key];
    if (deed && deed(event) !== false) event.preventDefault();
  });
}

/** Whether the arrow keys scroll what has the focus, as they should. */
const scrolls = (target) => target.closest("#document-body, .scrolls, [role=tablist]") !== null;

export function showKeys() {
  const dialog = byId("keys");
  fill(
    dialog,
    element("h2", { id: "keys-title" }, "Keys"),
    element("dl", {}, LIST.map(([keys, deed]) => [
      element("dt", {}, keys.split(" ").map((key) => element("kbd", {}, key))), element("dd", {}, deed)])),
    element("div", { class: "actions" }, element("button", { type: "button", class: "main", onclick: () => dialog.close() }, "Close"))
  );
  dialog.showModal();
}
