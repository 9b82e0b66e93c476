/** /mtls/agents: machines that are identified by client certificates. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import {
  changeAgent,
  createAgent,
  getAgent,
  listAgents,
  revokeAgent,
  setAgentEnabled,
} from "../../../services/enterprise/mtls/agents.ts";
import { endpoint } from "../../contract/endpoint.ts";
import {
  doneWith,
  paged,
  pagingQuery,
  queryBoolean,
  Timestamp,
  ToggleBody,
} from "../../contract/shapes.ts";
import { CertificatePem, Fingerprint, KEY_RULE, PEM_EXAMPLE } from "./shapes.ts";

// Sent to the proxy in a header, so it must not contain line breaks.
const Hostname = z.string().trim().regex(/^[A-Za-z0-9][\w.:-]{0,252}$/, {
  error: "must have 1 to 253 letters, digits, dots, dashes, underscores and colons",
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
    description: "The certificate authority that must have signed the certificate. Default: any",
  }),
}).meta({
  id: "NewAgent",
  example: {
    hostname: "web-1.example.com",
    description: "Front end",
    certificate: PEM_EXAMPLE,
    ca_id: "5b0f8f0e-6f57-4a8e-8c1c-3f3c3a9f0c11",
    tags: ["web"],
  },
});

const AgentChange = z.object(fields).partial()
  .meta({
    id: "AgentChanges",
    example: { description: "Front end, moved to rack 7", tags: ["web", "rack-7"] },
  });

const Agent = z.object({
  id: z.string(),
  hostname: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  ca_id: z.string().nullable(),
  enabled: z.boolean(),
  pending: z.boolean().meta({
    description:
      "Whether `auto_enroll` recorded it and no admin has enabled, disabled or revoked " +
      "it. Its certificate counts as unknown until then",
  }),
  certificate: z.string().nullable().meta({
    description:
      "PEM. null while only the fingerprint is known, like `subject`, `issuer`, `serial` " +
      "and the dates",
  }),
  fingerprint: Fingerprint,
  subject: z.string().nullable().meta({ example: "CN=web-1, O=Example" }),
  issuer: z.string().nullable().meta({ example: "CN=Agents 2026, O=Example" }),
  serial: z.string().nullable().meta({ description: "Hex" }),
  not_before: Timestamp.nullable(),
  not_after: Timestamp.nullable(),
  last_seen_at: Timestamp.nullable().meta({ description: "Stored at most once a minute" }),
  last_seen_ip: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  revoked_at: Timestamp.nullable(),
}).meta({ id: "Agent" });

const UNKNOWN = { 404: "The agent does not exist" };

const READ = { role: "admin", permission: "mtls:read" } as const;
const WRITE = { role: "admin", permission: "mtls:write" } as const;

export const mtlsAgentEndpoints = (deps: Deps) => [
  endpoint("GET /mtls/agents", {
    operationId: "listAgents",
    summary: "List agents",
    description: "Newest first.",
    ...READ,
    query: z.object({
      enabled: queryBoolean({}).optional().meta({
        description: "Only enabled agents, or only disabled ones. Default: both",
      }),
      revoked: queryBoolean({
        fallback: false,
        description: "Only revoked agents, or only those that are not revoked",
      }),
      ...pagingQuery(50),
    }),
    returns: paged({ agents: z.array(Agent) }).meta({ id: "AgentPage" }),
  }, ({ query }) => listAgents(deps, query)),

  endpoint("POST /mtls/agents", {
    operationId: "createAgent",
    summary: "Add an agent",
    description:
      "It is enabled immediately. Its certificate must be valid now, usable by clients (an " +
      "extendedKeyUsage must include clientAuth), and signed by the certificate authority " +
      `\`ca_id\` if that is given. ${KEY_RULE} A certificate that was revoked stays revoked and ` +
      "cannot be added again.",
    ...WRITE,
    body: NewAgent,
    returns: Agent,
    status: 201,
    failures: { 409: "Another agent has this certificate, or had it until it was revoked" },
  }, ({ body }) => createAgent(deps, body)),

  endpoint("GET /mtls/agents/:id", {
    operationId: "getAgent",
    summary: "Get an agent",
    ...READ,
    returns: Agent,
    failures: UNKNOWN,
  }, ({ params }) => getAgent(deps, params.id)),

  endpoint("PUT /mtls/agents/:id", {
    operationId: "updateAgent",
    summary: "Update an agent",
    description:
      "Omitted fields keep their values. The certificate cannot be changed; add a new agent " +
      "instead.",
    ...WRITE,
    body: AgentChange,
    returns: Agent,
    failures: UNKNOWN,
  }, ({ params, body }) => changeAgent(deps, params.id, body)),

  endpoint("DELETE /mtls/agents/:id", {
    operationId: "revokeAgent",
    summary: "Revoke an agent",
    description:
      "Its certificate is permanently rejected from the next request on. The agent stays " +
      "listed under `?revoked=true`. Repeating the request has no effect.",
    ...WRITE,
    returns: doneWith({ id: z.string(), revoked_at: Timestamp }).meta({ id: "AgentRevocation" }),
    failures: UNKNOWN,
  }, ({ params }) => ({ id: params.id, revoked_at: revokeAgent(deps, params.id) })),

  endpoint("PUT /mtls/agents/:id/toggle", {
    operationId: "toggleAgent",
    summary: "Enable or disable an agent",
    ...WRITE,
    body: ToggleBody,
    returns: Agent,
    failures: { ...UNKNOWN, 409: "The agent is revoked" },
  }, ({ params, body }) => setAgentEnabled(deps, params.id, body.enabled)),
];
