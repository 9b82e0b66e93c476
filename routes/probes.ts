/** /api/endpoints and /api/ssl: checks of configured endpoints and certificates. @module */

import * as z from "zod";
import { createEndpointProber } from "../services/probes/http.ts";
import { createCertificateProber } from "../services/probes/tls.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Timestamp } from "./contract/shapes.ts";

const EndpointCheck = z.object({
  name: z.string().meta({ example: "Shop" }),
  url: z.string().meta({
    description: "Without user name and password",
    example: "https://shop.example.com/health",
  }),
  healthy: z.boolean().meta({ description: "Whether the status is the expected one" }),
  status: z.int().nullable().meta({ description: "null without a response", example: 200 }),
  expectedStatus: z.int().meta({ example: 200 }),
  responseTime: z.int().nullable().meta({
    description: "Milliseconds until the response headers; null without a response",
    example: 42,
  }),
  error: z.string().nullable().meta({ description: "Reason of the failure; null if healthy" }),
  checkedAt: Timestamp,
}).meta({ id: "EndpointCheck" });

const CertificateCheck = z.object({
  domain: z.string().meta({ example: "shop.example.com" }),
  port: z.int().meta({ example: 443 }),
  valid: z.boolean().meta({ description: "Trusted, valid now and issued for the domain" }),
  daysRemaining: z.int().nullable().meta({
    description: "Whole days; negative after expiry",
    example: 61,
  }),
  issuer: z.string().nullable().meta({ example: "CN=Example CA, O=Example" }),
  subject: z.string().nullable().meta({ example: "CN=shop.example.com" }),
  altNames: z.array(z.string()).meta({
    description: "Host names and addresses of the certificate, at most 100",
    example: ["shop.example.com"],
  }),
  validFrom: Timestamp.nullable(),
  expiresAt: Timestamp.nullable(),
  fingerprint: z.string().nullable().meta({
    description: "SHA-256 as upper-case hex pairs separated by colons",
  }),
  error: z.string().nullable().meta({
    description: "All problems in one sentence; null for a valid certificate",
    example: null,
  }),
}).meta({ id: "CertificateCheck" });

const FRESHNESS = "Checks run in parallel, ten at a time, with a timeout of ten seconds. " +
  "Results are cached for 30 seconds.";

export const probeEndpoints = (deps: Deps) => {
  const checkEndpoints = createEndpointProber(deps);
  const checkCertificates = createCertificateProber(deps);

  return [
    endpoint("GET /api/endpoints", {
      operationId: "checkEndpoints",
      summary: "Check configured HTTP endpoints",
      description:
        `The endpoints of \`ENDPOINTS\`, in order. ${FRESHNESS} Redirects are not followed. ` +
        "A user name and password in a URL are sent as basic authentication and are not shown.",
      role: "viewer",
      permission: "system:read",
      returns: z.object({ endpoints: z.array(EndpointCheck) }).meta({ id: "EndpointCheckList" }),
    }, async () => ({ endpoints: await checkEndpoints() })),

    endpoint("GET /api/ssl", {
      operationId: "checkCertificates",
      summary: "Check configured TLS certificates",
      description: `The domains of \`SSL_DOMAINS\`, in order. ${FRESHNESS} If a server is ` +
        "unreachable or presents no certificate, only `error` is set.",
      role: "viewer",
      permission: "system:read",
      returns: z.object({ certificates: z.array(CertificateCheck) }).meta({
        id: "CertificateCheckList",
      }),
    }, async () => ({ certificates: await checkCertificates() })),
  ];
};
