/**
 * /api/endpoints and /api/ssl: what the configured endpoints and certificates are like.
 *
 * @module
 */

import * as z from "zod";
import { createEndpointProber } from "../../services/ce/http_probes.ts";
import { createCertificateProber } from "../../services/ce/tls_probes.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { Timestamp } from "../shapes.ts";

const EndpointCheck = z.object({
  name: z.string().meta({ example: "Shop" }),
  url: z.string().meta({
    description: "Without user name and password",
    example: "https://shop.example.com/health",
  }),
  healthy: z.boolean().meta({ description: "Whether the status is the expected one" }),
  status: z.int().nullable().meta({ description: "Null where no answer came", example: 200 }),
  expectedStatus: z.int().meta({ example: 200 }),
  responseTime: z.int().nullable().meta({
    description: "Milliseconds until the answer's headers; null where no answer came",
    example: 42,
  }),
  error: z.string().nullable().meta({ description: "What is wrong; null while healthy" }),
  checkedAt: Timestamp,
});

const CertificateCheck = z.object({
  domain: z.string().meta({ example: "shop.example.com" }),
  port: z.int().meta({ example: 443 }),
  valid: z.boolean().meta({ description: "Trusted, in date and for the domain" }),
  daysRemaining: z.int().nullable().meta({
    description: "Whole days; below zero after the end",
    example: 61,
  }),
  issuer: z.string().nullable().meta({ example: "CN=Example CA, O=Example" }),
  subject: z.string().nullable().meta({ example: "CN=shop.example.com" }),
  altNames: z.array(z.string()).meta({
    description: "Host names and addresses that the certificate is for, at most 100",
    example: ["shop.example.com"],
  }),
  validFrom: Timestamp.nullable(),
  expiresAt: Timestamp.nullable(),
  fingerprint: z.string().nullable().meta({
    description: "SHA-256 as pairs of upper-case hex digits with colons between",
  }),
  error: z.string().nullable().meta({
    description: "Everything that is wrong in one sentence; null for a valid certificate",
    example: null,
  }),
});

const FRESHNESS = "All are asked at once, ten at a time and ten seconds each, and the answer is " +
  "kept for 30 seconds.";

export const probeEndpoints = (deps: Deps) => {
  const checkEndpoints = createEndpointProber(deps);
  const checkCertificates = createCertificateProber(deps);

  return [
    endpoint({
      method: "get",
      path: "/api/endpoints",
      summary: "Probe the configured HTTP endpoints",
      description: `The endpoints of \`ENDPOINTS\`, in their order. ${FRESHNESS} Redirects are ` +
        "not followed: the status is compared as it is. A user name and password in an " +
        "address are sent as basic authentication and not shown.",
      role: "viewer",
      permission: "system:read",
      returns: z.object({ endpoints: z.array(EndpointCheck) }),
    }, async () => ({ endpoints: await checkEndpoints() })),

    endpoint({
      method: "get",
      path: "/api/ssl",
      summary: "Check the certificates of the configured domains",
      description: `The domains of \`SSL_DOMAINS\`, in their order. ${FRESHNESS} For a server ` +
        "that cannot be reached or presents no certificate only `error` says something.",
      role: "viewer",
      permission: "system:read",
      returns: z.object({ certificates: z.array(CertificateCheck) }),
    }, async () => ({ certificates: await checkCertificates() })),
  ];
};
