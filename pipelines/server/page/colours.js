// The switch of colours: as the system has them, light, or dark.
import { byId } from "./dom.js";
import { keep, kept } from "./store.js";

const NEXT = { system: "light", light: "dark", dark: "system" };
const WORDS = { system: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };

/** Makes the button change the colours, and remembers them. */
export function switchColours() {
  const button = byId("theme");
  let theme = WORDS[kept("theme", "system")] ? kept("theme", "system") : "system";
  const draw = () => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = WORDS[theme];
    button.setAttribute("aria-label", `Colours: ${theme === "system" ? "as the system" : theme}`);
  };
  button.addEventListener("click", () => {
    theme = NEXT[theme];
    keep("theme", theme === "system" ? null : theme);
    draw();
  });
  draw();
}
