// A page of a PDF as it is printed, with boxes over the words of a span.
import { get, picture } from "./api.js";
import { centre, element, fill, set } from "./dom.js";
import { visible } from "./visible.js";

const WIDEST = 2000; // pixels; what the server draws at most
const STEP = 200;

/** Draws a page into `body`: that of the place, or `number`. `turn(number)` is called for another page. */
export async function drawPage(body, place, number, turn, options) {
  const span = { id: place.document, page: number, start: place.start, end: place.end };
  const found = await get("/api/document/page", span, options);
  const wide = Math.ceil((body.clientWidth * (window.devicePixelRatio || 1)) / STEP) * STEP;
  const width = Math.min(Math.max(wide, 2 * STEP), WIDEST);
  const address = await picture("/api/document/page.png", { id: place.document, page: found.page, width }, options);
  const image = element("img", { alt: `Page ${found.page} of ${visible(place.document)}` });
  const loaded = new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = () => reject(new Error("the picture of the page cannot be shown"));
  });
  image.src = address;
  await loaded.finally(() => URL.revokeObjectURL(address));
  const sheet = element("div", { class: "sheet" }, image, found.boxes.map((box) => boxOver(box, found)));
  set(sheet, { "aspect-ratio": `${found.width} / ${found.height}` });
  fill(body, turner(found, turn), element("figure", {}, sheet, caption(found, place)));
  const first = sheet.querySelector(".box");
  if (first) centre(body, first);
  else body.scrollTop = 0;
}

function boxOver(box, page) {
  const share = (length, of) => `${(100 * length) / of}%`;
  return set(element("span", { class: "box" }), {
    left: share(box.x, page.width),
    top: share(box.y, page.height),
    width: share(box.width, page.width),
    height: share(box.height, page.height),
  });
}

function turner({ page, pages }, turn) {
  const button = (to, words, id) =>
    element("button", { type: "button", class: "plain", id, disabled: to < 1 || to > pages, onclick: () => turn(to) }, words);
  return element(
    "div",
    { class: "turner" },
    button(page - 1, "‹ Page before", "page-before"),
    element("span", { id: "page-number" }, `page ${page} of ${pages}`),
    button(page + 1, "Next page ›", "page-after")
  );
}

/** In words what the boxes show, for those who do not see them; and that there are none, for all. */
function caption(found, place) {
  if (found.boxes.length) {
    return element("figcaption", { class: "unseen" }, `Marked on this page: ${visible(place.text)}`);
  }
  const words = place.page === found.page
    ? "The words could not be found on the drawn page (it may be a scan); the text view marks them."
    : "Nothing is marked on this page.";
  return element("figcaption", { class: "quiet" }, words);
}
