/** Times, relative to now. @module */

import { signal } from "@preact/signals";
import { relativeTime } from "../base/text.ts";

/** Changes twice a minute while the page is visible. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 30_000);
document.addEventListener("visibilitychange", () => now.value = Date.now());

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/** Exact times by ISO 8601 time: a table draws the same ones again and again. */
const exactTimes = new Map<string, string>();
const EXACT_TIMES_MAX = 1_000;

/** With the weekday and the time zone. `at` is ISO 8601. */
function exactTime(at: string): string {
  let text = exactTimes.get(at);
  if (text === undefined) {
    if (exactTimes.size === EXACT_TIMES_MAX) exactTimes.clear();
    text = exact.format(new Date(at));
    exactTimes.set(at, text);
  }
  return text;
}

/** E.g. "3 h ago", with the exact time on hover; follows the time. `at` is ISO 8601. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at == null) return <span class="muted">–</span>;
  return (
    <time class="cut" dateTime={at} title={exactTime(at)}>
      {relativeTime(Date.parse(at), Math.max(now.value, Date.now()))}
    </time>
  );
}
