/**
 * Agents: machines that show a client certificate.
 *
 * @module
 */

import {
  type Agent as StoredAgent,
  countAgents,
  insertAgent,
  selectAgent,
  selectAgentByFingerprint,
  selectAgents,
  updateAgent,
  updateAgentEnabled,
  updateAgentRevoked,
} from "../../db/enterprise/agents.ts";
import { selectCaCertificate } from "../../db/enterprise/ca_certificates.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import {
  type Certificate,
  clientFault,
  dateFault,
  isSignedBy,
  readCertificate,
} from "./certificates.ts";
import { givenCertificate, unfitCertificate } from "./given_certificate.ts";

export interface NewAgent {
  hostname: string;
  description: string;
  /** PEM. */
  certificate: string;
  /** The authority that must have signed it. */
  ca_id: string | null;
  tags: string[];
}

/** What an update may say; what it leaves out stays. */
export interface AgentChange {
  hostname?: string | undefined;
  description?: string | undefined;
  tags?: string[] | undefined;
}

/** One agent as shown. */
export interface Agent {
  id: string;
  hostname: string;
  description: string;
  tags: string[];
  ca_id: string | null;
  enabled: boolean;
  pending: boolean;
  certificate: string | null;
  fingerprint: string;
  subject: string | null;
  issuer: string | null;
  serial: string | null;
  not_before: string | null;
  not_after: string | null;
  last_seen_at: string | null;
  last_seen_ip: string | null;
  created_at: string;
  updated_at: string;
  revoked_at: string | null;
}

/** Newest first. */
export function listAgents(
  { db }: Pick<Deps, "db">,
  { enabled, revoked, limit, offset }: {
    enabled?: boolean | undefined;
    revoked: boolean;
    limit: number;
    offset: number;
  },
): { agents: Agent[]; total: number; limit: number; offset: number } {
  const filter = { enabled, revoked };
  const agents = selectAgents(db, filter, { limit, offset }).map(shown);
  return { agents, total: countAgents(db, filter), limit, offset };
}

/** Also one that is revoked. @throws {AppError} `not_found`. */
export function getAgent({ db }: Pick<Deps, "db">, id: string): Agent {
  return shown(existing({ db }, id));
}

/**
 * Stores an agent, enabled.
 *
 * @throws {AppError} `invalid` for a certificate that is unfit or not signed by the authority,
 * `conflict` for one that is known or was revoked.
 */
export async function createAgent(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  { hostname, description, certificate: pem, ca_id: caId, tags }: NewAgent,
): Promise<Agent> {
  const certificate = await givenCertificate(pem, now());
  const fault = clientFault(certificate);
  if (fault !== undefined) throw unfitCertificate(fault);
  if (caId !== null) await assertSignedBy({ db, now }, certificate, caId);

  const { facts } = certificate;
  // The authority may have gone meanwhile.
  if (caId !== null) existingCa({ db }, caId);
  assertUnknown({ db }, facts.fingerprint);
  const createdAt = now().toISOString();
  const agent: StoredAgent = {
    ...facts,
    id: crypto.randomUUID(),
    hostname,
    description,
    tags: [...new Set(tags)],
    caId,
    enabled: true,
    pending: false,
    lastSeenAt: null,
    lastSeenIp: null,
    createdAt,
    updatedAt: createdAt,
    revokedAt: null,
  };
  insertAgent(db, agent);
  log.info("agent added", { agentId: agent.id, hostname, fingerprint: agent.fingerprint });
  return shown(agent);
}

/** @throws {AppError} `not_found`. */
export function changeAgent(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  id: string,
  change: AgentChange,
): Agent {
  const agent = existing({ db }, id);
  updateAgent(db, {
    id,
    hostname: change.hostname ?? agent.hostname,
    description: change.description ?? agent.description,
    tags: change.tags ? [...new Set(change.tags)] : agent.tags,
    updatedAt: now().toISOString(),
  });
  log.info("agent changed", { agentId: id });
  return getAgent({ db }, id);
}

/**
 * Revokes an agent for good. Doing it again changes nothing.
 *
 * @returns Since when it is revoked.
 * @throws {AppError} `not_found`.
 */
export function revokeAgent(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  id: string,
): string {
  existing({ db }, id);
  if (updateAgentRevoked(db, id, now().toISOString())) log.info("agent revoked", { agentId: id });
  return existing({ db }, id).revokedAt!;
}

/**
 * Turns an agent on or off.
 *
 * @param enabled The opposite of what it is unless given.
 * @throws {AppError} `not_found`, or `conflict` for one that is revoked.
 */
export function toggleAgent(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  id: string,
  enabled?: boolean,
): Agent {
  const agent = existing({ db }, id);
  if (agent.revokedAt !== null) {
    throw new AppError("conflict", `The ${named(agent)} is revoked since ${agent.revokedAt}`);
  }
  const wanted = enabled ?? !agent.enabled;
  updateAgentEnabled(db, id, { enabled: wanted, updatedAt: now().toISOString() });
  log.info("agent toggled", { agentId: id, enabled: wanted });
  return getAgent({ db }, id);
}

/** @throws {AppError} `invalid` */
async function assertSignedBy(
  { db, now }: Pick<Deps, "db" | "now">,
  certificate: Certificate,
  caId: string,
): Promise<void> {
  const ca = existingCa({ db }, caId);
  const fault = dateFault(ca, now());
  if (fault !== undefined) {
    throw new AppError("invalid", `body.ca_id: the certificate of the CA ${ca.name} ${fault}`);
  }
  if (!await isSignedBy(certificate, await readCertificate(ca.certificate))) {
    throw unfitCertificate(`is not signed by the CA ${ca.name}`);
  }
}

function existingCa({ db }: Pick<Deps, "db">, id: string) {
  const ca = selectCaCertificate(db, id);
  if (!ca) throw new AppError("invalid", `body.ca_id: there is no CA ${id}`);
  return ca;
}

/** @throws {AppError} `conflict` */
function assertUnknown({ db }: Pick<Deps, "db">, fingerprint: string): void {
  const known = selectAgentByFingerprint(db, fingerprint);
  if (!known) return;
  throw new AppError(
    "conflict",
    known.revokedAt === null
      ? `This certificate is already that of the ${named(known)}`
      : `This certificate was that of the ${
        named(known)
      } and is revoked since ${known.revokedAt}; ` +
        "issue a new one",
  );
}

function existing({ db }: Pick<Deps, "db">, id: string): StoredAgent {
  const agent = selectAgent(db, id);
  if (!agent) throw notFound("Agent", id);
  return agent;
}

const named = ({ hostname, id }: StoredAgent) => `agent ${hostname} (${id})`;

function shown(agent: StoredAgent): Agent {
  const { caId, notBefore, notAfter, lastSeenAt, lastSeenIp, createdAt, updatedAt, revokedAt } =
    agent;
  return {
    id: agent.id,
    hostname: agent.hostname,
    description: agent.description,
    tags: agent.tags,
    ca_id: caId,
    enabled: agent.enabled,
    pending: agent.pending,
    certificate: agent.certificate,
    fingerprint: agent.fingerprint,
    subject: agent.subject,
    issuer: agent.issuer,
    serial: agent.serial,
    not_before: notBefore,
    not_after: notAfter,
    last_seen_at: lastSeenAt,
    last_seen_ip: lastSeenIp,
    created_at: createdAt,
    updated_at: updatedAt,
    revoked_at: revokedAt,
  };
}
