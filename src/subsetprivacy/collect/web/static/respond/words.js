// What the page says, from the file of the survey's language. Every sentence on the page is in that file.

let table = {};

const fileOf = (language) => document.querySelector(`meta[name="language-${language}"]`);

/** Load a language: the survey's, or the browser's where there is no survey, or English. */
export async function speak(language) {
  const wanted = language ?? navigator.language.slice(0, 2);
  const [address, integrity] = (fileOf(wanted) ?? fileOf("en")).content.split(" ");
  table = await (await fetch(address, { integrity, credentials: "omit" })).json();
  document.documentElement.lang = table.language;
  document.documentElement.dir = table.direction;
}

/** Return a sentence with its gaps filled. */
export function say(key, gaps = {}) {
  return table[key].replace(/\{(\w+)\}/g, (_, name) => gaps[name]);
}

/** Tell whether the language has a sentence. */
export const has = (key) => key in table;

/** Return items as "a, b and c" in the language. */
export const both = (items) => new Intl.ListFormat(table.language).format(items);
