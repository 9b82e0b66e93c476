/**
 * Labels and names as lists show them. An image's author or a container's creator may choose labels of any
 * number and length, and each client gets every list.
 *
 * @module
 */

/** Limits of one object's labels; lengths are in UTF-16 units. */
const LABELS_MAX = 100;
export const NAME_MAX = 255;
const VALUE_MAX = 1_024;
const LENGTH_MAX = 16_384;

/** A name as lists show it; an engine may accept longer ones. */
export const shownName = (name: string): string =>
  name.length > NAME_MAX ? `${name.slice(0, NAME_MAX - 1).toWellFormed()}…` : name;

type Labels = Readonly<Record<string, string>>;

/** A list is made again for each request, and the labels of an object do not change. */
const known = new WeakMap<Labels, Record<string, string>>();

/** Keeps the first labels that fit, with long values cut; those with long names are left out. */
export function shownLabels(labels: Record<string, string>): Record<string, string> {
  let shown = known.get(labels);
  if (!shown) {
    shown = cutLabels(labels);
    known.set(labels, shown);
  }
  return shown;
}

function cutLabels(labels: Record<string, string>): Record<string, string> {
  const kept: [string, string][] = [];
  let length = 0;
  for (const [name, value] of Object.entries(labels)) {
    if (name.length > NAME_MAX) continue;
    const text = value.length > VALUE_MAX ? `${value.slice(0, VALUE_MAX).toWellFormed()}…` : value;
    length += name.length + text.length;
    if (kept.length === LABELS_MAX || length > LENGTH_MAX) break;
    kept.push([name, text]);
  }
  return Object.fromEntries(kept);
}
