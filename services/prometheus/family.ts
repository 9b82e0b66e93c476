/**
 * Metric families for the export. Their values are measured elsewhere and read when scraped.
 *
 * @module
 */

export type Labels = Readonly<Record<string, string>>;

/** One line of the export. */
export interface Series {
  /** If different from the family's name, as in a histogram. */
  metricName?: string;
  labels?: Labels;
  /** Labels of many lines. The library formats them once per object. */
  sharedLabels?: Labels;
  value: number;
}

/** All series of a metric. Names, types and units follow prometheus.io/docs/practices/naming. */
export interface Family {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  values: Series[];
}

/** Limit of label values from outside: the labels of a container can be megabytes long. */
const LABEL_LENGTH_MAX = 255;

/** A counter if the name ends with `_total`, which is the naming rule, and otherwise a gauge. */
export function metric(name: string, help: string, values: Series[] | number): Family {
  return {
    name,
    help,
    type: name.endsWith("_total") ? "counter" : "gauge",
    values: typeof values === "number" ? [{ value: values }] : values,
  };
}

/** A gauge with the value 1, which carries information in its labels. */
export function info(name: string, help: string, labels: Labels): Family {
  return metric(name, help, [{ labels, value: 1 }]);
}

/** One series per value of a label, e.g. `by("state", { running: 3, exited: 1 })`. */
export function by(label: string, counts: Readonly<Record<string, number>>): Series[] {
  return Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

export function labelValue(text: string): string {
  return text.length > LABEL_LENGTH_MAX ? text.slice(0, LABEL_LENGTH_MAX) : text;
}

export const flag = (value: boolean) => value ? 1 : 0;

/** Unix seconds of an ISO 8601 time. */
export const unixSeconds = (time: string) => Date.parse(time) / 1000;
