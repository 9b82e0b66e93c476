/** The application with mTLS in use, for tests. @module */

import { equal } from "node:assert/strict";
import { type Answer, type TestApp, testApp, type TestAppOptions } from "./test_app.ts";

export const MTLS = "/api/ext/service-enterprise/mtls";

export const VERIFY_SECRET = "the-verify-secret-of-the-tests";

/** With the real time, because `openssl` creates certificates for the real time. */
export const mtlsApp = ({ config, ...options }: TestAppOptions = {}): TestApp =>
  testApp({
    edition: "enterprise",
    now: new Date(Date.now() + 60_000).toISOString(),
    config: { mtlsVerifySecret: VERIFY_SECRET, ...config },
    ...options,
  });

/** Adds an agent. @returns Its record. */
export async function addAgent(app: TestApp, body: Record<string, unknown>) {
  const answer = await app.call("POST", `${MTLS}/agents`, { hostname: "web-1", ...body });
  equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

/** Adds an authority. @returns Its record. */
export async function addCa(app: TestApp, certificate: string, name = "Root") {
  const answer = await app.call("POST", `${MTLS}/ca`, { name, certificate });
  equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

/** Verifies as the proxy does, with `headers` in addition to the secret, or with a body. */
export async function verify(
  app: TestApp,
  { headers = {}, body, secret = VERIFY_SECRET, method = body ? "POST" : "GET", address }: {
    headers?: Record<string, string>;
    body?: unknown;
    secret?: string | null;
    method?: string;
    address?: string;
  },
): Promise<Answer> {
  return await app.call(method, `${MTLS}/verify`, body, {
    role: "public",
    headers: { ...(secret !== null && { "x-verify-secret": secret }), ...headers },
    ...(address !== undefined && { address }),
  });
}

export async function configure(app: TestApp, change: Record<string, boolean>): Promise<void> {
  equal((await app.call("PUT", `${MTLS}/config`, change)).status, 200);
}

/** As nginx's `$ssl_client_escaped_cert`. */
export const escapedCert = (pem: string) => ({ "x-client-cert": encodeURIComponent(pem) });
