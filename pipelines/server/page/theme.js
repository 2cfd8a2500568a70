// The colours, chosen before anything is drawn: those of the system, or the ones that were picked here.
(function () {
  "use strict";
  try {
    const kept = JSON.parse(localStorage.getItem("spanwise.theme"));
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // A browser that keeps nothing shows the colours of the system.
  }
})();
