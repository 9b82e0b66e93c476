/** Quiet hours: a daily time in which a channel gets only what is important. @module */

import type { QuietHours } from "../../db/notification_channels.ts";
import { AppError } from "../errors.ts";
import { hostTimeZone, normalizeTimeZone, wallClock } from "../input/cron.ts";

export type { QuietHours };

/** Quiet hours in a request. The time zone is that of the host unless given. */
export type NewQuietHours = Omit<QuietHours, "timeZone"> & { timeZone?: string | undefined };

/** @throws {AppError} `invalid` for an unknown time zone, and if the hours are empty. */
export function normalizeQuietHours(
  { timeZone = hostTimeZone(), ...hours }: NewQuietHours,
): QuietHours {
  if (hours.from === hours.to) {
    throw new AppError("invalid", "body.quietHours.to: must differ from quietHours.from");
  }
  return { ...hours, timeZone: normalizeTimeZone(timeZone, "body.quietHours.timeZone") };
}

/** Whether clocks of the time zone show a time within the quiet hours, which may include midnight. */
export function isQuiet({ from, to, timeZone }: QuietHours, at: Date): boolean {
  const time = wallClock(timeZone, at).toISOString().slice(11, 16);
  return from < to ? from <= time && time < to : from <= time || time < to;
}
