/** Rules that hold for every endpoint. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import * as z from "zod";
import { everyRoute, groups } from "../../routes/editions.ts";
import type { Endpoint } from "../../routes/contract/endpoint.ts";
import { loadEndpoints, pathTest } from "../../routes/contract/group.ts";
import { testApp } from "../helpers/test_app.ts";

interface Served {
  path: string;
  edition: string;
  endpoint: Endpoint;
}

async function everyEndpoint(): Promise<Served[]> {
  using app = testApp();
  return (await everyRoute(app.deps)).flatMap(({ prefix, edition, endpoints }) =>
    endpoints.map((endpoint) => ({ path: prefix + endpoint.path, edition, endpoint }))
  );
}

const everything = await everyEndpoint();
const named = ({ endpoint, path }: Served) => `${endpoint.method.toUpperCase()} ${path}`;

Deno.test("every endpoint is in the only group that serves its path", async () => {
  using app = testApp();
  for (const group of groups) {
    for (const { path } of await loadEndpoints(group, app.deps, () => Promise.resolve(""))) {
      const serving = groups.filter((each) => pathTest(each)(group.prefix + path));
      deepEqual(serving, [group], group.prefix + path);
    }
  }
});

Deno.test("no endpoint is hidden behind an earlier one", () => {
  const hidden = everything.filter((later, index) =>
    everything.slice(0, index).some((earlier) =>
      earlier.endpoint.method === later.endpoint.method && covers(earlier.path, later.path)
    )
  );
  deepEqual(hidden.map(named), []);
});

// The endpoints that work without a token.
const PUBLIC = [
  "POST /auth/token",
  "POST /auth/login",
  "POST /auth/refresh",
  "POST /auth/session",
  // Authenticated by the token of the first step.
  "POST /auth/mfa",
  // Authenticated by a passkey.
  "POST /auth/passkey/options",
  "POST /auth/passkey",
  // Providers that the sign-in page offers (identity.md, 3).
  "GET /auth/providers",
  "GET /auth/oidc/:id/login",
  "GET /auth/oidc/callback",
  "GET /auth/oidc/:id/callback",
  // Authenticated by the provider's signature.
  "POST /auth/oidc/backchannel-logout",
  // Authenticated by the setup code, until the setup is over (start.md, 2).
  "GET /auth/setup",
  "POST /auth/setup",
  // Authenticated by the cookie.
  "POST /auth/session/refresh",
  "DELETE /auth/session",
  // Authenticated by a handshake of keys.
  "GET /fleet/link",
  "GET /fleet/hub",
  // Authenticated by the forge's signature.
  "POST /hooks/git/:token",
  "GET /livez",
  "GET /readyz",
  "GET /api/health",
  "GET /openapi.json",
  "GET /",
  "GET /docs",
  "GET /api/ext/service-pro/status-pages/public/:slug",
  "GET /api/ext/service-pro/status-pages/unsubscribe/:token",
  "POST /api/ext/service-pro/status-pages/unsubscribe/:token",
  "GET /api/ext/service-pro/status-pages/:pageId/subscribers/verify/:token",
  "GET /api/ext/service-enterprise/branding/active",
  "GET /api/ext/service-enterprise/sso/metadata",
  "GET /api/ext/service-enterprise/sso/login/:id",
  "POST /api/ext/service-enterprise/sso/acs",
  // Authenticated by another secret.
  "GET /api/ext/service-enterprise/mtls/verify",
  "POST /api/ext/service-enterprise/mtls/verify",
  "GET /health",
  "GET /status/:slug",
  "GET /status/:slug/feed.atom",
  "GET /status/:slug/badge.svg",
  "GET /status/:slug/subscribe",
  "POST /status/:slug/subscribe",
];

Deno.test("only the endpoints that the contract names work without a token", () => {
  deepEqual(
    everything.filter(({ endpoint }) => endpoint.role === "public").map(named).sort(),
    [...PUBLIC].sort(),
  );
});

Deno.test("every endpoint but the public ones answers 401 without a token", async () => {
  using app = testApp();
  for (const served of everything.filter(({ endpoint }) => endpoint.role !== "public")) {
    const path = served.path.replace(/:\w+/g, "x");
    const method = served.endpoint.method.toUpperCase();
    const { status, body } = await app.call(method, path, undefined, { role: "public" });
    deepEqual([named(served), status, typeof body.error], [named(served), 401, "string"]);
  }
});

Deno.test("every endpoint refuses the role below its own with 403", async () => {
  using app = testApp({ edition: "enterprise" });
  const below = { operator: "viewer", admin: "operator" } as const;
  for (const served of everything) {
    const { role, method } = served.endpoint;
    if (role !== "operator" && role !== "admin") continue;
    const path = served.path.replace(/:\w+/g, "x");
    const body = method === "get" ? undefined : {};
    const { status } = await app.call(method.toUpperCase(), path, body, { role: below[role] });
    deepEqual([named(served), status], [named(served), 403]);
  }
});

/** Expiry date of the test licenses. */
const LICENSE_END = "2026-01-31T00:00:00Z";

