/**
 * The exposition format of Prometheus, read strictly enough for a test
 * (https://prometheus.io/docs/instrumenting/exposition_formats/).
 *
 * @module
 */

export interface ExposedSeries {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Exposition {
  /** Type by name. */
  types: Map<string, string>;
  helps: Map<string, string>;
  series: ExposedSeries[];
  /** All of a name, or only those that have these labels. */
  find(name: string, labels?: Record<string, string>): ExposedSeries[];
  /** The value of the only one. */
  value(name: string, labels?: Record<string, string>): number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/** @throws {Error} For an invalid line and for a duplicate series. */
export function readExposition(text: string): Exposition {
  const types = new Map<string, string>();
  const helps = new Map<string, string>();
  const series: ExposedSeries[] = [];
  const seen = new Set<string>();
  for (const line of text.split("\n")) {
    const [, keyword, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword) (keyword === "TYPE" ? types : helps).set(name!, rest!);
    if (line === "" || line.startsWith("#")) continue;

    const [, metric, labels = "", value] = LINE.exec(line) ?? [];
    if (metric === undefined || Number.isNaN(Number(value?.replace("+Inf", "Infinity")))) {
      throw new Error(`Not a line of the format: ${line}`);
    }
    const one = { name: metric, labels: readLabels(labels), value: Number(value) };
    const key = metric + JSON.stringify(Object.entries(one.labels).sort());
    if (seen.has(key)) throw new Error(`There twice: ${line}`);
    seen.add(key);
    series.push(one);
  }

  const find: Exposition["find"] = (name, labels = {}) =>
    series.filter((one) =>
      one.name === name &&
      Object.entries(labels).every(([label, value]) => one.labels[label] === value)
    );
  return {
    types,
    helps,
    series,
    find,
    value(name, labels) {
      const found = find(name, labels);
      if (found.length !== 1) throw new Error(`${name} is there ${found.length} times`);
      return found[0]!.value;
    },
  };
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex;
    const [, name, value] = LABEL.exec(text) ?? [];
    if (name === undefined) throw new Error(`Not a label: ${text.slice(at)}`);
    labels[name] = value!.replace(/\\(.)/g, (_, char) => char === "n" ? "\n" : char);
  }
  return labels;
}
