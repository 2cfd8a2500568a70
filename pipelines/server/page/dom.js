// Elements made of names, attributes and children; a text becomes a text node, never markup.

/** The element, with attributes set, listeners for the keys that begin with "on", and its children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

export const byId = (id) => document.getElementById(id);

/** The element with nothing in it but these children. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return parent;
}

/** A number in groups of three. */
export const counted = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

export const percent = (share) => `${Math.round(share * 100)}%`;

/** Scrolls what scrolls, and nothing around it, so that a part of it stands in the middle. */
export function centre(scrolling, part) {
  const [outer, inner] = [scrolling.getBoundingClientRect(), part.getBoundingClientRect()];
  scrolling.scrollTop += inner.top - outer.top - Math.max((outer.height - inner.height) / 2, outer.height / 8);
}

/** A length or share for the style sheet, set without a style attribute, which the page's policy forbids. */
export function set(styled, properties) {
  for (const [name, value] of Object.entries(properties)) styled.style.setProperty(name, value);
  return styled;
}
