/** CSV (RFC 4180) that spreadsheets do not interpret as formulas. @module */

/**
 * Text that a spreadsheet may interpret as a formula: an operator, also in full width or after
 * invisible characters, or a leading tab or line break, which starts a new cell in programs that
 * ignore quotes.
 */
const FORMULA =
  /^(?:[\p{White_Space}\p{Cc}\p{Cf}\p{Zs}]*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20\uFF5C\uFF05\u2212\uFE62\uFE63\uFE66\uFE6B]|[\t\r\n])/u;

/** Formats a line with its line break. Every cell is quoted; `null` is an empty cell. */
export function csvLine(cells: readonly (string | null)[]): string {
  return cells.map(csvCell).join(",") + "\r\n";
}

function csvCell(text: string | null): string {
  return `"${escapeFormula(text ?? "").replaceAll('"', '""')}"`;
}

/** A leading apostrophe makes a cell text. */
function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The texts from which {@linkcode csvLine} can have made a cell, the likely one first. */
export function cellVariants(cell: string): string[] {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? [cell.slice(1), cell] : [cell];
}

/** Yields the cells of each line; `undefined` for an incomplete last line. */
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
