/** Text for people: sizes, numbers, durations, and text from containers made harmless. @module */

/**
 * Control characters, which do not show, and those that change the direction of the text around
 * them (Unicode, UAX 9).
 */
// deno-lint-ignore no-control-regex
const INVISIBLE = /[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Browsers need many seconds to lay out a longer word. */
const SHOWN_MAX = 100_000;

/** Shows invisible characters as escapes, e.g. `\u202e`. For every text from a container. */
export const plain = (text: string): string =>
  shortened(text).replace(
    INVISIBLE,
    (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"),
  );

const shortened = (text: string): string =>
  text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}… (${text.length} characters)`;

/** The same for text of several lines, which keeps its line ends and tabs. */
export const plainLines = (text: string): string =>
  shortened(text).replace(INVISIBLE, (char) => /[\n\t]/.test(char) ? char : plain(char));

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** E.g. `1.4 GiB`; a dash for unknown. */
export function bytes(count: number | null | undefined): string {
  if (count == null) return "–";
  const unit = Math.min(Math.floor(Math.log2(Math.max(count, 1)) / 10), UNITS.length - 1);
  return `${threeDigits(count / 1024 ** unit)} ${UNITS[unit]}`;
}

/** E.g. `12.5 %`; a dash for unknown. */
export const percent = (value: number | null | undefined): string =>
  value == null ? "–" : `${threeDigits(value)} %`;

/** E.g. `0.25`, `1.4`, `12`, `123`. */
function threeDigits(value: number): string {
  if (value === 0 || value >= 100) return value.toFixed(0);
  return String(Number(value.toFixed(value >= 10 ? 1 : 2)));
}

/** E.g. `1 container`, `2 containers`. */
export const count = (n: number, noun: string, plural = `${noun}s`): string =>
  `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;

const STEPS = [
  { seconds: 86_400 * 365, unit: "y" },
  { seconds: 86_400 * 30, unit: "mo" },
  { seconds: 86_400, unit: "d" },
  { seconds: 3_600, unit: "h" },
  { seconds: 60, unit: "min" },
  { seconds: 1, unit: "s" },
] as const;

/** E.g. `3 h`. */
export function duration(seconds: number): string {
  const step = STEPS.find((each) => seconds >= each.seconds) ?? STEPS.at(-1)!;
  return `${Math.floor(seconds / step.seconds)} ${step.unit}`;
}

/** E.g. `3 h ago`, `in 2 d`, `now`. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.abs(now - at) / 1000;
  if (seconds < 10) return "now";
  return at < now ? `${duration(seconds)} ago` : `in ${duration(seconds)}`;
}

/** With a capital letter, e.g. the engine's `running` as `Running`. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Digits in it are compared by their value up to this many. */
const DIGITS_MAX = 20;

/**
 * Texts in the order of their keys are in the order of people: without regard to case and accents,
 * `web-2` before `web-10`. Comparing keys is much cheaper than `Intl.Collator`.
 */
export const collationKey = (text: string): string =>
  text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/\d+/g, (digits) => digits.padStart(DIGITS_MAX, "0"));

export function byCollation(a: string, b: string): number {
  const [x, y] = [collationKey(a), collationKey(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The name of an image without its digest, and with a short id instead of a bare one. */
export const imageName = (image: string): string =>
  plain(
    image.replace(/@sha256:[0-9a-f]{64}$/, "").replace(/^sha256:([0-9a-f]{12})[0-9a-f]+$/, "$1"),
  );

/** E.g. `84 ms`, `1.2 s`; a dash for unknown. */
export function milliseconds(ms: number | null | undefined): string {
  if (ms == null) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${threeDigits(ms / 1000)} s`;
}

/** E.g. `99.93 %`, rounded down: 100 % only without any downtime. A dash for unknown. */
export const uptime = (value: number | null | undefined): string =>
  value == null ? "–" : `${Math.floor(value * 100) / 100} %`;
