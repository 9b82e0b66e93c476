/**
 * Columns of sampled figures. In a row of one sample minimum, mean and maximum are equal: only the mean
 * is stored, and the others are in columns that end with `_min` and `_max`.
 *
 * @module
 */

/** Figures by name, each with its column and the weight of its averages. */
export type SeriesColumns = Readonly<Record<string, { column: string; weight: string }>>;

/** The columns of samples, and the parameters of their values. */
export function sampleColumns(series: SeriesColumns): { columns: string; parameters: string } {
  return {
    columns: Object.values(series).map(({ column }) => column).join(", "),
    parameters: Object.keys(series).map((name) => `:${name}`).join(", "),
  };
}

/** The columns of roll-ups, in the order of {@linkcode aggregates}. */
export const rollUpColumns = (series: SeriesColumns): string =>
  Object.values(series)
    .map(({ column }) => `${column}_min, ${column}, ${column}_max`).join(", ");

/** Minimum, mean and maximum over the rows of a group, as e.g. `memoryMin`, `memory`, `memoryMax`. */
export const aggregates = (series: SeriesColumns): string =>
  Object.entries(series).map(([name, { column, weight }]) =>
    `min(coalesce(${column}_min, ${column})) AS ${name}Min,
     sum(${column} * ${weight}) / sum(${weight}) AS ${name},
     max(coalesce(${column}_max, ${column})) AS ${name}Max`
  ).join(", ");
