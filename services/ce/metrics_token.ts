/**
 * The token of a scraper that cannot log in.
 *
 * @module
 */

import { isSameText } from "../same_text.ts";

/** Whether the given text is the token. */
export const isMetricsToken = (given: string | undefined, secret: string): boolean =>
  given !== undefined && isSameText(given, secret);
