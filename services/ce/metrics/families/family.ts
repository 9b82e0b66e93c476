/**
 * Metrics as they are exported: what is measured elsewhere, read at the moment of the scrape.
 *
 * @module
 */

export type Labels = Readonly<Record<string, string>>;

/** One line of the export. */
export interface Series {
  /** Where it differs from the family's, as in the parts of a histogram. */
  metricName?: string;
  labels?: Labels;
  /** Labels that many lines have: written out once and kept as long as this object is. */
  sharedLabels?: Labels;
  value: number;
}

/** All lines of one name. Names, types and units follow prometheus.io/docs/practices/naming. */
export interface Family {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  values: Series[];
}

/** Longest value of a label that strangers choose: a label of a container may be megabytes long. */
const LABEL_LENGTH_MAX = 255;

export function gauge(name: string, help: string, values: Series[] | number): Family {
  return { name, help, type: "gauge", values: seriesOf(values) };
}

/** What only rises, but for the start of whatever is counted. */
export function counter(name: string, help: string, values: Series[] | number): Family {
  return { name, help, type: "counter", values: seriesOf(values) };
}

/** A gauge of 1 that is there for its labels. */
export function info(name: string, help: string, labels: Labels): Family {
  return gauge(name, help, [{ labels, value: 1 }]);
}

/** One line for each value of a label, e.g. `by("state", { running: 3, exited: 1 })`. */
export function by(label: string, counts: Readonly<Record<string, number>>): Series[] {
  return Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

export function labelValue(text: string): string {
  return text.length > LABEL_LENGTH_MAX ? text.slice(0, LABEL_LENGTH_MAX) : text;
}

export const flag = (value: boolean) => value ? 1 : 0;

/** Unix seconds of an ISO 8601 time. */
export const unixSeconds = (time: string) => Date.parse(time) / 1000;

function seriesOf(values: Series[] | number): Series[] {
  return typeof values === "number" ? [{ value: values }] : values;
}
