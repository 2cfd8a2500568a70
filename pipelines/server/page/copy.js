// Copying, also where the browser gives pages no clipboard.
import { element } from "./dom.js";
import { say } from "./status.js";

/** Puts words on the clipboard and says so. */
export async function copyText(words, done) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    const field = element("textarea", { class: "unseen" });
    field.value = words;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (!copied) return say("The browser does not let this page copy.");
  }
  say(done);
  toast(done);
}

/** The same for eyes, for two seconds. */
function toast(words) {
  const shown = element("div", { class: "toast", "aria-hidden": "true" }, words);
  document.body.append(shown);
  setTimeout(() => shown.remove(), 2000);
}
