/**
 * The `agents` table: machines identified by their client certificate. Agents are revoked, never
 * deleted.
 *
 * @module
 */

import { boolean, json, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";

const agents = table("agents", {
  id: text(),
  hostname: text(),
  description: text(),
  tags: json<string[]>(),
  /** The certificate authority that signed its certificate; `null` if unknown. */
  ca_id: text<string | null>(),
  enabled: boolean(),
  /** Recorded by `auto_enroll` and not yet approved or rejected by an administrator. */
  pending: boolean(),
  /** `sha256:` and 64 hex digits in lower case. Unique, also among revoked agents. */
  fingerprint: text(),
  /** PEM; `null`, as is what it contains, while only its fingerprint is known. */
  certificate: text<string | null>(),
  subject: text<string | null>(),
  issuer: text<string | null>(),
  /** Hex. */
  serial: text<string | null>(),
  not_before: text<string | null>(),
  not_after: text<string | null>(),
  /** When it was last verified, to the minute; `null` if never. */
  last_seen_at: text<string | null>(),
  last_seen_ip: text<string | null>(),
  created_at: text(),
  updated_at: text(),
  revoked_at: text<string | null>(),
}, { order: "created_at DESC, id" });

/** One agent as stored. Times are ISO 8601, UTC. */
export type Agent = Row<typeof agents>;

type AgentCertificate = Pick<
  Agent,
  "certificate" | "subject" | "issuer" | "serial" | "not_before" | "not_after" | "ca_id"
>;

export const { find: selectAgent, insert: insertAgent } = agents;

export interface AgentFilter {
  /** `true`: only revoked agents; `false`: only agents that are not revoked. */
  revoked: boolean;
  /** Default: both enabled and disabled agents. */
  enabled?: boolean | undefined;
}

const FILTER =
  "WHERE (revoked_at IS NOT NULL) = :revoked AND (:enabled IS NULL OR enabled = :enabled)";

const filterParams = ({ revoked, enabled }: AgentFilter) => ({
  revoked: Number(revoked),
  enabled: enabled === undefined ? null : Number(enabled),
});

/** Newest first. */
export function selectAgents(db: Database, filter: AgentFilter, page: Page): Agent[] {
  return agents.page(db, page, FILTER, filterParams(filter));
}

export function countAgents(db: Database, filter: AgentFilter): number {
  return agents.countWhere(db, FILTER, filterParams(filter));
}

/** The agent with a certificate, or `undefined`; it may be revoked. */
export function selectAgentByFingerprint(db: Database, fingerprint: string): Agent | undefined {
  return agents.selectOne(db, "WHERE fingerprint = :fingerprint", { fingerprint });
}

/** The fields of an agent and its certificate authority that decide whether it is verified. */
export interface AgentStanding {
  id: string;
  hostname: string;
  enabled: boolean;
  pending: boolean;
  /** Whether the certificate is stored, not only its fingerprint. */
  has_certificate: boolean;
  not_before: string | null;
  not_after: string | null;
  last_seen_at: string | null;
  revoked_at: string | null;
  /** `null` without a certificate authority. */
  ca_not_before: string | null;
  ca_not_after: string | null;
}

type StandingRow = Omit<AgentStanding, "enabled" | "pending" | "has_certificate"> & {
  enabled: number;
  pending: number;
  has_certificate: number;
};

/**
 * Finds an agent by an index. The lookup need not take constant time: the fingerprint is not a
 * secret, because every handshake reveals it.
 */
export function selectAgentStanding(db: Database, fingerprint: string): AgentStanding | undefined {
  const row = db.get<StandingRow>(
    `SELECT a.id, a.hostname, a.enabled, a.pending, a.certificate IS NOT NULL AS has_certificate,
       a.not_before, a.not_after, a.last_seen_at, a.revoked_at,
       c.not_before AS ca_not_before, c.not_after AS ca_not_after
     FROM agents a LEFT JOIN ca_certificates c ON c.id = a.ca_id
     WHERE a.fingerprint = :fingerprint`,
    { fingerprint },
  );
  return row && {
    ...row,
    enabled: row.enabled === 1,
    pending: row.pending === 1,
    has_certificate: row.has_certificate === 1,
  };
}

export function updateAgent(
  db: Database,
  { id, hostname, description, tags, updated_at }: Agent,
): void {
  agents.update(db, id, { hostname, description, tags, updated_at });
}

/**
 * Enables or disables an agent unless it is revoked. It is no longer pending: an administrator has
 * decided.
 */
export function updateAgentEnabled(
  db: Database,
  id: string,
  { enabled, updated_at }: { enabled: boolean; updated_at: string },
): void {
  agents.update(db, id, { enabled, pending: false, updated_at }, "revoked_at IS NULL");
}

/** @returns Whether the agent was not revoked before. */
export function updateAgentRevoked(db: Database, id: string, revoked_at: string): boolean {
  return agents.update(
    db,
    id,
    { enabled: false, pending: false, revoked_at, updated_at: revoked_at },
    "revoked_at IS NULL",
  );
}

/** Stores the certificate of an agent of which only the fingerprint was known. */
export function updateAgentCertificate(
  db: Database,
  id: string,
  { certificate, subject, issuer, serial, not_before, not_after, ca_id }: AgentCertificate,
): void {
  const fields = { certificate, subject, issuer, serial, not_before, not_after, ca_id };
  agents.update(db, id, fields, "certificate IS NULL");
}

export function updateAgentSeen(
  db: Database,
  id: string,
  { at, ip }: { at: string; ip: string | null },
): void {
  agents.update(db, id, { last_seen_at: at, last_seen_ip: ip });
}

/** Agents recorded by `auto_enroll` that no administrator has approved or rejected yet. */
export function countPendingAgents(db: Database): number {
  return agents.countWhere(db, "WHERE pending = 1");
}

/** Agents that are not revoked and whose certificate this authority signed. */
export function countAgentsOfCa(db: Database, caId: string): number {
  return agents.countWhere(db, "WHERE ca_id = :caId AND revoked_at IS NULL", { caId });
}

/** Clears the authority of its revoked agents, whose reference would prevent its deletion. */
export function updateRevokedAgentsWithoutCa(db: Database, caId: string): void {
  db.run("UPDATE agents SET ca_id = NULL WHERE ca_id = :caId AND revoked_at IS NOT NULL", { caId });
}
