// The address of a question: all of it stands behind the "#", which is never sent to a server.

const NAMES = { paths: "path", types: "type", after: "after", before: "before" };

/** The part of an address that asks this question again. */
export function addressOf(question, where, tab) {
  const found = new URLSearchParams({ q: question });
  for (const [field, name] of Object.entries(NAMES)) for (const value of [where[field] ?? []].flat()) found.append(name, value);
  if (tab && tab !== "answer") found.set("tab", tab);
  return `#${found}`;
}

/** The question of an address with its filter and tab; null for an address without one. */
export function readAddress(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const question = (found.get("q") ?? "").trim();
  if (!question) return null;
  const where = {};
  for (const [field, name] of Object.entries(NAMES)) {
    const values = found.getAll(name).filter(Boolean);
    if (values.length) where[field] = field === "paths" || field === "types" ? values : values[0];
  }
  return { question, where, tab: found.get("tab") ?? "answer" };
}
