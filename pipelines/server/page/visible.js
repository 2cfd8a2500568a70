// Text from documents as it may be shown: nothing in it can move, hide or reorder what stands around it.
import { element } from "./dom.js";

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/u;

/** The text with control, bidirectional and zero-width characters spelled out, in parts [words, is spelled]. */
function* parts(text) {
  if (!UNSEEN.test(text)) {
    yield [text, false];
    return;
  }
  let plain = "";
  for (const character of text) {
    if (character === "\n" || character === "\t" || !UNSEEN.test(character)) {
      plain += character;
      continue;
    }
    if (plain) yield [plain, false];
    plain = "";
    yield [spelled(character.codePointAt(0)), true];
  }
  if (plain) yield [plain, false];
}

function spelled(code) {
  if (code < 32) return String.fromCodePoint(0x2400 + code);
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** The text as a string, for attributes and titles. */
export const visible = (text) => [...parts(text)].map(([words]) => words).join("");

/** The text as nodes: what was spelled out stands in a quiet element of its own. */
export const shown = (text) =>
  [...parts(text)].map(([words, is]) => (is ? element("span", { class: "spelled" }, words) : words));

/** The text in one line. */
export const inLine = (text) => shown(text.replace(/\s+/gu, " ").trim());
