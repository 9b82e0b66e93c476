/** /mtls/ca: certificate authorities that sign the certificates of agents. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { createCa, listCas, removeCa } from "../../../services/enterprise/mtls/ca.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, Name, paged, pagingQuery, Timestamp } from "../../contract/shapes.ts";
import { CertificatePem, Fingerprint, KEY_RULE, PEM_EXAMPLE } from "./shapes.ts";

const NewCa = z.object({
  name: Name,
  certificate: CertificatePem,
}).meta({
  id: "NewCertificateAuthority",
  example: { name: "Agents 2026", certificate: PEM_EXAMPLE },
});

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
}).meta({ id: "CertificateAuthority" });

const READ = { role: "admin", permission: "mtls:read" } as const;
const WRITE = { role: "admin", permission: "mtls:write" } as const;

export const mtlsCaEndpoints = (deps: Deps) => [
  endpoint("GET /mtls/ca", {
    operationId: "listCertificateAuthorities",
    summary: "List certificate authorities",
    description: "Newest first.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ cas: z.array(Ca) }).meta({ id: "CertificateAuthorityPage" }),
  }, ({ query }) => listCas(deps, query)),

  endpoint("POST /mtls/ca", {
    operationId: "createCertificateAuthority",
    summary: "Add a certificate authority",
    description: "The certificate must be valid now and belong to an authority (basicConstraints " +
      `CA:TRUE; a keyUsage must include keyCertSign). ${KEY_RULE}`,
    ...WRITE,
    body: NewCa,
    returns: Ca,
    status: 201,
    failures: { 409: "This certificate is already stored" },
  }, ({ body }) => createCa(deps, body)),

  endpoint("DELETE /mtls/ca/:id", {
    operationId: "deleteCertificateAuthority",
    summary: "Delete a certificate authority",
    description: "Refused while an agent uses it. Revoked agents do not count and stay listed " +
      "without it.",
    ...WRITE,
    returns: Done,
    failures: { 404: "The certificate authority does not exist", 409: "Agents use it" },
  }, ({ params }) => removeCa(deps, params.id)),
];
