/**
 * The `agents` table: machines that are known by their client certificate.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** What a certificate says. Times are ISO 8601, UTC. */
export interface AgentCertificate {
  /** PEM. */
  certificate: string;
  subject: string;
  issuer: string;
  /** Hex. */
  serial: string;
  notBefore: string;
  notAfter: string;
}

/** Each field `null` where no more than the fingerprint was ever shown. */
type MaybeCertificate = { [Field in keyof AgentCertificate]: AgentCertificate[Field] | null };

/** One agent as stored. Times are ISO 8601, UTC. */
export interface Agent extends MaybeCertificate {
  id: string;
  hostname: string;
  description: string;
  tags: string[];
  /** The authority that signed its certificate, where one was named or found. */
  caId: string | null;
  enabled: boolean;
  /** Recorded by itself, and nobody has decided about it yet. */
  pending: boolean;
  /** `sha256:` and 64 hex digits in lower case; unique, also among the revoked ones. */
  fingerprint: string;
  /** When it was last verified, to the minute; `null` before the first time. */
  lastSeenAt: string | null;
  lastSeenIp: string | null;
  createdAt: string;
  updatedAt: string;
  revokedAt: string | null;
}

const COLUMNS = `
  id, hostname, description, tags, ca_id AS caId, enabled, pending, certificate, fingerprint,
  subject, issuer, serial, not_before AS notBefore, not_after AS notAfter,
  last_seen_at AS lastSeenAt, last_seen_ip AS lastSeenIp, created_at AS createdAt,
  updated_at AS updatedAt, revoked_at AS revokedAt`;

type Row = Omit<Agent, "tags" | "enabled" | "pending"> & {
  tags: string;
  enabled: number;
  pending: number;
};

const fromRow = (row: Row): Agent => ({
  ...row,
  tags: JSON.parse(row.tags),
  enabled: row.enabled === 1,
  pending: row.pending === 1,
});

export interface AgentFilter {
  /** Those that are revoked instead of those that are not. */
  revoked: boolean;
  enabled?: boolean | undefined;
}

const FILTER = "(revoked_at IS NOT NULL) = :revoked AND (:enabled IS NULL OR enabled = :enabled)";

const filterParams = ({ revoked, enabled }: AgentFilter) => ({
  revoked: Number(revoked),
  enabled: enabled === undefined ? null : Number(enabled),
});

/** Newest first. */
export function selectAgents(
  db: Database,
  filter: AgentFilter,
  { limit, offset }: { limit: number; offset: number },
): Agent[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM agents WHERE ${FILTER} ORDER BY created_at DESC, id
     LIMIT :limit OFFSET :offset`,
    { ...filterParams(filter), limit, offset },
  ).map(fromRow);
}

export function countAgents(db: Database, filter: AgentFilter): number {
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM agents WHERE ${FILTER}`,
    filterParams(filter),
  )!.n;
}

