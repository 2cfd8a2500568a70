// Markdown as elements: `draw(from, to)` draws words and marks spans; what is not known stays text. No HTML or image is inserted. The time is
// linear: expressions are bounded or stop at the next mark of their kind, and depth is limited.
import { element, visible } from "./dom.js";

const MAX_DEPTH = 12; // of lists and quotes
const FILE = /\.(?:md|markdown|mdown|mkd|mdx)(?:\.(?:erb|ejs|eex|hbs|j2|jinja2?|liquid|mustache|njk|tmpl|tpl|twig))?$/i;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const UNDERLINE = /^ {0,3}(?:(=+)|-+)$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]{1,4}|$)/;
const START = /^ {0,3}(?:`{3}|~{3}|#{1,6}(?:[ \t]|$)|>|\|.*\|$|(?:[-*_][ \t]*){3,}$)|^[ \t]*(?:[-*+]|1[.)])[ \t]/; // ends a paragraph
const SAFE = /^(?:https?:\/\/|mailto:)[^\p{Cc}]+$/iu;
const INLINE = new RegExp([
  String.raw`\\[!-\/:-@\[-${"`"}\{-~]| {2}\n|\n[ \t]{0,9}(?:> ?){1,9}`, // an escaped mark, a line break, the marks of a quoted line
  "(?<!`)(?<ticks>`{1,3})(?!`)(?:[^`]|(?!\\k<ticks>(?!`))`{1,9}(?!`)){1,1000}\\k<ticks>(?!`)",
  String.raw`(?<![\p{L}\p{N}*])(?<stars>\*{1,3})(?![\s*])(?:[^*]|(?<one>\*{1,2})(?![\s*])[^*]{1,500}\k<one>){1,1000}?(?<!\s)\k<stars>(?!\*)`,
  String.raw`(?<![\p{L}\p{N}_])(?<bars>_{1,3})(?![\s_])(?:[^_]|(?<=[\p{L}\p{N}])_{1,9}(?=[\p{L}\p{N}])){1,1000}?(?<!\s)\k<bars>(?![\p{L}\p{N}_])`,
  String.raw`(?<!~)(?<tildes>~~)(?![\s~])[^~]{1,1000}(?<!\s)~~(?!~)`,
  String.raw`!?\[(?<label>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,300}\](?:\([^()\s]{0,1000}\))?){1,1000})\]\(\s?(?:<(?<inner>[^<>\n]{0,2000})>|` +
    String.raw`(?<target>(?:[^\s()<>\\]|\\.|\([^\s()]{0,500}\)){0,2000}))(?:\s{1,3}(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?\s?\)`,
  String.raw`<https?:\/\/[^\s<>]{1,2000}>|https?:\/\/[^\s<>"]{0,2000}[^\s<>".,;:!?'\)\]\}*_~]`,
].join("|"), "gu");
export const isMarkdown = (name) => FILE.test(name);
const lineOf = (text, from, next) => ({ from, next, words: text.slice(from, next).trimEnd() });
const within = ({ text }, { from, next }, length) => lineOf(text, Math.min(from + length, next), next);
const indentOf = ({ words }) => /^[ \t]*/.exec(words)[0].replaceAll("\t", "    ").length;
const isUnder = (line) => line !== undefined && /^[\s|:-]+$/.test(line.words) && /-/.test(line.words) && /\|/.test(line.words);
const plain = (page, lines) => wrap("pre", {}, lines.map(({ from, next }) => page.draw(from, next)));
const heading = (level, nodes) => wrap("div", { class: `heading h${level}`, role: "heading", "aria-level": level }, nodes);

/** The blocks between two offsets. `isHidden` says of a range that no span begins, ends or lies in it, so it need not be seen. */
export function markdown(text, start, end, { draw, isHidden }) {
  const lines = [...text.slice(start, end).matchAll(/[^\n]*\n|[^\n]+$/g)];
  return blocks({ text, draw, isHidden }, lines.map(({ 0: line, index }) => lineOf(text, start + index, start + index + line.length)), 0);
}

function blocks(page, lines, depth) {
  const made = [];
  for (let at = 0, last = 0; at < lines.length; at = last) {
    const [line, { from, next, words }] = [lines[at], lines[at]];
    const take = (test) => {
      for (last = at + 1; last < lines.length && test(lines[last], last); ) last += 1;
      return lines.slice(at, last);
    };
    const [fence, title, quote, item] = [FENCE, HEADING, QUOTE, ITEM].map((kind) => kind.exec(words));
    const isInner = (each) => each?.words && (indentOf(each) > indentOf(line) || ITEM.exec(each.words)?.[2].at(-1) === item[2].at(-1));
    const isPart = (each, number) => (each.words ? isInner(each) || (lines[number - 1].words && !START.test(each.words)) : isInner(lines[number + 1]));
    last = at + 1;
    if (fence && page.isHidden(from, next)) {
      made.push(plain(page, take((each) => !each.words.trim().startsWith(fence[1])).slice(1)));
      last += 1;
    } else if (title) made.push(heading(title[1].length, inline(page, from + title[0].length, from + words.length)));
    else if (RULE.test(words) && page.isHidden(from, next)) made.push(page.draw(from, next).length ? element("hr") : null);
    else if (quote && depth < MAX_DEPTH) {
      const quoted = take((each) => QUOTE.test(each.words)).map((each) => within(page, each, QUOTE.exec(each.words)[0].length));
      made.push(wrap("blockquote", {}, blocks(page, quoted, depth + 1)));
    } else if (item && depth < MAX_DEPTH) made.push(list(page, take(isPart), depth));
    else if (indentOf(line) > 3) made.push(plain(page, take((each) => !each.words || indentOf(each) > 3)));
    else if (/^\s*\|.*\|$/.test(words) || (/\|/.test(words) && isUnder(lines[at + 1]))) made.push(table(page, take((each) => /\|/.test(each.words))));
    else if (words) {
      const { from: begin, words: end } = take((each) => each.words && !UNDERLINE.test(each.words) && !START.test(each.words)).at(-1);
      const under = UNDERLINE.exec(lines[last]?.words ?? "");
      const nodes = inline(page, from, begin + end.length);
      made.push(under ? heading(under[1] ? 1 : 2, nodes) : wrap("p", {}, nodes));
      last += Number(Boolean(under));
    }
  }
  return made.filter(Boolean);
}

function list(page, lines, depth) {
  const items = [];
  for (const line of lines) {
    const item = indentOf(line) <= indentOf(lines[0]) && ITEM.exec(line.words);
    if (item) items.push({ width: item[0].length, value: parseInt(item[2], 10), lines: [] });
    const { width, lines: inner } = items.at(-1);
    inner.push(within(page, line, item ? width : Math.min(width, /^[ \t]*/.exec(line.words)[0].length)));
  }
  const isNumbered = !Number.isNaN(items[0].value);
  return wrap(isNumbered ? "ol" : "ul", {}, items.map(({ value, lines: inner }) => wrap("li", isNumbered ? { value } : {}, blocks(page, inner, depth + 1))));
}

/** Rows of cells; the row above a line of dashes names the columns. */
function table(page, lines) {
  const cell = (name, from, words) => element(name, {}, inline(page, from + words.length - words.trimStart().length, from + words.trimEnd().length));
  const row = (line, number) => {
    const cells = [...line.words.matchAll(/((?:\\.|[^|\\])*)(?:\||$)/g)].filter((one) => one[1].trim() || (one.index && one[0]));
    const drawn = cells.map((one) => cell(!number && isUnder(lines[1]) ? "th" : "td", line.from + one.index, one[1]));
    return (number !== 1 || !isUnder(line)) && drawn.some((each) => each.firstChild) ? element("tr", {}, drawn) : null;
  };
  const body = wrap("tbody", {}, lines.map(row));
  return body && element("div", { class: "table" }, element("table", {}, body));
}

function inline(page, start, end, isInLink = false) {
  const nodes = [];
  let drawn = start;
  for (const match of page.text.slice(start, end).matchAll(INLINE)) {
    const made = construct(page, match, start + match.index, isInLink);
    if (!made) continue;
    nodes.push(page.draw(drawn, start + match.index), made);
    drawn = start + match.index + match[0].length;
  }
  return join([...nodes, page.draw(drawn, end)]);
}

/** The nodes of a construct in running text; null if it is shown as it is written. */
function construct(page, { 0: whole, groups: { ticks, stars, bars, tildes, label, inner, target } }, from, isInLink) {
  const to = from + whole.length;
  const link = (url, nodes) => (isInLink || !SAFE.test(url) ? nodes
    : [wrap("a", { href: url, title: visible(url), target: "_blank", rel: "noopener noreferrer" }, nodes)]);
  if (/^[\\\s]/.test(whole)) return whole[0] === " " ? [element("br")] : page.draw(whole[0] === "\\" ? from + 1 : from, whole[0] === "\\" ? to : from + 1);
  if (ticks) return [wrap("code", {}, page.draw(from + ticks.length, to - ticks.length))];
  if (/^<?h/.test(whole)) return link(whole.replace(/[<>]/g, ""), page.draw(from + (whole[0] === "<"), to - (whole[0] === "<")));
  if (label !== undefined) {
    const first = from + whole.indexOf("[") + 1;
    if (!page.isHidden(first + label.length, to)) return null;
    if (whole[0] === "!") return [wrap("span", { class: "alt" }, page.draw(first, first + label.length))];
    return link(inner ?? target, inline(page, first, first + label.length, true));
  }
  const { length: size } = stars ?? bars ?? tildes;
  const nodes = inline(page, from + size, to - size, isInLink);
  return [wrap(tildes ? "s" : size === 1 ? "em" : "strong", {}, size === 3 ? [wrap("em", {}, nodes)] : nodes)];
}

/** The element with these nodes, null without any; a mark of all words of an emphasis or a link goes around it. */
function wrap(name, attributes, nodes) {
  const joined = join(nodes);
  if (joined.length !== 1 || joined[0].tagName !== "MARK" || !/^(em|strong|s|code|a)$/.test(name)) return joined.length ? element(name, attributes, joined) : null;
  joined[0].replaceChildren(element(name, attributes, [...joined[0].childNodes]));
  return joined[0];
}

/** The nodes that are there; marks that follow each other are one. */
function join(nodes) {
  const joined = [];
  for (const node of nodes.flat(Infinity).filter(Boolean)) {
    const isMore = node.tagName === "MARK" && joined.at(-1)?.tagName === "MARK" && joined.at(-1).className === node.className;
    if (isMore) joined.at(-1).append(...node.childNodes);
    else joined.push(node);
  }
  return joined;
}
