// Which documents are searched: what is typed into the fields, as the server takes it.
import { byId, element, fill } from "./dom.js";

const FIELDS = ["paths", "types", "after", "before"];
const field = (name) => byId(`filter-${name}`);
const listed = (text) => text.split(",").map((part) => part.trim()).filter(Boolean);

/** The filter in the fields, without what is empty. */
export function readFilter() {
  const where = {};
  for (const name of ["paths", "types"]) if (listed(field(name).value).length) where[name] = listed(field(name).value);
  for (const name of ["after", "before"]) if (field(name).value) where[name] = field(name).value;
  return where;
}

/** Puts a filter into the fields and opens them when it is not empty. */
export function writeFilter(where) {
  for (const name of FIELDS) field(name).value = [where[name] ?? []].flat().join(", ");
  if (Object.keys(where).length) byId("filters").open = true;
  mark();
}

/** Calls `changed` when a filter was changed and Enter is pressed, or when all were cleared. */
export function onFilter(changed) {
  for (const name of FIELDS) field(name).addEventListener("input", mark);
  byId("filter-clear").addEventListener("click", () => {
    writeFilter({});
    changed();
  });
}

/** Offers the types that there are. */
export const offerTypes = (types) => fill(byId("known-types"), types.map((type) => element("option", { value: type })));

function mark() {
  const on = Object.keys(readFilter()).length;
  const badge = byId("filters-on");
  badge.hidden = on === 0;
  badge.textContent = `${on} on`;
}
