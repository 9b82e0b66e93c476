/**
 * The `Accept` header (RFC 9110, section 12.5.1).
 *
 * @module
 */

/** Characters of the header that are read. */
const ACCEPT_MAX = 1_000;

/** Whether a client prefers HTML to JSON, as browsers do. */
export function prefersHtml({ headers }: Request): boolean {
  const accept = (headers.get("accept") ?? "").slice(0, ACCEPT_MAX).toLowerCase();
  return weightOf(accept, ["text/html", "text/*"]) >
    weightOf(accept, ["application/json", "application/*", "*/*"]);
}

/** The weight of the first of these ranges that the header contains; 0 without any. */
function weightOf(accept: string, ranges: readonly string[]): number {
  const given = accept.split(",").map((part) => {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
  const found = ranges.map((range) => given.find((each) => each.range === range));
  return found.find((each) => each !== undefined)?.weight ?? 0;
}
