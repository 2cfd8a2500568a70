// The tabs of the left pane: one panel is shown, arrow keys go from tab to tab.
import { byId } from "./dom.js";

const NAMES = ["answer", "summary"];
let shownTab = "answer";

export const currentTab = () => shownTab;

/** Shows a panel; without focus on its tab. */
export function showTab(name) {
  shownTab = NAMES.includes(name) ? name : "answer";
  for (const each of NAMES) {
    const tab = byId(`tab-${each}`);
    tab.setAttribute("aria-selected", String(each === shownTab));
    tab.tabIndex = each === shownTab ? 0 : -1;
    byId(`panel-${each}`).hidden = each !== shownTab;
  }
}

/** Calls `chosen(name)` when a tab is chosen by pointer or keys. */
export function onTabs(chosen) {
  for (const [at, name] of NAMES.entries()) {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => chosen(name));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const next = NAMES[(at + by + NAMES.length) % NAMES.length];
      byId(`tab-${next}`).focus();
      chosen(next);
    });
  }
}
