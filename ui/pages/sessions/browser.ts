/** The name of a browser, from what it sends as `User-Agent`. @module */

import { plain } from "../../base/text.ts";

/** Products by their token. Browsers claim to be others as well, so the order matters. */
const PRODUCTS = [
  ["Edge", /\bEdg(?:A|iOS)?\/(\d+)/],
  ["Opera", /\bOPR\/(\d+)/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/],
  ["Safari", /\bVersion\/(\d+)\S* .*Safari\//],
] as const;

const SYSTEMS = [
  ["Android", /Android/],
  ["iOS", /iPhone|iPad/],
  ["Windows", /Windows/],
  ["macOS", /Macintosh/],
  ["ChromeOS", /CrOS/],
  ["Linux", /Linux/],
] as const;

const TEXT_MAX = 60;

/** E.g. `Firefox 143 on Linux`; other programs by the text that they send. */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return "Unknown browser";
  for (const [name, pattern] of PRODUCTS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0];
    return `${name} ${version}${system ? ` on ${system}` : ""}`;
  }
  return plain(userAgent.slice(0, TEXT_MAX));
}
