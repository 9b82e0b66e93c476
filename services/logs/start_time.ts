/** Times in requests for logs. @module */

import { AppError } from "../errors.ts";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Longest duration, in seconds: ten years. */
const DURATION_MAX_S = 10 * 366 * 86_400;

/** Last second of the year 9999. */
const UNIX_SECONDS_MAX = 253_402_300_799;

const ISO_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * Parses a time or a duration until `now`: `2026-01-31T12:00:00Z`, Unix seconds, `15m`, `1h30m`.
 *
 * @param field Names the value in the message.
 * @returns Unix seconds with nine decimal places, the format of the engine.
 * @throws {AppError} `invalid`.
 */
export function parseStart(text: string, now: Date, field = "since"): string {
  if (/^(?:\d{1,6}[smhd]){1,4}$/.test(text)) {
    const parts = text.matchAll(/(\d+)([smhd])/g);
    const seconds = parts.reduce(
      (sum, [, count, unit]) => sum + Number(count) * SECONDS[unit!]!,
      0,
    );
    if (seconds <= DURATION_MAX_S) return (now.getTime() / 1000 - seconds).toFixed(3) + "000000";
  }
  try {
    return parseSince(text);
  } catch (cause) {
    throw new AppError(
      "invalid",
      `query.${field}: Expected a time in ISO 8601 (2026-01-31T12:00:00Z), Unix seconds or a ` +
        "duration (15m)",
      { cause },
    );
  }
}

/**
 * Parses a time from a request: ISO 8601 (`2026-01-01`, `2026-01-01T12:00:00.5+01:00`; UTC without a
 * zone), or Unix seconds with or without a fraction.
 *
 * @returns Unix seconds with nine decimal places, the format of the engine.
 * @throws {AppError} `invalid`.
 */
export function parseSince(text: string): string {
  const unix = /^(\d{1,12})(?:\.(\d{1,9})\d*)?$/.exec(text);
  if (unix && Number(unix[1]) <= UNIX_SECONDS_MAX) {
    return `${Number(unix[1])}.${(unix[2] ?? "").padEnd(9, "0")}`;
  }
  const seconds = isoSeconds(text);
  if (seconds === undefined) {
    throw new AppError(
      "invalid",
      "query.since: Expected a time in ISO 8601 (2026-01-31T12:00:00Z) or Unix seconds",
    );
  }
  return seconds;
}

function isoSeconds(text: string): string | undefined {
  const match = ISO_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = ""] = match;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // `Date` turns 30 February into 2 March.
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return undefined;
  const offset = offsetMinutes(match[8] ?? "Z");
  if (offset === undefined) return undefined;
  const seconds = date.getTime() / 1000 - offset * 60;
  if (seconds < 0 || seconds > UNIX_SECONDS_MAX) return undefined;
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}

function offsetMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
