/**
 * Plain text for people. Names are on one line and isolated from the surrounding text direction, so that
 * they cannot imitate other parts.
 *
 * @module
 */

/** Limits of a name and of a multi-line text, in UTF-16 code units. */
const NAME_MAX = 300;
const MESSAGE_MAX = 3_000;

/** Truncates without splitting a surrogate pair. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, max - 3).replace(/[\uD800-\uDBFF]$/, "").trimEnd() + "...";
}

/** Joins the parts; an empty string if `text` is empty. */
export function joined(before: string, text: string, after = ""): string {
  return text === "" ? "" : before + text + after;
}

/** E.g. `Status: open -> resolved`. */
export function change(before: string, after: string): string {
  const readable = (status: string) => status.replaceAll("_", " ");
  return before === "" || after === ""
    ? joined("Status: ", readable(after))
    : `Status: ${readable(before)} -> ${readable(after)}`;
}

/** The two largest units, e.g. `2 h 5 min` for `"7512"`. */
export function duration(seconds: string): string {
  const total = Math.round(Number(seconds));
  if (seconds === "" || !Number.isFinite(total)) return seconds;
  const parts = [
    [Math.floor(total / 86_400), "d"],
    [Math.floor(total / 3_600) % 24, "h"],
    [Math.floor(total / 60) % 60, "min"],
    [total % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return parts.slice(first, first + 2).filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`).join(" ");
}

/** E.g. `2026-01-31 12:00:00 UTC`. */
export function moment(time: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time)
    ? `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`
    : time;
}

/** Bidirectional control characters. */
const BIDI_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

const RIGHT_TO_LEFT =
  /[\p{Script=Adlam}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Nko}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** Puts text on one line and isolates right-to-left text. */
export function inline(text: string): string {
  const line = truncate(
    text.toWellFormed().replace(BIDI_CONTROLS, "").replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim(),
    NAME_MAX,
  );
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}

/** Removes control characters; keeps line breaks, but at most one empty line in a row. */
export function paragraphs(text: string): string {
  const lines = text.toWellFormed().replace(BIDI_CONTROLS, "").split(/\r\n?|[\n\p{Zl}\p{Zp}]/u)
    .map((line) => line.replace(/\p{Cc}+/gu, " ").trimEnd());
  return truncate(
    lines.filter((line, i) => line !== "" || lines[i - 1] !== "").join("\n").trim(),
    MESSAGE_MAX,
  );
}
