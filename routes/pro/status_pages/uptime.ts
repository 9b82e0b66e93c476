/**
 * The uptime bar of a component: one column for each day, a percentage, and the days with downtime
 * as text for readers who do not see the bar.
 *
 * @module
 */

import type { ComponentUptime } from "../../../services/pro/status_pages/uptime.ts";
import { type Markup, markup } from "../../html/markup.ts";
import { dayText } from "./time.ts";

/** Column width with gap, column width and height, in units of the drawing. */
const STEP = 6;
const WIDTH = 4;
const HEIGHT = 32;

export function uptimeBar({ uptime_percent, days }: ComponentUptime): Markup {
  const known = days.filter((day) => day.uptime_percent !== null);
  const withDowntime = known.filter((day) => day.uptime_percent! < 100).toReversed();
  const summary = uptime_percent === null
    ? `No uptime data for the last ${days.length} days yet`
    : `${percent(uptime_percent)} uptime in the last ${days.length} days`;
  const label = `${summary}. Days with downtime: ${withDowntime.length}. ` +
    `Days without data: ${days.length - known.length}.`;
  return markup`<div class="uptime">
<svg class="bar" viewBox="0 0 ${
    days.length * STEP - (STEP - WIDTH)
  } ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${
    days.map((day, n) =>
      markup`<rect class="${levelOf(day.uptime_percent)}" x="${
        n * STEP
      }" width="${WIDTH}" height="${HEIGHT}"><title>${textOf(day)}</title></rect>`
    )
  }</svg>
<p class="scale"><span>${days.length} days ago</span><b>${
    uptime_percent === null ? "No data yet" : `${percent(uptime_percent)} uptime`
  }</b><span>Today</span></p>${
    withDowntime.length > 0 && markup`
<details><summary>${
      withDowntime.length === 1 ? "1 day" : `${withDowntime.length} days`
    } with downtime</summary><ul>${
      withDowntime.map((day) => markup`<li>${textOf(day)}</li>`)
    }</ul></details>`
  }
</div>`;
}

type Day = ComponentUptime["days"][number];

const textOf = ({ date, uptime_percent }: Day) =>
  `${dayText(date)}: ${uptime_percent === null ? "no data" : percent(uptime_percent)}`;

/** Two decimals, rounded down: 100 % only without any downtime. */
const percent = (value: number) => `${Math.floor(value * 100) / 100} %`;

function levelOf(value: number | null): string {
  if (value === null) return "unknown";
  if (value === 100) return "up";
  if (value >= 99) return "slightly";
  return value >= 95 ? "partly" : "down";
}
