/**
 * What a client would rather have (RFC 9110, 12.5.1).
 *
 * @module
 */

/** Longest header that is looked at, in characters. */
const ACCEPT_MAX = 1_000;

/** Whether HTML is asked for and JSON is not, or less so: browsers, and hardly anybody else. */
export function prefersHtml({ headers }: Request): boolean {
  const accept = (headers.get("accept") ?? "").slice(0, ACCEPT_MAX).toLowerCase();
  return weightOf(accept, ["text/html", "text/*"]) >
    weightOf(accept, ["application/json", "application/*", "*/*"]);
}

/** Of the most specific range that is there. */
function weightOf(accept: string, ranges: readonly string[]): number {
  const given = accept.split(",").map((part) => {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
  const found = ranges.map((range) => given.find((each) => each.range === range));
  return found.find((each) => each !== undefined)?.weight ?? 0;
}
