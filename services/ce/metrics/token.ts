/**
 * The token of metrics scrapers.
 *
 * @module
 */

import { timingSafeEqual } from "../../auth/timing_safe_equal.ts";

/** Whether the given text is the token. */
export const isMetricsToken = (given: string | undefined, secret: string): boolean =>
  given !== undefined && timingSafeEqual(given, secret);
