/**
 * The complete list of endpoints that an IP allowlist leaves open: a new endpoint is covered unless
 * it is listed here.
 *
 * @module
 */

import { deepEqual } from "node:assert/strict";
import { everyRoute } from "../../routes/editions.ts";
import { testApp } from "../helpers/test_app.ts";

const PRO = "/api/ext/service-pro";
const ENTERPRISE = "/api/ext/service-enterprise";

/** Probes, public pages, and logins at an identity provider. */
const ANY_ADDRESS = [
  // A proxy authenticates with a secret and asks about another client's address.
  "GET /api/ext/service-enterprise/mtls/verify",
  "POST /api/ext/service-enterprise/mtls/verify",
  "GET /livez",
  "GET /readyz",
  "GET /health",
  "GET /api/health",
  `GET ${PRO}/status-pages/public/:slug`,
  `GET ${PRO}/status-pages/:pageId/subscribers/verify/:token`,
  `GET ${PRO}/status-pages/unsubscribe/:token`,
  `POST ${PRO}/status-pages/unsubscribe/:token`,
  "GET /status/:slug",
  "GET /status/:slug/feed.atom",
  "GET /status/:slug/badge.svg",
  "GET /status/:slug/subscribe",
  "POST /status/:slug/subscribe",
  "GET /auth/oidc/callback",
  "GET /auth/oidc/:id/callback",
  "GET /auth/oidc/:id/login",
  "POST /auth/oidc/backchannel-logout",
  `GET ${ENTERPRISE}/branding/active`,
  `GET ${ENTERPRISE}/sso/metadata`,
  `GET ${ENTERPRISE}/sso/login/:id`,
  `POST ${ENTERPRISE}/sso/acs`,
];

Deno.test("only these endpoints are open to all addresses, and all of them need no token", async () => {
  using app = testApp();
  const open = (await everyRoute(app.deps)).flatMap(({ prefix, endpoints }) =>
    endpoints.filter(({ anyAddress }) => anyAddress).map(({ method, path, role }) => ({
      name: `${method.toUpperCase()} ${prefix}${path}`,
      role,
    }))
  );
  deepEqual(open.map(({ name }) => name).sort(), [...ANY_ADDRESS].sort());
  deepEqual(open.filter(({ role }) => role !== "public"), []);
});
