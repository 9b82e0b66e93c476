/**
 * Deletes ended SSO sessions and expired SAML requests and assertion IDs.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { every } from "../../lifecycle.ts";
import { sweepSso } from "./sessions.ts";

const ROUND_MS = 10 * 60 * 1000;

export async function sweepSessions(
  deps: Deps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  for await (const _ of every(ROUND_MS, signal)) {
    sweepSso(deps);
    round();
  }
}
