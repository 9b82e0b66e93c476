/**
 * Treatment of API tokens by each endpoint: a new one has to declare `scope` or be listed here as
 * one that tokens limited to stacks or containers cannot use.
 *
 * @module
 */

import { deepEqual } from "node:assert/strict";
import { everyRoute } from "../../routes/editions.ts";
import { EVENT_KINDS } from "../../services/events/kinds/mod.ts";
import { permissionName, PERMISSIONS } from "../../services/access/permissions.ts";
import { testApp } from "../helpers/test_app.ts";

/**
 * Groups of endpoints that say and change nothing about a single container, or too much about
 * others, by the beginning of the path. A token that is limited to stacks or containers gets 404.
 */
const CLOSED = [
  "* /api/alerts/",
  "* /api/account",
  "GET /api/audit",
  "* /api/edition",
  "GET /api/endpoints",
  // Files have what other stacks and containers keep secret.
  "GET /api/containers/:id/file",
  "PUT /api/containers/:id/file",
  "DELETE /api/containers/:id/file",
  "POST /api/containers/:id/files/",
  // The metrics history belongs to the name, which another container may have had.
  "POST /api/containers/:id/rename",
  "DELETE /api/images/:id",
  "GET /api/images/:id/export",
  "POST /api/images/",
  "* /api/git/",
  "* /api/identity/oidc",
  "* /api/integrations",
  "* /api/maintenance",
  "POST /api/networks",
  "DELETE /api/networks/:id",
  "* /api/push/",
  "POST /api/schedules",
  "PUT /api/schedules/:id",
  "DELETE /api/schedules/:id",
  "* /api/silences",
  "GET /api/ssl",
  // Sources name containers and files that the token may not see.
  "GET /api/stacks/:name/",
  "PUT /api/stacks/:name/source",
  "PUT /api/stacks/:name/git",
  "PUT /api/stacks/:name/file",
  "POST /api/stacks",
  "DELETE /api/stacks/:name",
  "* /api/swarm",
  "* /api/takeover",
  "GET /api/system/d",
  "POST /api/system/prune",
  "POST /api/settings/users-mode",
  "* /api/setup/",
  "POST /api/volumes",
  "GET /api/volumes/:name/file",
  "PUT /api/volumes/:name/file",
  "DELETE /api/volumes/:name",
  "POST /api/updates/check",
  "* /api/updates/settings",
  "* /api/updates/blocked",
  "GET /api/feed",
  "POST /api/fleet/hosts",
  "PUT /api/fleet/hosts/:id",
  "POST /api/fleet/hosts/:id/accept",
  "DELETE /api/fleet/hosts/:id",
  "* /api/fleet/membership",
  "* /api/fleet/invites",
  "* /api/fleet/waves",
  "* /api/fleet/blocked",
  "* /api/boxes",
  "* /api/fleet/pending",
  "* /api/webhooks",
  "* /api/notifications",
  "* /api/registries",
  "* /api/backup",
  "GET /api/sessions",
  "* /api/icons/uploaded",
  "* /api/users/",
  "* /api/tokens",
  "* /auth/users",
  "POST /auth/logout",
  "* /api/ext/service-pro/",
  "* /api/ext/service-enterprise/",
];

using app = testApp();
const everything = (await everyRoute(app.deps)).flatMap(({ prefix, endpoints }) =>
  endpoints.map((endpoint) => ({
    name: `${endpoint.method.toUpperCase()} ${prefix}${endpoint.path}`,
    endpoint,
  }))
);
const guarded = everything.filter(({ endpoint }) => endpoint.role !== "public");

const isClosed = (name: string) =>
  CLOSED.some((entry) => {
    const [method, path = ""] = entry.split(" ");
    const [ownMethod, ownPath = ""] = name.split(" ");
    return (method === "*" || method === ownMethod) && ownPath.startsWith(path);
  });

Deno.test("every endpoint declares how it treats a token limited to stacks or containers", () => {
  const undeclared = guarded.filter(({ name, endpoint }) => !endpoint.scope && !isClosed(name));
  deepEqual(undeclared.map(({ name }) => name), []);
});

Deno.test("every entry of the closed endpoints is needed", () => {
  const names = guarded.filter(({ endpoint }) => !endpoint.scope).map(({ name }) => name);
  const unused = CLOSED.filter((entry) => {
    const [method, path = ""] = entry.split(" ");
    return !names.some((name) => {
      const [ownMethod, ownPath = ""] = name.split(" ");
      return (method === "*" || method === ownMethod) && ownPath.startsWith(path);
    });
  });
  deepEqual(unused, []);
});

Deno.test("a scope of container or stack names the path parameter that is checked", () => {
  const wrong = everything.filter(({ endpoint: { scope, path } }) =>
    (scope === "container" && !path.includes("/:id")) ||
    (scope === "stack" && !path.includes("/:name"))
  );
  deepEqual(wrong.map(({ name }) => name), []);
});

/** Paths whose writes could give a token more rights or a longer life. */
const ACCOUNT_PATHS =
  /^(?!GET )\w+ (\/auth\/users|\/auth\/logout|\/api\/(account|tokens|identity)|\/api\/ext\/service-enterprise\/(roles|sso\/providers))/;

Deno.test("API tokens cannot manage accounts, rights or identity providers", () => {
  const accounts = guarded.filter(({ name }) => ACCOUNT_PATHS.test(name));
  deepEqual(accounts.filter(({ endpoint }) => !endpoint.loginOnly).map(({ name }) => name), []);
});

Deno.test("every kind of events needs a permission that exists", () => {
  const known = PERMISSIONS.map(permissionName);
  deepEqual(EVENT_KINDS.filter(({ permission }) => !known.includes(permission)), []);
});
