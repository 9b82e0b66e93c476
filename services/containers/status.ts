/**
 * The status text of a container as in `docker ps`: "Up 3 minutes (healthy)". It is computed here,
 * because it changes with time.
 *
 * @module
 */

import type { Container } from "./inventory.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const MONTH = 30 * DAY;
const YEAR = 365 * DAY;

/** The durations up to which each unit is used, as in `docker ps`. */
const UNITS: readonly { below: number; unit: number; name: string; one?: string }[] = [
  { below: MINUTE, unit: SECOND, name: "second" },
  { below: HOUR, unit: MINUTE, name: "minute", one: "About a minute" },
  { below: 2 * DAY, unit: HOUR, name: "hour", one: "About an hour" },
  { below: 2 * WEEK, unit: DAY, name: "day" },
  { below: 2 * MONTH, unit: WEEK, name: "week" },
  { below: 2 * YEAR, unit: MONTH, name: "month" },
  { below: Infinity, unit: YEAR, name: "year" },
];

export function statusText(container: Container, now: Date): string {
  const { state, health, startedAt, finishedAt, exitCode } = container;
  const up = `Up ${since(startedAt, now)}`;
  switch (state) {
    case "running":
      if (health === null) return up;
      return `${up} (${health === "starting" ? "health: starting" : health})`;
    case "paused":
      return `${up} (Paused)`;
    case "restarting":
      return `Restarting (${exitCode ?? 0}) ${since(finishedAt, now)} ago`;
    case "removing":
      return "Removal In Progress";
    case "dead":
      return "Dead";
    case "created":
      return "Created";
    case "exited":
      return `Exited (${exitCode ?? 0}) ${since(finishedAt, now)} ago`;
  }
}

function since(time: string | null, now: Date): string {
  const duration = time === null ? 0 : Math.max(0, now.getTime() - Date.parse(time));
  if (duration < SECOND) return "Less than a second";
  const { unit, name, one } = UNITS.find(({ below }) => duration < below)!;
  const count = Math.floor(duration / unit);
  if (count === 1) return one ?? `1 ${name}`;
  return `${count} ${name}s`;
}
