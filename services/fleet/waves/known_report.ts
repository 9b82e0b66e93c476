/** The last report of a host, as its hub keeps it. @module */

import type { Report, ReportedVerdict } from "./report.ts";

export interface KnownReport extends Pick<Report, "platform" | "affected"> {
  /** Until they are stored. */
  verdicts: readonly ReportedVerdict[] | undefined;
  /** Until when the hub knows that it holds: the host sends what has changed. */
  holdsUntil: Date;
  /** Whether the log of the hub names a verdict of the host that was ignored. */
  isWarned: boolean;
}
