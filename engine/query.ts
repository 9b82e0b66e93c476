/** Options, query parameters and timeouts that several operations share. @module */

/** Filters of lists and prunes: several values of one name are alternatives. */
export type Filters = Record<string, readonly string[]>;

/** The option of all operations that cancels the request. */
export interface Signal {
  signal?: AbortSignal | undefined;
}

/** Extra time for the engine beyond the duration of an operation, in seconds. */
const MARGIN_S = 30;

/** The `filters` parameter; undefined without filters. */
export function filtersText(filters: Filters | undefined): string | undefined {
  return filters && Object.keys(filters).length > 0 ? JSON.stringify(filters) : undefined;
}

/** Timeout in milliseconds for an operation that takes up to `seconds`. */
export function withMargin(seconds: number): number {
  return (seconds + MARGIN_S) * 1000;
}

/** Whether API version `version` is `wanted` or newer; both like `1.41`. */
export function isAtLeast(version: string | undefined, wanted: string): boolean {
  const [major = 0, minor = 0] = (version ?? "0.0").split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
