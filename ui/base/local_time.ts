/** Times in fields of the type `datetime-local`, which have no time zone. @module */

/** A time (ISO 8601) as the field shows it, in the browser's time zone; empty for none. */
export function toLocalInput(at: string | null | undefined): string {
  if (at == null) return "";
  const date = new Date(at);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** The value of the field in ISO 8601, UTC; `null` for none. */
export const fromLocalInput = (value: string): string | null =>
  value === "" ? null : new Date(value).toISOString();
