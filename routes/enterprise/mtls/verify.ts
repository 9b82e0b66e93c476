/**
 * /mtls/config and /mtls/verify: mTLS settings, and verification of client certificates for a
 * reverse proxy.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { PEM_MAX } from "../../../services/enterprise/mtls/certificates.ts";
import { parseAddress } from "../../../services/ip_address.ts";
import {
  FINGERPRINT_RULE,
  parseFingerprint,
} from "../../../services/enterprise/mtls/fingerprints.ts";
import { changeMtlsConfig, getMtlsConfig } from "../../../services/enterprise/mtls/config.ts";
import { PENDING_MAX } from "../../../services/enterprise/mtls/enrollment.ts";
import { type Decision, verifyClient } from "../../../services/enterprise/mtls/verify.ts";
import { assertVerifySecret } from "../../../services/enterprise/mtls/verify_secret.ts";
import {
  type Endpoint,
  endpoint,
  type Note,
  rawEndpoint,
  type RawResponse,
} from "../../contract/endpoint.ts";
import { CertificatePem, PEM_EXAMPLE } from "./shapes.ts";

const Config = z.object({
  enforcement_enabled: z.boolean().meta({
    description: "Whether `/mtls/verify` answers 403 if the client is not verified. Otherwise it " +
      "answers 200 with `verified` false",
  }),
  reject_unknown_certs: z.boolean().meta({
    description: "Whether valid certificates without an agent are rejected as well",
  }),
  auto_enroll: z.boolean().meta({
    description: "Whether a valid certificate without an agent is recorded as a disabled agent " +
      `with \`pending\` true; at most ${PENDING_MAX}`,
  }),
}).meta({ id: "MtlsConfig" });

const CONFIG_EXAMPLE = {
  enforcement_enabled: true,
  reject_unknown_certs: true,
  auto_enroll: false,
};

const Verification = z.object({
  fingerprint: z.string().max(200).refine((text) => parseFingerprint(text) !== undefined, {
    error: FINGERPRINT_RULE,
  }).optional(),
  certificate: CertificatePem.optional(),
  ip: z.string().max(64).refine((text) => parseAddress(text) !== undefined, {
    error: "must be an IP address",
  }).optional().meta({ description: "Address of the client. Default: `X-Real-IP`" }),
}).meta({ id: "CertificateVerification", example: { certificate: PEM_EXAMPLE, ip: "192.0.2.7" } });

type Verification = z.output<typeof Verification>;

const Verdict = z.discriminatedUnion("verified", [
  z.object({ verified: z.literal(true), agent_id: z.string(), hostname: z.string() }),
  z.object({
    verified: z.literal(false),
    reason: z.string().meta({ example: "The agent is disabled" }),
  }),
]).meta({
  id: "CertificateVerdict",
  example: {
    verified: true,
    agent_id: "0f6c9c3b-3b0e-4f0e-9c59-0a8a1e3a2f10",
    hostname: "web-1.example.com",
  },
});

const VERIFY_DESCRIPTION = `Called by a reverse proxy after the TLS handshake. The proxy sends the \
client's certificate (\`X-Client-Cert\`: URL-encoded PEM, in nginx \`$ssl_client_escaped_cert\`) or \
its SHA-256 fingerprint (\`X-Client-Cert-Fingerprint\`: hex in either case, with or without colons \
and the prefix \`sha256:\`), and optionally the client's address (\`X-Real-IP\`). If several of these \
are sent, all must belong to the same certificate.

A client is verified if an agent has the certificate, the agent is enabled and not revoked, and both \
the certificate and its certificate authority are valid now.

Otherwise \`verified\` is false and \`reason\` says why. The status is 403 if \
\`enforcement_enabled\` is on, and 200 if it is off. A valid certificate that no agent has gets 403 \
only if \`reject_unknown_certs\` is on as well.`;

const verify = (deps: Deps) => ({
  role: "public" as const,
  proof: ({ headers }: Request) => assertVerifySecret(deps, headers.get("x-verify-secret")),
  // The secret authenticates the proxy, and the address is that of the proxy's client.
  anyAddress: true as const,
  headers: {
    "X-Client-Cert": "The client's certificate: PEM, URL-encoded",
    "X-Client-Cert-Fingerprint": "Its SHA-256 fingerprint",
    "X-Real-IP": "The client's address",
  },
  // A proxy sends one request per request of each client, so only refusals are recorded.
  unaudited: true as const,
  unrecorded: true as const,
  returns: Verdict,
  produces: "application/json",
  replyHeaders: {
    "X-Agent-Id": "Id of the agent, if the client is verified",
    "X-Agent-Hostname": "Hostname of the agent, if the client is verified",
  },
  replies: {
    403: {
      description: "The client is not verified, and `enforcement_enabled` is on",
      returns: Verdict,
    },
  },
  failures: {
    401: "The secret is missing or wrong",
    503: "`MTLS_VERIFY_SECRET` is not set",
  },
});

const READ = { role: "admin", permission: "mtls:read" } as const;
const WRITE = { role: "admin", permission: "mtls:write" } as const;

export const mtlsVerifyEndpoints = (deps: Deps): Endpoint[] => {
  const respond = async (
    { request, note, body = {} }: { request: Request; note: Note; body?: Verification | undefined },
  ): Promise<RawResponse> => {
    const decision = await verifyClient(deps, certificatesOf(request.headers, body));
    if (decision.fingerprint !== undefined) note.target = decision.fingerprint;
    return responseOf(decision);
  };

  return [
    endpoint("GET /mtls/config", {
      operationId: "getMtlsConfig",
      summary: "Get mTLS settings",
      description: "The settings that decide how client certificates are handled.",
      ...READ,
      returns: Config,
    }, () => getMtlsConfig(deps)),

    endpoint("PUT /mtls/config", {
      operationId: "updateMtlsConfig",
      summary: "Update mTLS settings",
      description: "Omitted settings keep their values. Changes apply from the next request.",
      ...WRITE,
      body: Config.partial().meta({ id: "MtlsConfigChanges", example: CONFIG_EXAMPLE }),
      returns: Config,
    }, ({ body }) => changeMtlsConfig(deps, body)),

    // Raw, because the 403 has the shape of a response, not that of an error.
    rawEndpoint("GET /mtls/verify", {
      ...verify(deps),
      operationId: "verifyClientCertificate",
      summary: "Verify a client certificate",
      description: VERIFY_DESCRIPTION,
    }, respond),
    rawEndpoint("POST /mtls/verify", {
      ...verify(deps),
      operationId: "verifyPostedClientCertificate",
      summary: "Verify a posted client certificate",
      description: VERIFY_DESCRIPTION,
      body: Verification,
    }, respond),
  ];
};

function certificatesOf(headers: Headers, { fingerprint, certificate, ip }: Verification) {
  const escaped = headers.get("x-client-cert") || undefined;
  return {
    fingerprints: present(fingerprint, headers.get("x-client-cert-fingerprint") || undefined),
    certificates: present(certificate, escaped === undefined ? undefined : decodePem(escaped)),
    ip: parseAddress(ip ?? headers.get("x-real-ip") ?? "")?.toString() ?? null,
  };
}

const present = (...texts: (string | undefined)[]) => texts.filter((text) => text !== undefined);

/** Malformed input stays unchanged and is refused later, because it is not PEM. */
function decodePem(text: string): string {
  try {
    return text.length > 3 * PEM_MAX ? text : decodeURIComponent(text);
  } catch {
    return text;
  }
}

function responseOf({ verdict, admitted }: Decision): RawResponse {
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
