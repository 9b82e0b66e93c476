/** Rows of a fleet without links or keys. @module */

import type { StoredHost } from "../../db/fleet_hosts.ts";
import type { StoredInvite } from "../../db/fleet_invites.ts";

const AT = "2026-01-01T00:00:00.000Z";

/** An accepted host, whose name is its id. */
export const hostOf = (id: string): StoredHost => ({
  ...{ id, name: id, labels: {}, linkKey: `key of ${id}`, noteKey: "", machine: "", version: "1" },
  ...{ address: "", dialAddress: null, inviteId: null, isPending: false, challenge: 0 },
  ...{ joinedAt: AT, lastSeenAt: null, isConnected: false, isReportedAway: false, leftAt: null },
});

/** An invite for one host. */
export const inviteOf = (id: string): StoredInvite => ({
  ...{ id, secret: "", name: null, pattern: null, labels: {}, address: "https://hub" },
  ...{ usesMax: 1, uses: 0, acceptsAtOnce: true, createdBy: "key", createdAt: AT },
  ...{ expiresAt: "2999-01-01T00:00:00.000Z", hubKey: "" },
});
