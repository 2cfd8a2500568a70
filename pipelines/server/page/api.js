// Requests to the server that the page came from: JSON, a stream of events, a picture.
import { keepToken, token } from "./store.js";
import { askForToken } from "./token.js";

const MOST_TRIES = 6;

/** What the server said instead of an answer; status 0 when it was not reached. */
export class Failure extends Error {
  constructor(status, type, message) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** A JSON value; `signal` gives it up, `onwait` hears how many seconds are waited while the server is busy. */
export async function get(path, parameters = {}, options = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  const query = new URLSearchParams(given).toString();
  const response = await reach(query ? `${path}?${query}` : path, { method: "GET" }, options);
  return response.json();
}

export async function post(path, body, options = {}) {
  const response = await reach(path, asJson(body), options);
  return response.json();
}

/** The address of a picture in this page; to be revoked when it is no longer shown. */
export async function picture(path, parameters, options = {}) {
  const response = await reach(`${path}?${new URLSearchParams(parameters)}`, { method: "GET" }, options);
  return URL.createObjectURL(await response.blob());
}

/** The events of a stream as they come: [name, value]. A stream that ends early just ends. */
export async function* events(path, body, options = {}) {
  const response = await reach(path, asJson(body), options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    waiting += value;
    const whole = waiting.split("\n\n");
    waiting = whole.pop();
    for (const event of whole) {
      const fields = Object.fromEntries(event.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
      yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

const asJson = (body) => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

async function reach(path, request, { signal, onwait = () => {} }) {
  for (let tries = 1; ; tries += 1) {
    const response = await sent(path, request, signal);
    if (response.ok) return response;
    const failure = await failureOf(response);
    if (response.status === 401) {
      keepToken(await askForToken(token() !== "", signal));
    } else if (isBusy(response, failure) && tries < MOST_TRIES) {
      const seconds = Math.min(Number(response.headers.get("retry-after")) || 1, 30);
      onwait(seconds, failure.message);
      await pause(seconds * 1000, signal);
    } else {
      throw failure;
    }
  }
}

/** Whether it is worth asking again by itself: not what took too long, which would take too long again. */
const isBusy = (response, failure) =>
  response.status === 503 && response.headers.get("retry-after") && failure.type !== "TimedOut";

async function sent(path, request, signal) {
  const headers = { ...request.headers };
  if (token()) headers.authorization = `Bearer ${token()}`;
  try {
    return await fetch(path, { ...request, headers, signal, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "NotReached", "The server does not answer. Is it still running?");
  }
}

async function failureOf(response) {
  try {
    const { error } = await response.json();
    return new Failure(response.status, error.type, error.message);
  } catch {
    return new Failure(response.status, "Unknown", `The server answered with status ${response.status}.`);
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("given up", "AbortError"));
    });
  });
}
