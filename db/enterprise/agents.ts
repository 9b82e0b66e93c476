/**
 * The `agents` table: machines that are known by their client certificate. An agent is never
 * deleted, only revoked.
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
  not_before: string;
  not_after: string;
}

/** Each field is `null` while only the fingerprint of the certificate is known. */
type MaybeCertificate = { [Field in keyof AgentCertificate]: AgentCertificate[Field] | null };

/** One agent as stored. Times are ISO 8601, UTC. */
export interface Agent extends MaybeCertificate {
  id: string;
  hostname: string;
  description: string;
  tags: string[];
  /** The certificate authority that signed its certificate, where one was named or found. */
  ca_id: string | null;
  enabled: boolean;
  /** Recorded by `auto_enroll`, and no administrator has decided about it yet. */
  pending: boolean;
  /** `sha256:` and 64 hex digits in lower case. Unique, also among revoked agents. */
  fingerprint: string;
  /** When it was last verified, to the minute; `null` before the first time. */
  last_seen_at: string | null;
  last_seen_ip: string | null;
  created_at: string;
  updated_at: string;
  revoked_at: string | null;
}

const COLUMNS = `
  id, hostname, description, tags, ca_id, enabled, pending, certificate, fingerprint, subject,
  issuer, serial, not_before, not_after, last_seen_at, last_seen_ip, created_at, updated_at,
  revoked_at`;

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

const toRow = (agent: Agent): Row => ({
  ...agent,
  tags: JSON.stringify(agent.tags),
  enabled: Number(agent.enabled),
  pending: Number(agent.pending),
});

export interface AgentFilter {
  /** `true`: only revoked agents; `false`: only those that are not revoked. */
  revoked: boolean;
  /** Both the enabled and the disabled ones unless given. */
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

/** The agent with a certificate, or `undefined` when there is none; it may be revoked. */
export function selectAgentByFingerprint(db: Database, fingerprint: string): Agent | undefined {
  const row = db.get<Row>(
    `SELECT ${COLUMNS} FROM agents WHERE fingerprint = :fingerprint`,
    { fingerprint },
  );
  return row && fromRow(row);
}

/** The little of an agent, and of its certificate authority, that decides whether it is verified. */
export interface AgentStanding {
  id: string;
  hostname: string;
  enabled: boolean;
  pending: boolean;
  /** Whether its certificate is stored, and not only the fingerprint. */
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
 * Finds an agent by an index. How long that takes may depend on the fingerprint: it is no secret,
 * for every handshake shows it.
 */
export function selectAgentStanding(
  db: Database,
  fingerprint: string,
): AgentStanding | undefined {
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

export function insertAgent(db: Database, agent: Agent): void {
  db.run(
    `INSERT INTO agents (${COLUMNS})
     VALUES (:id, :hostname, :description, :tags, :ca_id, :enabled, :pending, :certificate,
       :fingerprint, :subject, :issuer, :serial, :not_before, :not_after, :last_seen_at,
       :last_seen_ip, :created_at, :updated_at, :revoked_at)`,
    toRow(agent),
  );
}

export function updateAgent(
  db: Database,
  { id, hostname, description, tags, updated_at }: Agent,
): void {
  db.run(
    `UPDATE agents
     SET hostname = :hostname, description = :description, tags = :tags, updated_at = :updated_at
     WHERE id = :id`,
    { id, hostname, description, tags: JSON.stringify(tags), updated_at },
  );
}

/**
 * Enables or disables an agent that is not revoked. Either is an administrator's decision, so it is
 * no longer pending.
 */
export function updateAgentEnabled(
  db: Database,
  id: string,
  { enabled, updated_at }: { enabled: boolean; updated_at: string },
): void {
  db.run(
    `UPDATE agents SET enabled = :enabled, pending = 0, updated_at = :updated_at
     WHERE id = :id AND revoked_at IS NULL`,
    { id, enabled: Number(enabled), updated_at },
  );
}

/** @returns Whether it was not revoked before. */
export function updateAgentRevoked(db: Database, id: string, revoked_at: string): boolean {
  return db.run(
    `UPDATE agents
     SET enabled = 0, pending = 0, revoked_at = :revoked_at, updated_at = :revoked_at
     WHERE id = :id AND revoked_at IS NULL`,
    { id, revoked_at },
  ) > 0;
}

/** Adds what the certificate says to an agent of which only the fingerprint was known. */
export function updateAgentCertificate(
  db: Database,
  id: string,
  { certificate, subject, issuer, serial, not_before, not_after, ca_id }: AgentCertificate & {
    ca_id: string | null;
  },
): void {
  db.run(
    `UPDATE agents
     SET certificate = :certificate, subject = :subject, issuer = :issuer, serial = :serial,
       not_before = :not_before, not_after = :not_after, ca_id = :ca_id
     WHERE id = :id AND certificate IS NULL`,
    { id, certificate, subject, issuer, serial, not_before, not_after, ca_id },
  );
}

export function updateAgentSeen(
  db: Database,
  id: string,
  { at, ip }: { at: string; ip: string | null },
): void {
  db.run("UPDATE agents SET last_seen_at = :at, last_seen_ip = :ip WHERE id = :id", { id, at, ip });
}

/** How many were recorded by `auto_enroll` and wait for a decision. */
export function countPendingAgents(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM agents WHERE pending = 1")!.n;
}

/** How many agents that are not revoked have a certificate of this authority. */
export function countAgentsOfCa(db: Database, caId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM agents WHERE ca_id = :caId AND revoked_at IS NULL",
    { caId },
  )!.n;
}

/** Takes an authority from its revoked agents, which would otherwise keep it from being deleted. */
export function updateRevokedAgentsWithoutCa(db: Database, caId: string): void {
  db.run("UPDATE agents SET ca_id = NULL WHERE ca_id = :caId AND revoked_at IS NOT NULL", { caId });
}
