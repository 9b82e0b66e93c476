/** Tables on the terminal. @module */

import type { Program } from "./program.ts";

/** Prints rows with aligned columns; the first row is the header. */
export function printTable({ print }: Pick<Program, "print">, rows: readonly string[][]): void {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  for (const row of rows) {
    print(row.map((text, at) => text.padEnd(widths[at]!)).join("  ").trimEnd());
  }
}
