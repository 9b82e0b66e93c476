/**
 * CSV (RFC 4180) that a spreadsheet can open without running any of it.
 *
 * @module
 */

/**
 * What spreadsheets take for the beginning of a formula or a call, also in full width, and also
 * behind what cannot be seen. A tab or a line break at the beginning ends up in the next cell where
 * quotes are not understood.
 */
const FORMULA =
  /^(?:[\p{White_Space}\p{Cc}\p{Cf}\p{Zs}]*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20\uFF5C\uFF05\u2212\uFE62\uFE63\uFE66\uFE6B]|[\t\r\n])/u;

/** A line with its end. Every cell is quoted; `null` is an empty one. */
export function csvLine(cells: readonly (string | null)[]): string {
  return cells.map(csvCell).join(",") + "\r\n";
}

function csvCell(text: string | null): string {
  return `"${harmless(text ?? "").replaceAll('"', '""')}"`;
}

/** With an apostrophe in front a cell is text. */
function harmless(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
