/** Numbers and amounts of bytes as texts. @module */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** E.g. `1.5 MiB`. */
export function byteText(count: number): string {
  const step = Math.floor(Math.log2(Math.max(count, 1)) / 10);
  const unit = Math.min(step, UNITS.length - 1);
  return `${numberText(count / 1024 ** unit)} ${UNITS[unit]}`;
}

/** E.g. `1,234.5`. */
export const numberText = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: 2 });