for (
  const { license, now, isOpen } of [
    { license: "without a license", now: undefined, isOpen: false },
    { license: "in the last second of the grace", now: "2026-02-13T23:59:59Z", isOpen: true },
    { license: "after the grace of a license", now: "2026-02-14T00:00:00Z", isOpen: false },
  ]
) {
  Deno.test(`${license} what is not CE is ${isOpen ? "open" : "answered with 402"}`, async () => {
    using app = testApp(now === undefined ? {} : { now });
    if (now !== undefined) {
      const expiresAt = new Date(LICENSE_END);
      app.deps.license.use({ customer: "test", edition: "enterprise", expiresAt, limits: {} });
    }
    for (const served of everything.filter(({ edition }) => edition !== "ce")) {
      const { method, hiddenUnlicensed } = served.endpoint;
      if (isOpen && method !== "get") continue;
      const address = served.path.replace(/:\w+/g, "x");
      // The license is checked before the role and the body.
      const answer = await app.call(method.toUpperCase(), address, undefined, { role: "viewer" });
      if (isOpen) equal(answer.status === 402, false, named(served));
      else if (hiddenUnlicensed) equal(answer.status, 404, named(served));
      else {
        const { error, upgradeUrl, ...numbers } = answer.body;
        match(
          error,
          /^(?!This)[A-Z].* needs? the (Pro|Enterprise) edition \([a-z ]+\)$/,
          named(served),
        );
        deepEqual([named(served), answer.status, numbers], [named(served), 402, {
          current: 0,
          max: 0,
          currentEdition: "ce",
        }]);
        equal(new URL(upgradeUrl).protocol, "https:");
      }
    }
  });
}

Deno.test("every write except those to your own account needs more than the role viewer", () => {
  const writes = everything.filter(({ endpoint }) =>
    endpoint.method !== "get" && endpoint.role === "viewer"
  );
  deepEqual(writes.map(named).sort(), [
    "DELETE /api/account/identities/:id",
    "DELETE /api/account/passkeys/:id",
    "DELETE /api/account/sessions",
    "DELETE /api/account/sessions/:id",
    "DELETE /api/account/totp",
    // The host checks the role.
    "DELETE /api/fleet/hosts/:id/api/:path{.+}",
    "DELETE /api/tokens/:id",
    "POST /api/account/passkeys",
    "POST /api/account/passkeys/options",
    "POST /api/account/totp",
    "POST /api/account/totp/confirm",
    "POST /api/fleet/hosts/:id/api/:path{.+}",
    "POST /api/push/register",
    "POST /api/push/unregister",
    // It stores nothing.
    "POST /api/stacks/convert",
    "POST /api/stacks/validate",
    "POST /api/stream/ticket",
    "POST /api/tokens",
    "POST /api/tokens/:id/rotate",
    "POST /auth/logout",
    "PUT /api/account",
    "PUT /api/account/passkeys/:id",
    "PUT /api/account/password",
    "PUT /api/fleet/hosts/:id/api/:path{.+}",
    "PUT /auth/users/:id/password",
  ]);
});

Deno.test("names and titles are one line without control characters", () => {
  const wrong = everything.flatMap((served) => {
    const { body } = served.endpoint;
    if (!(body instanceof z.ZodObject)) return [];
    const fields = Object.keys(body.shape).filter((field) =>
      /^(.+_)?(name|title|label)$/.test(field)
    );
    return fields.flatMap((field) =>
      ["two\nlines", "a bell\x07", "two\u2028lines"]
        .filter((text) => {
          const { error } = body.safeParse({ [field]: text });
          return !error?.issues.some(({ path }) => path[0] === field);
        })
        .map((text) => [named(served), field, text])
    );
  });
  deepEqual(wrong, []);
});

Deno.test("an endpoint with a cached response is the same for every caller", () => {
  for (const served of everything.filter(({ endpoint }) => endpoint.version)) {
    equal(served.endpoint.method, "get", named(served));
    equal(served.endpoint.etag, true, named(served));
  }
});

/** Whether every request for `path` is already answered by `pattern`. */
function covers(pattern: string, path: string): boolean {
  const [a, b] = [pattern.split("/"), path.split("/")];
  return a.length === b.length && a.every((part, i) => part.startsWith(":") || part === b[i]);
}

/** Objects of a JSON schema that accept any field without saying so, as JSON. */
function openObjects(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties, additionalProperties } = schema as Record<string, unknown>;
  const isOpen = properties !== undefined && additionalProperties === undefined;
  return [
    ...(isOpen ? [JSON.stringify(schema).slice(0, 200)] : []),
    ...Object.values(schema).flatMap(openObjects),
  ];
}

/** The pipeline makes a body itself strict. */
const inputSchema = (shape: z.ZodType) =>
  z.toJSONSchema(shape instanceof z.ZodObject ? shape.strict() : shape, {
    io: "input",
    unrepresentable: "any",
  });

Deno.test("every object in a body refuses unknown fields", () => {
  for (const { path, endpoint } of everything) {
    const body = endpoint.form ?? endpoint.body;
    if (!body || endpoint.ignoresUnknown) continue;
    deepEqual(openObjects(inputSchema(body)), [], `${endpoint.method} ${path}: use z.strictObject`);
  }
});

Deno.test("an object that accepts any field is found", () => {
  const shape = z.object({ a: z.array(z.object({ b: z.string() })) });
  equal(openObjects(inputSchema(shape)).length, 1);
});
