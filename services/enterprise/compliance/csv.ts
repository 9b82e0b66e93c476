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

/** The texts that a cell of {@linkcode csvLine} can stand for, the likely one first. */
export function cellVariants(cell: string): string[] {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? [cell.slice(1), cell] : [cell];
}

/** The cells of each line; `undefined` for a last line that is not complete. */
export function* parseCsv(text: string): Generator<string[] | undefined> {
  const cell = /"((?:[^"]|"")*)"(,|\r?\n|$)|([^",\r\n]*)(,|\r?\n|$)/y;
  let cells: string[] = [];
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (!match) return void (yield undefined);
    const [, quoted, quotedEnd, plain = "", plainEnd] = match;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    const end = quotedEnd ?? plainEnd;
    // Every line of an export ends with a line break.
    if (end === "") return void (yield undefined);
    if (end === ",") continue;
    yield cells;
    cells = [];
  }
  if (cells.length > 0) yield undefined;
}
