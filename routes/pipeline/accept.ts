/** The headers `Accept` and `Accept-Encoding` (RFC 9110, sections 12.5.1 and 12.5.3). @module */

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

/** Whether a client accepts an encoding by its name, with a weight other than 0. */
export const acceptsEncoding = ({ headers }: Request, encoding: "br" | "gzip"): boolean =>
  ENCODINGS[encoding].test(headers.get("accept-encoding") ?? "");

const ENCODINGS = {
  br: /(^|,)\s*br\s*(,|$|;\s*q=(1|0\.\d*[1-9]))/,
  gzip: /(^|,)\s*gzip\s*(,|$|;\s*q=(1|0\.\d*[1-9]))/,
};