/** One agent, or `undefined` when the id is unknown. */
export function selectAgent(db: Database, id: string): Agent | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM agents WHERE id = :id`, { id });
  return row && fromRow(row);
}

export function selectAgentByFingerprint(db: Database, fingerprint: string): Agent | undefined {
  const row = db.get<Row>(
    `SELECT ${COLUMNS} FROM agents WHERE fingerprint = :fingerprint`,
    { fingerprint },
  );
  return row && fromRow(row);
}

/** What has to be known of an agent and its authority to verify it. */
export interface AgentStanding {
  id: string;
  hostname: string;
  enabled: boolean;
  pending: boolean;
  /** Whether more than the fingerprint is known of the certificate. */
  hasCertificate: boolean;
  notBefore: string | null;
  notAfter: string | null;
  lastSeenAt: string | null;
  revokedAt: string | null;
  /** `null` without an authority. */
  caNotBefore: string | null;
  caNotAfter: string | null;
}

type StandingRow = Omit<AgentStanding, "enabled" | "pending" | "hasCertificate"> & {
  enabled: number;
  pending: number;
  hasCertificate: number;
};

/** Found by an index: a fingerprint is no secret, and every handshake shows it. */
export function selectAgentStanding(
  db: Database,
  fingerprint: string,
): AgentStanding | undefined {
  const row = db.get<StandingRow>(
    `SELECT a.id, a.hostname, a.enabled, a.pending, a.certificate IS NOT NULL AS hasCertificate,
       a.not_before AS notBefore, a.not_after AS notAfter, a.last_seen_at AS lastSeenAt,
       a.revoked_at AS revokedAt, c.not_before AS caNotBefore, c.not_after AS caNotAfter
     FROM agents a LEFT JOIN ca_certificates c ON c.id = a.ca_id
     WHERE a.fingerprint = :fingerprint`,
    { fingerprint },
  );
  return row && {
    ...row,
    enabled: row.enabled === 1,
    pending: row.pending === 1,
    hasCertificate: row.hasCertificate === 1,
  };
}

export function insertAgent(db: Database, agent: Agent): void {
  db.run(
    `INSERT INTO agents
       (id, hostname, description, tags, ca_id, enabled, pending, certificate, fingerprint, subject,
        issuer, serial, not_before, not_after, last_seen_at, last_seen_ip, created_at, updated_at,
        revoked_at)
     VALUES (:id, :hostname, :description, :tags, :caId, :enabled, :pending, :certificate,
       :fingerprint, :subject, :issuer, :serial, :notBefore, :notAfter, :lastSeenAt, :lastSeenIp,
       :createdAt, :updatedAt, :revokedAt)`,
    {
      ...agent,
      tags: JSON.stringify(agent.tags),
      enabled: Number(agent.enabled),
      pending: Number(agent.pending),
    },
  );
}

/** @returns Whether the id was known. */
export function updateAgent(
  db: Database,
  { id, hostname, description, tags, updatedAt }: Pick<
    Agent,
    "id" | "hostname" | "description" | "tags" | "updatedAt"
  >,
): boolean {
  return db.run(
    `UPDATE agents SET hostname = :hostname, description = :description, tags = :tags,
       updated_at = :updatedAt
     WHERE id = :id`,
    { id, hostname, description, tags: JSON.stringify(tags), updatedAt },
  ) > 0;
}

/** Whoever turns an agent on or off has decided about it. @returns Whether it can be turned. */
export function updateAgentEnabled(
  db: Database,
  id: string,
  { enabled, updatedAt }: { enabled: boolean; updatedAt: string },
): boolean {
  return db.run(
    `UPDATE agents SET enabled = :enabled, pending = 0, updated_at = :updatedAt
     WHERE id = :id AND revoked_at IS NULL`,
    { id, enabled: Number(enabled), updatedAt },
  ) > 0;
}

/** @returns Whether it was not revoked before. */
export function updateAgentRevoked(db: Database, id: string, revokedAt: string): boolean {
  return db.run(
    `UPDATE agents SET enabled = 0, pending = 0, revoked_at = :revokedAt, updated_at = :revokedAt
     WHERE id = :id AND revoked_at IS NULL`,
    { id, revokedAt },
  ) > 0;
}

/** Adds what the certificate says where no more than its fingerprint was known. */
export function updateAgentCertificate(
  db: Database,
  id: string,
  { certificate, subject, issuer, serial, notBefore, notAfter, caId }: AgentCertificate & {
    caId: string | null;
  },
): void {
  db.run(
    `UPDATE agents SET certificate = :certificate, subject = :subject, issuer = :issuer,
       serial = :serial, not_before = :notBefore, not_after = :notAfter, ca_id = :caId
     WHERE id = :id AND certificate IS NULL`,
    { id, certificate, subject, issuer, serial, notBefore, notAfter, caId },
  );
}

export function updateAgentSeen(
  db: Database,
  id: string,
  { at, ip }: { at: string; ip: string | null },
): void {
  db.run("UPDATE agents SET last_seen_at = :at, last_seen_ip = :ip WHERE id = :id", { id, at, ip });
}

/** How many recorded themselves and wait for a decision. */
export function countPendingAgents(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM agents WHERE pending = 1")!.n;
}

/** How many rely on an authority: those that are not revoked. */
export function countAgentsOfCa(db: Database, caId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM agents WHERE ca_id = :caId AND revoked_at IS NULL",
    { caId },
  )!.n;
}

/** Lets an authority go that only revoked agents name. */
export function updateRevokedAgentsWithoutCa(db: Database, caId: string): void {
  db.run("UPDATE agents SET ca_id = NULL WHERE ca_id = :caId AND revoked_at IS NOT NULL", { caId });
}
