/** Times of RFC 3339 with nanoseconds, as Go writes and reads them. @module */

const BILLION = 1_000_000_000n;

/** Years that RFC 3339 has. */
const FIRST = BigInt(Date.parse("0000-01-01T00:00:00Z")) * 1_000_000n;
const LAST = BigInt(Date.parse("9999-12-31T23:59:59Z")) * 1_000_000n;

/** Formats nanoseconds since 1970 in UTC. Times before the year 0 and after 9999 become these. */
export function formatTime(nanoseconds: bigint): string {
  const time = nanoseconds < FIRST ? FIRST : nanoseconds > LAST ? LAST : nanoseconds;
  const fraction = ((time % BILLION) + BILLION) % BILLION;
  const seconds = new Date(Number((time - fraction) / 1_000_000n)).toISOString().slice(0, 19);
  let digits = String(fraction).padStart(9, "0");
  while (digits.endsWith("0")) digits = digits.slice(0, -1);
  return `${seconds}${digits === "" ? "" : `.${digits}`}Z`;
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** @returns Nanoseconds since 1970; `undefined` for another text. */
export function parseTime(text: string): bigint | undefined {
  const [, seconds, fraction = "", zone] = TIME.exec(text) ?? [];
  const milliseconds = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(milliseconds)) return undefined;
  return BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}
