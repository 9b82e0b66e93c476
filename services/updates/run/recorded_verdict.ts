/** Verdicts about new images that the other hosts of a fleet shall know. @module */

import { insertUpdateVerdict } from "../../../db/updates/verdicts.ts";
import type { Deps } from "../../deps.ts";
import { lineText } from "../../messages/crash_log.ts";
import type { Evidence } from "./evidence.ts";
import type { UpdateJob } from "./job.ts";

/** Limits of what is kept: verdicts, and lines of a log. */
const VERDICTS_MAX = 100;
const LOG_LINES_MAX = 20;

interface RecordedVerdict {
  outcome: "success" | "failure";
  digests: readonly string[];
  /** Missing in jobs of older versions. */
  platform?: string | undefined;
  imageId: string;
  reason: string;
  evidence?: readonly Evidence[];
}

/**
 * Records a verdict about an image that an update has run here. A rebuild and a rollback say nothing
 * about the image: the one does not observe it, the other may run it on newer data. Must be called in
 * the transaction of the verdict.
 */
export function recordVerdict(
  { changes, db, fleet, now }: Pick<Deps, "changes" | "db" | "fleet" | "now">,
  { input: { name, reference, isRebuild, previousImageId } }: {
    input: Pick<UpdateJob["input"], "name" | "reference" | "isRebuild" | "previousImageId">;
  },
  { outcome, digests, platform, imageId, reason, evidence = [] }: RecordedVerdict,
): void {
  const isInFleet = fleet.membership !== undefined || fleet.isHub;
  if (!isInFleet || isRebuild || previousImageId !== null || platform === undefined) return;
  for (const digest of digests) {
    insertUpdateVerdict(db, {
      id: crypto.randomUUID(),
      outcome,
      digest,
      platform,
      image: reference,
      imageId,
      containerName: name,
      reason,
      log: logOf(evidence, name),
      createdAt: now().toISOString(),
      isTaken: false,
    }, VERDICTS_MAX);
  }
  changes.record("/api/updates");
}

/** The last lines of the container that failed, without their times. */
function logOf(evidence: readonly Evidence[], name: string): string[] {
  const own = evidence.find(({ container }) => container === name) ?? evidence[0];
  return (own?.logLines ?? []).map((line) => lineText(line.slice(line.indexOf(" ") + 1)))
    .filter(Boolean).slice(-LOG_LINES_MAX);
}
