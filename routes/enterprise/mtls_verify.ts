/**
 * /mtls/config and /mtls/verify: what is done with client certificates, and the question of a
 * reverse proxy whether one is that of an agent.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { PEM_MAX } from "../../services/enterprise/certificates.ts";
import { FINGERPRINT_RULE, parseFingerprint } from "../../services/enterprise/fingerprints.ts";
import { changeMtlsSettings, getMtlsSettings } from "../../services/enterprise/mtls_config.ts";
import {
  type Decision,
  parseClientAddress,
  verifyClient,
} from "../../services/enterprise/mtls_verify.ts";
import { assertVerifySecret } from "../../services/enterprise/verify_secret.ts";
import { type Endpoint, endpoint, type Note, type RawAnswer, rawEndpoint } from "../endpoint.ts";
import { CertificatePem, PEM_EXAMPLE } from "./mtls_shapes.ts";

const Settings = z.object({
  enforcement_enabled: z.boolean().meta({
    description: "Whether `verify` answers 403 for a certificate that is not verified; else it " +
      "tells so with 200",
  }),
  reject_unknown_certs: z.boolean().meta({
    description: "Whether that goes for a certificate that is merely unknown, too",
  }),
  auto_enroll: z.boolean().meta({
    description: "Whether an unknown certificate is recorded as a disabled agent, up to 1 000 of " +
      "them that wait for a decision",
  }),
});

const SETTINGS = { enforcement_enabled: true, reject_unknown_certs: true, auto_enroll: false };

const Verification = z.object({
  fingerprint: z.string().max(200).refine((text) => parseFingerprint(text) !== undefined, {
    error: FINGERPRINT_RULE,
  }).optional(),
  certificate: CertificatePem.optional(),
  ip: z.string().max(64).refine((text) => parseClientAddress(text) !== undefined, {
    error: "must be an IP address",
  }).optional().meta({ description: "Address of the client; else `X-Real-IP`" }),
}).meta({ example: { certificate: PEM_EXAMPLE, ip: "192.0.2.7" } });

type Verification = z.output<typeof Verification>;

const Verdict = z.discriminatedUnion("verified", [
  z.object({ verified: z.literal(true), agent_id: z.string(), hostname: z.string() }),
  z.object({
    verified: z.literal(false),
    reason: z.string().meta({ example: "The agent is disabled" }),
  }),
]).meta({
  example: {
    verified: true,
    agent_id: "0f6c9c3b-3b0e-4f0e-9c59-0a8a1e3a2f10",
    hostname: "web-1.example.com",
  },
});

const VERIFY_DESCRIPTION =
  "Asked by a reverse proxy after the handshake, with the secret of `MTLS_VERIFY_SECRET` in " +
  "`X-Verify-Secret`. It gives the certificate (`X-Client-Cert`, URL-encoded PEM as nginx's " +
  "`$ssl_client_escaped_cert`) or its SHA-256 fingerprint (`X-Client-Cert-Fingerprint`: hex in " +
  "either case, with or without colons and `sha256:`), and the client's address (`X-Real-IP`). " +
  "Everything that is given must be of the same certificate. The certificate of its authority " +
  "has to be in its dates as well. The agent is also named in the headers `X-Agent-Id` and " +
  "`X-Agent-Hostname`.\n\nWhat is not verified is answered with `verified` false and the reason: " +
  "with 403 where `enforcement_enabled`, else with 200. Without `reject_unknown_certs` a " +
  "certificate that is merely unknown gets 200 in any case; one that is revoked, disabled, " +
  "expired or missing does not.";

const verify = (deps: Deps, method: "get" | "post") => ({
  method,
  path: "/mtls/verify",
  role: "public" as const,
  proof: ({ headers }: Request) => assertVerifySecret(deps, headers.get("x-verify-secret")),
  // Asked at each request of each client: only refusals are worth an entry.
  unaudited: true as const,
  unrecorded: true as const,
  returns: z.string(),
  produces: "application/json",
  failures: {
    401: "The secret is missing or wrong",
    403: "Not verified: `verified` is false, and `reason` says why",
    503: "MTLS_VERIFY_SECRET is not set",
  },
});

export const mtlsVerifyEndpoints = (deps: Deps): Endpoint[] => {
  const answer = async (
    { request, note, body = {} }: { request: Request; note: Note; body?: Verification | undefined },
  ): Promise<RawAnswer> => {
    const decision = await verifyClient(deps, presentedIn(request.headers, body));
    if (decision.fingerprint !== undefined) note.target = decision.fingerprint;
    return answerOf(decision);
  };

  return [
    endpoint({
      method: "get",
      path: "/mtls/config",
      summary: "Show what is done with client certificates",
      role: "admin",
      permission: "mtls:read",
      returns: Settings,
    }, () => getMtlsSettings(deps)),

    endpoint({
      method: "put",
      path: "/mtls/config",
      summary: "Change what is done with client certificates",
      description: "What is left out stays as it is. Holds from the next request on.",
      role: "admin",
      permission: "mtls:write",
      body: Settings.partial().meta({ example: SETTINGS }),
      returns: Settings,
    }, ({ body }) => changeMtlsSettings(deps, body)),

    // Their answers have the same shape when they are refusals, which only raw ones can have.
    {
      ...rawEndpoint({
        ...verify(deps, "get"),
        summary: "Verify a client certificate that is in the headers",
        description: VERIFY_DESCRIPTION,
      }, answer),
      returns: Verdict,
    },
    {
      ...rawEndpoint({
        ...verify(deps, "post"),
        summary: "Verify a client certificate that is in the body or the headers",
        description: VERIFY_DESCRIPTION,
        body: Verification,
      }, answer),
      returns: Verdict,
    },
  ];
};

function presentedIn(headers: Headers, { fingerprint, certificate, ip }: Verification) {
  const escaped = headers.get("x-client-cert") || undefined;
  return {
    fingerprints: present(fingerprint, headers.get("x-client-cert-fingerprint") || undefined),
    certificates: present(certificate, escaped === undefined ? undefined : unescaped(escaped)),
    ip: parseClientAddress(ip ?? headers.get("x-real-ip") ?? "") ?? null,
  };
}

const present = (...texts: (string | undefined)[]) => texts.filter((text) => text !== undefined);

/** What is not escaped as it should be is no PEM either, and is refused as that. */
function unescaped(text: string): string {
  try {
    return text.length > 3 * PEM_MAX ? text : decodeURIComponent(text);
  } catch {
    return text;
  }
}

function answerOf({ verdict, admitted }: Decision): RawAnswer {
  return {
    status: admitted ? 200 : 403,
    headers: {
      "content-type": "application/json; charset=utf-8",
      ...(verdict.verified && {
        "x-agent-id": verdict.agent_id,
        "x-agent-hostname": verdict.hostname,
      }),
    },
    body: new TextEncoder().encode(JSON.stringify(verdict)),
  };
}
