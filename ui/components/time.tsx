/**
 * Times, relative to now.
 *
 * @module
 */

import { signal } from "@preact/signals";
import { relativeTime } from "./text.ts";

/** Changes twice a minute while the page is visible. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 30_000);
document.addEventListener("visibilitychange", () => now.value = Date.now());

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/** E.g. "3 h ago", with the exact time on hover. `at` is ISO 8601. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at == null) return <span class="muted">–</span>;
  const date = new Date(at);
  return (
    <time class="cut" dateTime={at} title={exact.format(date)}>
      {relativeTime(date.getTime(), Math.max(now.value, Date.now()))}
    </time>
  );
}
