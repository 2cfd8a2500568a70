// The stored text of a document as nodes: headings, page breaks, labels, and marks at the places of spans.
import { element } from "./dom.js";
import { unitsAt } from "./offsets.js";
import { shown } from "./visible.js";

const MOST_LABELS = 400; // a table of thousands of rows is shown without

/**
 * Nodes for the part of a document in `record`. `marks` are {start, end, number, current, short}, in code
 * points of the whole document; a mark has `data-places` with the numbers of all spans that cover it.
 */
export function textNodes(record, marks) {
  const { text } = record;
  const base = record.start;
  const inside = (offset) => offset >= base && offset <= record.end;
  const pages = record.page_starts.map(startOf).map((start, i) => ({ start, number: i + 1 }));
  const headings = record.headings.filter((one) => inside(one.start));
  const labels = record.labels.filter((one) => inside(one.start));
  const edges = marks.flatMap((mark) => [mark.start, mark.end, mark.short?.start ?? mark.start, mark.short?.end ?? mark.end]);
  const points = [...new Set([...pages.map((one) => one.start), ...headings.map((one) => one.start),
    ...labels.map((one) => one.start), ...edges])];
  const units = unitsAt(text, points.map((point) => point - base));
  const at = new Map(points.map((point, i) => [point, units[i]]));
  const parts = {
    pages: new Map(pages.filter((one) => inside(one.start)).map((one) => [at.get(one.start), one.number])),
    headings: new Map(headings.map((one) => [at.get(one.start), one.level])),
    labels: labels.length > MOST_LABELS ? new Map() : new Map(labels.map((one) => [at.get(one.start), one.text])),
    marks: marks.map((mark) => ({
      ...mark,
      from: at.get(mark.start),
      to: at.get(mark.end),
      short: mark.short ? [at.get(mark.short.start), at.get(mark.short.end)] : null,
    })),
  };
  return [...blocks(text, parts)];
}

/** Page breaks, headings, and the text between them. */
function* blocks(text, parts) {
  const starts = new Set([0, ...parts.pages.keys(), ...parts.headings.keys()]);
  for (const start of parts.headings.keys()) {
    const end = text.indexOf("\n", start);
    if (end >= 0) starts.add(end + 1);
  }
  const cuts = [...starts].filter((start) => start < text.length).sort((a, b) => a - b);
  for (const [i, start] of cuts.entries()) {
    const end = cuts[i + 1] ?? text.length;
    if (parts.pages.has(start)) yield pageBreak(parts.pages.get(start));
    const level = parts.headings.get(start);
    const inner = [...pieces(text, start, end, parts)];
    if (level === undefined) yield element("div", { class: "text", dir: "auto" }, inner);
    else {
      const depth = Math.min(level, 6);
      yield element("div", { class: `heading h${depth}`, role: "heading", "aria-level": depth, dir: "auto" }, inner);
    }
  }
}

function pageBreak(number) {
  return element("div", { class: "page-break", role: "separator", "data-label": `page ${number}`, "aria-label": `page ${number}` });
}

/** A block in pieces that are marked alike. */
function* pieces(text, start, end, { marks, labels }) {
  const cuts = new Set([start, end]);
  for (const { from, to, short } of marks) for (const cut of [from, to, ...(short ?? [])]) cuts.add(cut);
  for (const label of labels.keys()) cuts.add(label);
  const order = [...cuts].filter((cut) => cut >= start && cut <= end).sort((a, b) => a - b);
  for (const [i, from] of order.slice(0, -1).entries()) {
    const to = order[i + 1];
    if (labels.has(from)) yield element("span", { class: "label", "data-label": labels.get(from) });
    const over = marks.filter((mark) => mark.from <= from && to <= mark.to);
    yield over.length ? marked(text.slice(from, to), over, from) : shown(text.slice(from, to));
  }
}

function marked(text, over, from) {
  const current = over.find((mark) => mark.current);
  const isShort = current?.short && current.short[0] <= from && from < current.short[1];
  const names = ["span", current ? "current" : "", isShort ? "short" : ""].filter(Boolean).join(" ");
  return element("mark", { class: names, "data-places": over.map((mark) => mark.number).join(" ") }, shown(text));
}

/** The server gives starts of pages with their UTF-16 offset beside them. */
const startOf = (page) => (typeof page === "number" ? page : page.start);
