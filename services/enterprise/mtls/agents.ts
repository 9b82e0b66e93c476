/** Agents: machines that authenticate with a client certificate. @module */

import {
  type Agent,
  type AgentFilter,
  countAgents,
  insertAgent,
  selectAgent,
  selectAgentByFingerprint,
  selectAgents,
  updateAgent,
  updateAgentEnabled,
  updateAgentRevoked,
} from "../../../db/enterprise/agents.ts";
import { type CaCertificate, selectCaCertificate } from "../../../db/enterprise/ca_certificates.ts";
import type { Page, Paged } from "../../../db/page.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { clientFault, dateFault } from "./certificate_faults.ts";
import { type Certificate, isSignedBy, readCertificate } from "./certificates.ts";
import { readSubmittedCertificate, unsuitableCertificate } from "./submitted_certificate.ts";

type AgentSettings = Pick<Agent, "hostname" | "description" | "tags">;

interface NewAgent extends AgentSettings {
  /** PEM. */
  certificate: string;
  /** The CA that must have signed the certificate; `null` for any. */
  ca_id: string | null;
}

/** Lists agents, newest first. */
export function listAgents(
  { db }: Pick<Deps, "db">,
  { limit, offset, ...filter }: AgentFilter & Page,
): { agents: Agent[] } & Paged {
  const agents = selectAgents(db, filter, { limit, offset });
  return { agents, total: countAgents(db, filter), limit, offset };
}

/** Returns an agent, even if it is revoked. @throws {AppError} `not_found`. */
export function getAgent({ db }: Pick<Deps, "db">, id: string): Agent {
  return requireFound(selectAgent(db, id), "Agent", id);
}

/**
 * Stores a new, enabled agent.
 *
 * @throws {AppError} `invalid` for an unsuitable certificate or one that the given CA did not sign;
 * `conflict` for the certificate of another agent, including revoked ones.
 */
export async function createAgent(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  { certificate: pem, ...settings }: NewAgent,
): Promise<Agent> {
  const certificate = await readSubmittedCertificate(pem, now(), clientFault);
  if (settings.ca_id !== null) {
    await assertSignedBy({ db, now }, certificate, settings.ca_id);
    // The CA may have been deleted while the signature was verified.
    existingCa(db, settings.ca_id);
  }
  assertUnknown(db, certificate.facts.fingerprint);
  const at = now().toISOString();
  const agent: Agent = {
    ...certificate.facts,
    ...settings,
    tags: distinct(settings.tags),
    id: crypto.randomUUID(),
    enabled: true,
    pending: false,
    last_seen_at: null,
    last_seen_ip: null,
    created_at: at,
    updated_at: at,
    revoked_at: null,
  };
  insertAgent(db, agent);
  const { id, hostname, fingerprint } = agent;
  log.info("agent added", { agentId: id, hostname, fingerprint });
  return agent;
}

/** Changes the given settings of an agent. @throws {AppError} `not_found`. */
export function changeAgent(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  id: string,
  change: Change<AgentSettings>,
): Agent {
  const changed = applyChange(getAgent({ db }, id), change);
  const agent = { ...changed, tags: distinct(changed.tags), updated_at: now().toISOString() };
  updateAgent(db, agent);
  log.info("agent changed", { agentId: id });
  return agent;
}

/**
 * Revokes an agent permanently. Revoking it again changes nothing.
 *
 * @returns The time of the revocation.
 * @throws {AppError} `not_found`.
 */
export function revokeAgent(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  id: string,
): string {
  const { revoked_at } = getAgent({ db }, id);
  const at = now().toISOString();
  if (updateAgentRevoked(db, id, at)) log.info("agent revoked", { agentId: id });
  return revoked_at ?? at;
}

/**
 * Enables or disables an agent.
 *
 * @param enabled Toggles the agent if omitted.
 * @throws {AppError} `not_found`; `conflict` for a revoked agent.
 */
export function setAgentEnabled(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  id: string,
  enabled?: boolean,
): Agent {
  const agent = getAgent({ db }, id);
  if (agent.revoked_at !== null) {
    throw new AppError("conflict", `The ${labelOf(agent)} was revoked at ${agent.revoked_at}`);
  }
  const wanted = enabled ?? !agent.enabled;
  updateAgentEnabled(db, id, { enabled: wanted, updated_at: now().toISOString() });
  log.info("agent toggled", { agentId: id, enabled: wanted });
  return getAgent({ db }, id);
}

/** @throws {AppError} `invalid` */
async function assertSignedBy(
  { db, now }: Pick<Deps, "db" | "now">,
  certificate: Certificate,
  caId: string,
): Promise<void> {
  const ca = existingCa(db, caId);
  const fault = dateFault(ca, now());
  if (fault !== undefined) {
    throw new AppError("invalid", `body.ca_id: the certificate of the CA ${ca.name} ${fault}`);
  }
  if (!await isSignedBy(certificate, await readCertificate(ca.certificate))) {
    throw unsuitableCertificate(`is not signed by the CA ${ca.name}`);
  }
}

/** @throws {AppError} `invalid` */
function existingCa(db: Deps["db"], id: string): CaCertificate {
  const ca = selectCaCertificate(db, id);
  if (!ca) throw new AppError("invalid", `body.ca_id: CA ${id} does not exist`);
  return ca;
}

/** @throws {AppError} `conflict` */
function assertUnknown(db: Deps["db"], fingerprint: string): void {
  const known = selectAgentByFingerprint(db, fingerprint);
  if (!known) return;
  throw new AppError(
    "conflict",
    known.revoked_at === null
      ? `This certificate already belongs to the ${labelOf(known)}`
      : `This certificate belonged to the ${labelOf(known)} and was revoked at ` +
        `${known.revoked_at}; issue a new one`,
  );
}

const labelOf = ({ hostname, id }: Agent) => `agent ${hostname} (${id})`;

const distinct = (tags: readonly string[]) => [...new Set(tags)];
