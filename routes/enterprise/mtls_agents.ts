/**
 * /mtls/agents: machines that show a client certificate.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  changeAgent,
  createAgent,
  getAgent,
  listAgents,
  revokeAgent,
  toggleAgent,
} from "../../services/enterprise/mtls_agents.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, IdParams, paged, pagingQuery, queryBoolean, Timestamp } from "../shapes.ts";
import { CertificatePem, Fingerprint, PEM_EXAMPLE } from "./mtls_shapes.ts";

// The proxy gets it in a header.
const Hostname = z.string().trim().regex(/^[A-Za-z0-9][\w.:-]{0,252}$/, {
  error: "must be 1 to 253 letters, digits, dots, dashes, underscores and colons",
});

const fields = {
  hostname: Hostname,
  description: z.string().max(1_000),
  tags: z.array(z.string().trim().min(1).max(50)).max(50),
};

const NewAgent = z.object({
  ...fields,
  description: fields.description.default(""),
  tags: fields.tags.default([]),
  certificate: CertificatePem,
  ca_id: z.string().min(1).max(255).nullable().default(null).meta({
    description: "The authority that must have signed the certificate",
  }),
}).meta({
  example: {
    hostname: "web-1.example.com",
    description: "Front end",
    certificate: PEM_EXAMPLE,
    ca_id: "5b0f8f0e-6f57-4a8e-8c1c-3f3c3a9f0c11",
    tags: ["web"],
  },
});

const AgentChange = z.object(fields).partial()
  .meta({ example: { description: "Front end, moved to rack 7", tags: ["web", "rack-7"] } });

const Agent = z.object({
  id: z.string(),
  hostname: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  ca_id: z.string().nullable(),
  enabled: z.boolean(),
  pending: z.boolean().meta({
    description: "Recorded by `auto_enroll`, and neither turned on nor off nor revoked since: as " +
      "good as unknown",
  }),
  certificate: z.string().nullable().meta({
    description: "PEM; like the fields below, null where only the fingerprint was ever shown",
  }),
  fingerprint: Fingerprint,
  subject: z.string().nullable().meta({ example: "CN=web-1, O=Example" }),
  issuer: z.string().nullable(),
  serial: z.string().nullable(),
  not_before: Timestamp.nullable(),
  not_after: Timestamp.nullable(),
  last_seen_at: Timestamp.nullable().meta({ description: "Noted once a minute at most" }),
  last_seen_ip: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  revoked_at: Timestamp.nullable(),
});

const UNKNOWN = { 404: "There is no such agent" };

const enabledFilter = z.enum(["true", "false", "1", "0"], { error: "must be true, false, 1 or 0" })
  .transform((text) => text === "true" || text === "1")
  .pipe(z.boolean())
  .optional()
  .meta({ description: "Only those that are enabled, or only those that are not" });

export const mtlsAgentEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/mtls/agents",
    summary: "List agents",
    description: "Newest first.",
    role: "admin",
    permission: "mtls:read",
    query: z.object({
      enabled: enabledFilter,
      revoked: queryBoolean({
        fallback: false,
        description: "The revoked agents instead of those that are not",
      }),
      ...pagingQuery(50),
    }),
    returns: paged({ agents: z.array(Agent) }),
  }, ({ query }) => listAgents(deps, query)),

  endpoint({
    method: "post",
    path: "/mtls/agents",
    summary: "Add an agent",
    description: "It is enabled. The certificate must be as one of an authority has to be, but " +
      "for clients (clientAuth, where it has an extendedKeyUsage), and signed by `ca_id` where " +
      "that is given. A certificate that was revoked stays revoked and cannot be added again.",
    role: "admin",
    permission: "mtls:write",
    body: NewAgent,
    returns: Agent,
    status: 201,
    failures: { 409: "This certificate is that of an agent, or was that of one that is revoked" },
  }, ({ body }) => createAgent(deps, body)),

  endpoint({
    method: "get",
    path: "/mtls/agents/:id",
    summary: "Show an agent",
    role: "admin",
    permission: "mtls:read",
    params: IdParams,
    returns: Agent,
    failures: UNKNOWN,
  }, ({ params }) => getAgent(deps, params.id)),

  endpoint({
    method: "put",
    path: "/mtls/agents/:id",
    summary: "Change an agent",
    description: "What is left out stays as it is. A new certificate is a new agent.",
    role: "admin",
    permission: "mtls:write",
    params: IdParams,
    body: AgentChange,
    returns: Agent,
    failures: UNKNOWN,
  }, ({ params, body }) => changeAgent(deps, params.id, body)),

  endpoint({
    method: "delete",
    path: "/mtls/agents/:id",
    summary: "Revoke an agent",
    description: "For good, from the next request on. It stays listed under `?revoked=true`. " +
      "Revoking it again changes nothing.",
    role: "admin",
    permission: "mtls:write",
    params: IdParams,
    returns: Done.extend({ id: z.string(), revoked_at: Timestamp }),
    failures: UNKNOWN,
  }, ({ params }) => ({ ...done, id: params.id, revoked_at: revokeAgent(deps, params.id) })),

  endpoint({
    method: "put",
    path: "/mtls/agents/:id/toggle",
    summary: "Turn an agent on or off",
    description: "Without `enabled`, the opposite of what it is.",
    role: "admin",
    permission: "mtls:write",
    params: IdParams,
    body: z.object({ enabled: z.boolean().optional() }).meta({ example: { enabled: false } }),
    returns: Agent,
    failures: { ...UNKNOWN, 409: "It is revoked" },
  }, ({ params, body }) => toggleAgent(deps, params.id, body.enabled)),
];
