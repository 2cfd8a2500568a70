// Offsets of documents count code points; strings of this language count UTF-16 units.

const ASTRAL = /[\ud800-\udbff]/;

/** Where in the string each of these code point offsets lies; offsets may come in any order. */
export function unitsAt(text, offsets) {
  if (!ASTRAL.test(text)) return offsets.map((offset) => Math.min(Math.max(offset, 0), text.length));
  const order = offsets.map((offset, place) => [offset, place]).sort((a, b) => a[0] - b[0]);
  const found = new Array(offsets.length).fill(0);
  let unit = 0;
  let point = 0;
  for (const [offset, place] of order) {
    while (point < offset && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point += 1;
    }
    found[place] = unit;
  }
  return found;
}

/** The text between two code point offsets. */
export function cut(text, start, end) {
  const [from, to] = unitsAt(text, [start, end]);
  return text.slice(from, to);
}

/** How many code points the first `unit` units are. */
export const pointsUpTo = (text, unit) => [...text.slice(0, unit)].length;
