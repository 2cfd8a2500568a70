// Where something stands: its words for a person, and the button that opens it.
import { element } from "./dom.js";
import { inLine, visible } from "./visible.js";

/** What the document pane needs to know of a span; `kind` says in a word what it is. */
export const placeOf = (record, kind) => ({
  document: record.document,
  start: record.start,
  end: record.end,
  text: record.text,
  short: record.short ?? null,
  page: record.page ?? null,
  line: record.line ?? null,
  label: record.label ?? "",
  heading: record.heading ?? [],
  kind,
});

/** The place in the words of the file's format: its label, else the page, else the line. */
export function whereInFile({ page, line, label }) {
  if (label) return label;
  return page !== null && page !== undefined ? `page ${page}` : line ? `line ${line}` : "";
}

/** File, place and headings in one line, as for a citation. */
export function citation(place) {
  const heading = (place.heading ?? []).join(" > ");
  return visible([place.document, whereInFile(place), heading].filter(Boolean).join(", ").replace(/\s+/gu, " "));
}

/** A button that names a place and opens it. */
export function placeButton(place, open, attributes = {}) {
  const where = whereInFile(place);
  const heading = place.heading ?? [];
  return element(
    "button",
    { type: "button", class: "place", title: "Open at this place", onclick: open, ...attributes },
    element("span", { class: "file" }, inLine(place.document)),
    where ? element("span", { class: "where" }, inLine(where)) : null,
    heading.length ? element("span", { class: "heading-path" }, inLine(heading.join(" › "))) : null
  );
}
