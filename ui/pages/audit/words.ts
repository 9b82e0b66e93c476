/** Words for entries of the audit log. @module */

import type { AuditEntry } from "../../api/types.ts";
import { capital } from "../../base/text.ts";

export const TONES = { success: "good", failure: "bad", denied: "warn" } as const;

const ACTORS: Record<string, string> = { key: "API key", console: "Console", "": "No token" };

/** The email address of a user, or what acted instead, and its token. */
export function actorOf({ actor, actorEmail, hub, role, token }: AuditEntry): string {
  if (hub) return `${hub.user} via hub ${hub.name}`;
  const name = actorEmail ?? ACTORS[actor] ?? (role === "system" ? capital(actor) : actor);
  return token ? `${name} (${token.name})` : name;
}
