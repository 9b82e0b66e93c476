/**
 * /mtls/ca: authorities that sign the certificates of agents.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { createCa, listCas, removeCa } from "../../services/enterprise/mtls_ca.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";
import { CertificatePem, Fingerprint, PEM_EXAMPLE } from "./mtls_shapes.ts";

const NewCa = z.object({
  name: z.string().trim().min(1).max(100),
  certificate: CertificatePem,
}).meta({ example: { name: "Agents 2026", certificate: PEM_EXAMPLE } });

const Ca = z.object({
  id: z.string(),
  name: z.string(),
  certificate: z.string().meta({ description: "PEM" }),
  fingerprint: Fingerprint,
  subject: z.string().meta({ example: "CN=Agents 2026, O=Example" }),
  issuer: z.string(),
  serial: z.string().meta({ description: "Hex" }),
  not_before: Timestamp,
  not_after: Timestamp,
  created_at: Timestamp,
});

export const mtlsCaEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/mtls/ca",
    summary: "List the authorities of agents",
    description: "Newest first.",
    role: "admin",
    permission: "mtls:read",
    query: z.object(pagingQuery(50)),
    returns: paged({ cas: z.array(Ca) }),
  }, ({ query }) => listCas(deps, query)),

  endpoint({
    method: "post",
    path: "/mtls/ca",
    summary: "Add an authority",
    description: "The certificate must be in its dates, that of an authority (basicConstraints " +
      "CA:TRUE, and keyCertSign where it has a keyUsage), with an RSA key of 2 048 bits or more, " +
      "or on P-256, P-384, P-521 or Ed25519, and signed with SHA-256, SHA-384, SHA-512 or Ed25519.",
    role: "admin",
    permission: "mtls:write",
    body: NewCa,
    returns: Ca,
    status: 201,
    failures: { 409: "This certificate is already stored" },
  }, ({ body }) => createCa(deps, body)),

  endpoint({
    method: "delete",
    path: "/mtls/ca/:id",
    summary: "Delete an authority",
    description: "Agents that are revoked do not hold it; they stay listed without it.",
    role: "admin",
    permission: "mtls:write",
    params: IdParams,
    returns: Done,
    failures: { 404: "There is no such authority", 409: "Agents rely on it" },
  }, ({ params }) => {
    removeCa(deps, params.id);
    return done;
  }),
];
