// Confidence in words, in per cent, and what it means.
import { element, percent, set } from "./dom.js";

const WORDS = [
  [0.9, "very likely right"],
  [0.7, "likely right"],
  [0.5, "more likely right than wrong"],
  [0.25, "rather uncertain"],
  [0, "very uncertain"],
];

export const inWords = (confidence) => WORDS.find(([least]) => confidence >= least)[1];

/** A bar with the threshold marked on it, and an explanation below. */
export function confidenceMeter(confidence, threshold, declined = false) {
  if (confidence === null || confidence === undefined) {
    return element("p", { class: "quiet" }, "No confidence: this reader has not been calibrated.");
  }
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("span", { class: "filled" }));
  set(bar, { "--share": confidence });
  if (threshold !== null && threshold !== undefined) {
    set(bar, { "--threshold": threshold });
    bar.append(element("span", { class: "threshold", title: `Threshold: ${percent(threshold)}` }));
  }
  const words = declined ? "not sure enough to be shown" : inWords(confidence);
  return element(
    "div",
    { class: `confidence${declined ? " declined" : ""}` },
    element("p", { class: "sure" }, element("strong", {}, percent(confidence)), ` ${words}`),
    bar,
    element("details", {}, element("summary", {}, "What this means"), ...meaning(confidence, threshold))
  );
}

function meaning(confidence, threshold) {
  const share = Math.round(confidence * 100);
  const told = [
    element(
      "p",
      {},
      `Confidence was fitted on questions that were held back: of the answers given there with about this `,
      `confidence, about ${share} in 100 were right. Your documents and questions may be easier or harder.`
    ),
  ];
  if (threshold === null || threshold === undefined) return told;
  const least = `Below ${percent(threshold)}, the mark on the bar, nothing is shown as an answer.`;
  return [...told, element("p", {}, least)];
}
