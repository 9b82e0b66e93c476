/** A chart over time. The library is loaded with the first one. @module */

import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { colorOf, shownTheme } from "../state/appearance.ts";

export interface Series {
  name: string;
  /** One value for each time; `null` where nothing was measured. */
  values: readonly (number | null)[];
}

export interface ChartProps {
  /** The metric and the range, e.g. `CPU, last hour`. */
  name: string;
  /** Unix seconds, ascending. */
  times: readonly number[];
  /** Length of the time axis, in seconds; without it, the axis follows the values. */
  seconds?: number;
  series: readonly Series[];
  format: (value: number | null) => string;
  /** The scale has steps of powers of two, as sizes are written with KiB and MiB. */
  binary?: boolean;
  /** Top of the scale; without one it follows the values. */
  max?: number;
  height?: number;
}

/** Its name says the figures: `CPU, last hour: 3 % now, 12 % highest`. */
export function Chart(props: ChartProps) {
  const { name, times, seconds, series, format, binary, max, height = 150 } = props;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = [times, ...series.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  const names = series.map((each) => each.name).join();

  useEffect(() => {
    let isGone = false;
    void draw(
      frame.current!,
      () => latest.current,
      { series, seconds, format, binary, max, height },
      (made) => {
        if (isGone) made.destroy();
        else plot.current = made;
      },
    );
    const resized = new ResizeObserver(([entry]) => {
      const { width } = entry!.contentRect;
      // It is also called at first, without a change, and when the chart has been removed.
      if (width > 0 && width !== plot.current?.width) plot.current?.setSize({ width, height });
    });
    resized.observe(frame.current!);
    return () => {
      isGone = true;
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [names, seconds, max, height, shownTheme.value]);
  useEffect(() => plot.current?.setData(data), [data]);

  const figures = series.map((each) => {
    const known = each.values.filter((value) => value !== null);
    const prefix = series.length > 1 ? `${each.name} ` : "";
    if (known.length === 0) return `${prefix}no data`;
    const highest = known.reduce((a, b) => Math.max(a, b), -Infinity);
    return `${prefix}${format(each.values.at(-1) ?? null)} now, ${format(highest)} highest`;
  });
  const isEmpty = series.every(({ values }) => values.every((value) => value === null));
  return (
    <div
      ref={frame}
      class="chart"
      style={{ height: `${height}px` }}
      role="img"
      aria-label={`${name}: ${figures.join("; ")}`}
    >
      {isEmpty && <p class="chart-empty">No data in this range yet</p>}
    </div>
  );
}

async function draw(
  frame: HTMLElement,
  data: () => uPlot.AlignedData,
  { series, seconds, format, binary, max, height }: Pick<ChartProps, "series" | "format"> & {
    binary: boolean | undefined;
    seconds: number | undefined;
    max: number | undefined;
    height: number;
  },
  onMade: (made: uPlot) => void,
): Promise<void> {
  const { default: UPlot } = await import("uplot");
  const color = (name: string) => colorOf(frame, name);
  const axis = {
    stroke: color("--muted"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  onMade(
    new UPlot(
      {
        width: frame.clientWidth,
        height,
        cursor: { y: false, points: { size: 6 } },
        legend: { show: false },
        scales: {
          x: { range: (_, first, last) => timeRange(first, last, seconds) },
          y: { range: (_, __, top) => [0, max ?? (top > 0 ? top * 1.1 : 1)] },
        },
        axes: [
          {
            ...axis,
            size: 24,
            space: 80,
            values: (_, splits, __, ___, step) => timeLabels(splits, step),
          },
          {
            ...axis,
            size: 62,
            space: 34,
            values: (_, splits) => splits.map(format),
            ...(binary && { incrs: POWERS_OF_TWO }),
          },
        ],
        series: [
          {},
          ...series.map(({ name }, at) => ({
            label: name,
            stroke: color(`--chart-${at + 1}`),
            fill: at === 0 ? color("--chart-fill") : "transparent",
            width: 1.5,
            points: { show: false },
            spanGaps: false,
          })),
        ],
        plugins: [tooltip(series.map(({ name }) => name), format)],
      },
      data(),
      frame,
    ),
  );
}

const POWERS_OF_TWO = Array.from({ length: 50 }, (_, power) => 2 ** power);

function timeRange(
  first: number | null,
  last: number | null,
  seconds: number | undefined,
): [number, number] {
  const end = seconds === undefined && last !== null ? last : Date.now() / 1000;
  if (seconds !== undefined) return [end - seconds, end];
  return first === null || first === last ? [end - 60, end] : [first, end];
}

/** The time of day, or the day where labels are at least a day apart. */
function timeLabels(splits: readonly number[], step: number): string[] {
  const format = new Intl.DateTimeFormat(
    undefined,
    step >= 86_400 ? { month: "short", day: "numeric" } : {
      hourCycle: "h23",
      hour: "2-digit",
      minute: "2-digit",
      ...(step < 60 && { second: "2-digit" }),
    },
  );
  return splits.map((at) => format.format(at * 1000));
}

/** Time and values at the pointer. */
function tooltip(names: readonly string[], format: ChartProps["format"]): uPlot.Plugin {
  const box = document.createElement("div");
  box.className = "chart-tip";
  const time = new Intl.DateTimeFormat(undefined, {
    dateStyle: "medium",
    timeStyle: "medium",
    hourCycle: "h23",
  });
  return {
    hooks: {
      init: (plot) => void plot.over.append(box),
      setCursor(plot) {
        const { idx, left = -1 } = plot.cursor;
        box.hidden = idx == null || left < 0;
        if (box.hidden) return;
        const values = names.map((name, at) => {
          const value = format(plot.data[at + 1]![idx!] ?? null);
          return names.length > 1 ? `${name} ${value}` : value;
        });
        box.textContent = [time.format(plot.data[0][idx!]! * 1000), ...values].join("  ·  ");
        const isRight = left > plot.over.clientWidth / 2;
        box.style.left = isRight ? "" : `${left + 10}px`;
        box.style.right = isRight ? `${plot.over.clientWidth - left + 10}px` : "";
      },
    },
  };
}
