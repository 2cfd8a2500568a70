// What the page says about itself: progress while it waits, errors, and all of it aloud for screen readers.
import { byId, element, fill } from "./dom.js";
import { visible } from "./visible.js";

/** Say something to screen readers, after what they say now. */
export function say(words) {
  byId("live").textContent = visible(words);
}

/** Progress until `done` is called; `say` tells how it goes. After a second it counts the time. */
export function working(label, onstop) {
  const bar = byId("progress");
  const began = performance.now();
  let words = label;
  const draw = () => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    bar.hidden = false;
    document.body.setAttribute("aria-busy", "true");
    bar.querySelector("span").textContent = seconds < 1 ? words : `${words} ${seconds} s`;
  };
  const timer = setInterval(draw, 250);
  bar.onclick = onstop ?? null;
  say(label);
  draw();
  return {
    say(next) {
      words = next;
      say(next);
      draw();
    },
    done() {
      clearInterval(timer);
      bar.hidden = true;
      document.body.removeAttribute("aria-busy");
    },
  };
}

/** Shows what went wrong, and a button to try again; nothing for what was given up on purpose. */
export function told(error, again) {
  if (error.name === "AbortError") return;
  const title = error.status === 503 ? "The server is busy" : error.status ? "That did not work" : "No answer";
  fill(
    byId("notice"),
    element("strong", {}, title),
    element("p", {}, visible(error.message ?? String(error))),
    again ? element("button", { type: "button", class: "plain", onclick: again }, "Try again") : null
  ).hidden = false;
  if (!("status" in error)) console.error(error);
}

export function forget() {
  byId("notice").hidden = true;
}
