/** Durations in labels. @module */

import { AppError } from "../errors.ts";

const SECONDS = { s: 1, m: 60, h: 60 * 60, d: 24 * 60 * 60 } as const;
type Unit = keyof typeof SECONDS;

/**
 * Parses a duration such as `90s`, `30m`, `12h` or `3d`.
 *
 * @param options.unit That of the result, and of a number without a unit.
 * @returns A number from `min` to `max`, which may have decimals.
 * @throws {AppError} `invalid`
 */
export function parseDuration(
  text: string,
  { field, unit, min, max }: { field: string; unit: Unit; min: number; max: number },
): number {
  const [, digits, given = unit] = /^(\d{1,9})([smhd])?$/.exec(text.trim()) ?? [];
  const value = Number(digits) * SECONDS[given as Unit] / SECONDS[unit];
  if (value >= min && value <= max) return value;
  throw new AppError(
    "invalid",
    `${field}: must be a duration from ${min}${unit} to ${max}${unit}, such as ${min}${unit}; ` +
      `got "${text.slice(0, 50)}"`,
  );
}
