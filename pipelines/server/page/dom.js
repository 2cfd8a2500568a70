// Helpers: elements, document text made safe to show, code point offsets, places, browser storage, requests.

/** The element with attributes, listeners for keys that begin with "on", and children; text never becomes markup. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  return fill(made, ...children);
}

export const byId = (id) => document.getElementById(id);

/** The element with these children only. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  for (const child of children.flat(Infinity)) if (![null, undefined, false, ""].includes(child)) parent.append(child);
  return parent;
}

/** The element with properties set; the content security policy forbids style attributes. */
export function style(styled, properties) {
  for (const [name, value] of Object.entries(properties)) styled.style.setProperty(name, value);
  return styled;
}

export const button = (words, onclick, attributes = {}) => element("button", { type: "button", onclick, ...attributes }, words);
export const note = (...words) => element("p", { class: "quiet" }, ...words);
export const trouble = (message) => element("p", { class: "trouble", role: "alert" }, visible(message));
export const counted = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
export const percent = (share) => `${Math.round(share * 100)}%`;

/** Scrolls `outer` alone, so that `inner` is in its middle. */
export function centre(outer, inner) {
  const [frame, part] = [outer.getBoundingClientRect(), inner.getBoundingClientRect()];
  outer.scrollTop += part.top - frame.top - Math.max((frame.height - part.height) / 2, frame.height / 8);
}

// Text of documents: control, bidirectional and zero-width characters are spelled out, so that they cannot hide or move words.

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/u;
const SPLIT = /((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}])/u;

function spelled(character) {
  const code = character.codePointAt(0);
  return code < 32 ? String.fromCodePoint(0x2400 + code) : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** The text as a string, for attributes and titles. */
export const visible = (text) => text.split(SPLIT).map((part, i) => (i % 2 ? spelled(part) : part)).join("");

/** The text as nodes. */
export const shown = (text) =>
  UNSEEN.test(text) ? text.split(SPLIT).map((part, i) => (i % 2 ? element("span", { class: "spelled" }, spelled(part)) : part)) : [text];

export const inLine = (text) => shown(text.replace(/\s+/gu, " ").trim());

// Offsets of documents count code points; JavaScript strings count UTF-16 units.

/** Where in the string each code point offset is; offsets may come in any order. */
export function unitsAt(text, offsets) {
  if (!/[\ud800-\udbff]/.test(text)) return offsets.map((offset) => Math.min(Math.max(offset, 0), text.length));
  const found = new Map();
  let [unit, point] = [0, 0];
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    for (; point < offset && unit < text.length; point += 1) unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
    found.set(offset, unit);
  }
  return offsets.map((offset) => found.get(offset));
}

export function cut(text, start, end) {
  const [from, to] = unitsAt(text, [start, end]);
  return text.slice(from, to);
}

// Places: a span of a document, with what a person needs to find it.

export const placeOf = ({ document, start, end, text, page = null, line = null, label = "", heading = [] }, kind) =>
  ({ document, start, end, text, page, line, label, heading, kind });

/** The place in the terms of the format: its label, else the page, else the line. */
export const whereInFile = ({ page, line, label }) => label || (page !== null ? `page ${page}` : line ? `line ${line}` : "");

export function citation(place) {
  const parts = [place.document, whereInFile(place), place.heading.join(" > ")];
  return visible(parts.filter(Boolean).join(", ").replace(/\s+/gu, " "));
}

/** A button that names a place and opens it. */
export function placeButton(place, open, attributes = {}) {
  const where = whereInFile(place);
  return button([
    element("span", { class: "file" }, inLine(place.document)),
    where && element("span", { class: "where" }, inLine(where)),
    place.heading.length > 0 && element("span", { class: "heading-path" }, inLine(place.heading.join(" › "))),
  ], open, { class: "place", title: "Open at this place", ...attributes });
}

// Storage of the browser; all of it may fail.

export function kept(name, otherwise, storage = "localStorage") {
  try {
    return JSON.parse(window[storage].getItem(`spanwise.${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(name, value, storage = "localStorage") {
  try {
    window[storage].setItem(`spanwise.${name}`, JSON.stringify(value));
  } catch {
    // The page works without storage; it forgets when it is closed.
  }
}

// Requests: JSON from the server of this page.

const MAX_TRIES = 6;
let token = kept("token", "", "sessionStorage");
let asking = null;

/** What the server said instead of a result; status 0 when it was not reached. */
export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export async function get(path, parameters = {}, options = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  return (await reach(`${path}?${new URLSearchParams(given)}`, { method: "GET" }, options)).json();
}

/** Saves the file of a document, which the browser opens; a link could not send the token. */
export async function openFile(id) {
  const response = await reach(`/api/document/file?${new URLSearchParams({ id })}`, { method: "GET" }, {});
  save(await response.blob(), id.split("/").pop());
}

export function save(blob, download) {
  const href = URL.createObjectURL(blob);
  element("a", { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

const posted = (body) => ({ method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

export async function post(path, body, options = {}) {
  return (await reach(path, posted(body), options)).json();
}

/** The response; waits and tries again while the server is busy, and asks for a token where one is needed. */
export async function reach(path, request, { signal, onwait = () => {} } = {}) {
  for (let tries = 1; ; tries += 1) {
    const headers = { ...request.headers, ...(token && { authorization: `Bearer ${token}` }) };
    const sent = fetch(path, { ...request, headers, signal, credentials: "omit", cache: "no-store" });
    const response = await sent.catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Failure(0, "The server does not answer. Is it still running?");
    });
    if (response.ok) return response;
    if (response.status === 401) {
      await (asking ??= askForToken().finally(() => (asking = null)));
    } else if (response.headers.get("retry-after") && tries < MAX_TRIES) {
      onwait(tries);
      await new Promise((resolve) => setTimeout(resolve, 1000 * tries));
      signal?.throwIfAborted();
    } else {
      const record = await response.json().catch(() => null);
      throw new Failure(response.status, record?.error?.message ?? `The server answered with status ${response.status}.`);
    }
  }
}

/** Sends the bytes of a file, and tells the share that is sent; `fetch` does not tell it. */
export const putFile = (file, replace, onshare) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  request.open("PUT", `/api/documents/${encodeURIComponent(file.name)}${replace ? "?replace=true" : ""}`);
  request.setRequestHeader("content-type", "application/octet-stream");
  if (token) request.setRequestHeader("authorization", `Bearer ${token}`);
  request.responseType = "json";
  request.upload.onprogress = ({ loaded, total }) => onshare(loaded / total);
  request.onerror = () => reject(new Failure(0, "The file cannot be read, or the server does not answer."));
  request.onload = () => request.status < 300 ? resolve(request.response)
    : reject(new Failure(request.status, request.response?.error?.message ?? `The server answered with status ${request.status}.`));
  request.send(file);
});

function askForToken() {
  const dialog = byId("token");
  const field = element("input", { id: "token-field", type: "password", autocomplete: "off", required: true });
  return new Promise((resolve, reject) => {
    const onsubmit = (event) => {
      event.preventDefault();
      token = field.value.trim();
      keep("token", token, "sessionStorage");
      dialog.onclose = null;
      dialog.close();
      resolve();
    };
    fill(dialog, element("h2", { id: "token-title" }, token ? "This token is wrong" : "This server needs a token"),
      element("form", { onsubmit }, element("label", { for: "token-field" }, "Token"), field,
        note("Kept until this tab is closed."),
        element("div", { class: "actions" }, element("button", { type: "submit", class: "main" }, "Continue"))));
    dialog.onclose = () => reject(new DOMException("no token", "AbortError"));
    dialog.showModal();
  });
}
