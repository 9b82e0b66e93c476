/** Prints figures as a table. @module */

/** The columns are those of the first row; figures are aligned right. */
export function printTable(title: string, rows: Record<string, string | number>[]): void {
  console.log(`\n${title}`);
  const columns = Object.keys(rows[0] ?? {});
  const text = (value: string | number | undefined) =>
    typeof value === "number" ? value.toFixed(value >= 100 ? 0 : 2) : value ?? "";
  const width = (column: string) =>
    Math.max(column.length, ...rows.map((row) => text(row[column]).length));
  const line = (cells: string[]) => console.log("  " + cells.join("  "));
  line(
    columns.map((column, i) => i ? column.padStart(width(column)) : column.padEnd(width(column))),
  );
  for (const row of rows) {
    line(columns.map((column, i) => {
      const cell = text(row[column]);
      return i ? cell.padStart(width(column)) : cell.padEnd(width(column));
    }));
  }
}

/** One figure against its bound. */
export function printVerdict(what: string, value: number, bound: number, unit = ""): void {
  const holds = value <= bound;
  console.log(
    `  ${holds ? "holds " : "MISSED"}  ${what}: ${
      value.toFixed(2)
    }${unit} (at most ${bound}${unit})`,
  );
}

/** The upper median; `NaN` for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
