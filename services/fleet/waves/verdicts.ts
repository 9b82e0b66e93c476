/** Verdicts of a host after its report. Without side effects. @module */

import type { FleetVerdict } from "../../../db/fleet_verdicts.ts";
import type { ReportedVerdict } from "./report.ts";

/** Limit of the verdicts of a host that are kept. */
const KEPT_MAX = 200;

/** A host's verdicts after a report. */
export interface Reported {
  /** All that are kept, newest first. */
  verdicts: FleetVerdict[];
  /** Failures that were not known before. */
  failures: ReportedVerdict[];
}

/**
 * @param known The verdicts of the host that were kept before, newest first.
 * @param soakMs Time for which an image must be well before it is proven.
 */
export function applyReport(
  known: readonly FleetVerdict[],
  verdicts: readonly ReportedVerdict[],
  { hostId, at, soakMs }: { hostId: string; at: Date; soakMs: number },
): Reported {
  const byId = new Map(known.map((verdict) => [verdict.id, verdict]));
  const reported = verdicts.map((each): FleetVerdict => {
    const before = byId.get(each.id);
    byId.delete(each.id);
    return follow(before ?? { ...each, hostId, ...NEW, seenAt: at.toISOString() }, {
      state: each.state,
      at,
      soakMs,
    });
  });
  // The host has forgotten the others.
  const forgotten = [...byId.values()].map((each) => follow(each, { state: "gone", at, soakMs }));
  const kept = forgotten.filter(({ outcome, provenAt }) =>
    outcome === "failure" || provenAt !== null
  );
  return {
    verdicts: [...reported, ...kept].slice(0, KEPT_MAX),
    failures: verdicts.filter(({ id, outcome }) =>
      outcome === "failure" && !known.some((each) => each.id === id)
    ),
  };
}

const NEW = { wellSince: null, provenAt: null } as const;

/** A verdict as the host first gave it, with the state of now. */
function follow(
  verdict: FleetVerdict,
  { state, at, soakMs }: { state: FleetVerdict["state"]; at: Date; soakMs: number },
): FleetVerdict {
  const isWell = verdict.outcome === "success" && state === "well";
  const wellSince = isWell ? verdict.wellSince ?? at.toISOString() : null;
  const followed = { ...verdict, state, wellSince };
  return { ...followed, provenAt: verdict.provenAt ?? provenAt(followed, at, soakMs) };
}

/** When an image had been well for long enough on a host; `null` if it has not yet. */
export function provenAt(
  { outcome, wellSince }: Pick<FleetVerdict, "outcome" | "wellSince">,
  at: Date,
  soakMs: number,
): string | null {
  if (outcome !== "success" || wellSince === null) return null;
  const atMs = Date.parse(wellSince) + soakMs;
  return at.getTime() >= atMs ? new Date(atMs).toISOString() : null;
}

/**
 * Whether a host counts for the next wave: it was well for long enough, and does not fail now.
 *
 * @param knownUntil Until when the hub knows that it is so.
 */
export const isProof = (verdict: FleetVerdict, knownUntil: Date, soakMs: number): boolean =>
  verdict.outcome === "success" && verdict.state !== "unwell" &&
  (verdict.provenAt ?? provenAt(verdict, knownUntil, soakMs)) !== null;
