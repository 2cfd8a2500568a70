// The prompt for the token of a server that wants one.
import { byId, element, fill } from "./dom.js";

let asking = null;

/** The token that is typed in; one prompt serves all requests that wait for it. */
export function askForToken(wasRefused, signal) {
  asking ??= prompted(wasRefused).finally(() => (asking = null));
  return signal ? Promise.race([asking, aborted(signal)]) : asking;
}

function prompted(wasRefused) {
  const dialog = byId("token");
  const field = element("input", { id: "token-field", type: "password", autocomplete: "off", required: true });
  return new Promise((resolve, reject) => {
    const given = (event) => {
      event.preventDefault();
      if (!field.value.trim()) return;
      dialog.onclose = null;
      dialog.close();
      resolve(field.value.trim());
    };
    fill(
      dialog,
      element("h2", { id: "token-title" }, "A token is needed"),
      element(
        "form",
        { onsubmit: given },
        element("p", {}, wasRefused ? "That token is not the one. " : "", "The server was started with a token; ",
          "it is kept until this tab is closed."),
        element("label", { for: "token-field" }, "Token"),
        field,
        element("div", { class: "actions" }, element("button", { type: "submit", class: "main" }, "Go on"))
      )
    );
    dialog.onclose = () => reject(new DOMException("no token was given", "AbortError"));
    dialog.showModal();
    field.focus();
  });
}

function aborted(signal) {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")))
  );
}
