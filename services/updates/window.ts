/**
 * Windows: recurring times, e.g. those at which containers may be updated automatically.
 *
 * @module
 */

import { AppError } from "../errors.ts";
import {
  assertCron,
  hostTimeZone,
  type NextDue,
  nextDue,
  normalizeTimeZone,
} from "../input/cron.ts";
import { parseDuration } from "./duration.ts";

/** Shortest and longest window, in minutes. */
export const WINDOW_MINUTES = { min: 5, max: 7 * 24 * 60 } as const;

const DEFAULT_MINUTES = 60;

const MINUTE_MS = 60_000;

export interface UpdateWindow {
  /** When it opens: five fields, see `assertCron()`. */
  cron: string;
  /** IANA name. */
  timeZone: string;
  durationMinutes: number;
}

/**
 * Checks the cron expression and the time zone, whose name is normalized.
 *
 * @param field Names the window in messages, e.g. `body.windows.0`.
 * @throws {AppError} `invalid`
 */
export function normalizeWindow(window: UpdateWindow, field: string): UpdateWindow {
  assertCron(window.cron, `${field}.cron`);
  return { ...window, timeZone: normalizeTimeZone(window.timeZone, `${field}.timeZone`) };
}

/**
 * Parses a window in one line: a cron expression, then optionally a time zone (default: the host's)
 * and a duration (default: one hour), e.g. `0 3 * * sat Europe/Berlin 2h`.
 *
 * @throws {AppError} `invalid`
 */
export function parseWindow(text: string, field: string): UpdateWindow {
  const words = text.trim().split(/\s+/);
  const cron = words.splice(0, 5).join(" ");
  const duration = /^\d/.test(words.at(-1) ?? "") ? words.pop() : undefined;
  const [timeZone = hostTimeZone(), ...more] = words;
  if (more.length > 0) {
    throw new AppError(
      "invalid",
      `${field}: must be a cron expression, a time zone and a duration, such as ` +
        '"0 3 * * sat Europe/Berlin 2h"',
    );
  }
  assertCron(cron, field);
  return {
    cron,
    timeZone: normalizeTimeZone(timeZone, field),
    durationMinutes: duration === undefined ? DEFAULT_MINUTES : parseDuration(duration, {
      field,
      unit: "m",
      ...WINDOW_MINUTES,
    }),
  };
}

/**
 * When an open window opened; `undefined` if it is closed.
 *
 * @param options.after Ignores openings at or before this time.
 */
export function openedAt(
  { cron, timeZone, durationMinutes }: UpdateWindow,
  now: Date,
  { after = new Date(0), next = nextDue }: { after?: Date | undefined; next?: NextDue } = {},
): Date | undefined {
  const earliest = now.getTime() - durationMinutes * MINUTE_MS;
  const opening = next(cron, timeZone, new Date(Math.max(earliest, after.getTime())));
  return opening <= now ? opening : undefined;
}
