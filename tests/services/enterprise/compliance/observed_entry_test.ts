import { deepEqual, equal, ok } from "node:assert/strict";
import type { Caller } from "../../../../services/access/caller.ts";
import {
  isAuthentication,
  isFailedLogin,
  observedEntry,
} from "../../../../services/enterprise/compliance/observed_entry.ts";
import type { Observation } from "../../../../services/access/policy.ts";
import { everyRoute } from "../../../../routes/editions.ts";
import { testApp } from "../../../helpers/test_app.ts";

const ANN: Caller = { userId: "ann", role: "operator", familyId: "f", address: "192.0.2.1" };

const observed = (changes: Partial<Observation> = {}): Observation => ({
  targets: [],
  command: null,
  caller: ANN,
  address: "192.0.2.1",
  requestId: "r1",
  method: "POST",
  path: "/api/containers/:id/stop",
  permission: "containers:stop",
  target: "web",
  status: 200,
  outcome: "success",
  actor: undefined,
  ...changes,
});

Deno.test("the entry names all targets and the command, bounded and well-formed", () => {
  const { metadata } = observedEntry(observed({
    path: "/api/containers/bulk",
    targets: ["web", "y".repeat(1_000), ...Array.from({ length: 200 }, (_, n) => `c${n}`)],
    command: "z".repeat(499) + "\u{1F600}",
  }));
  const { targets, command } = metadata as { targets: string[]; command: string };
  deepEqual([targets[0], targets[1]!.length, targets.length], ["web", 300, 100]);
  equal(command, "z".repeat(499) + "\uFFFD");
});

Deno.test("a token in a path is in no target", () => {
  const entry = observedEntry(observed({ path: "/unsubscribe/:token", targets: ["a", "b"] }));
  deepEqual([entry.resource_id, "targets" in entry.metadata!], [null, false]);
});

Deno.test("the entry of a request says who did what to what, from where, with what outcome", () => {
  deepEqual(observedEntry(observed()), {
    actor_id: "ann",
    actor_type: "user",
    category: "container",
    severity: "info",
    action: "containers.stop",
    resource_type: "containers",
    resource_id: "web",
    detail: "POST /api/containers/:id/stop: 200",
    outcome: "success",
    metadata: {
      method: "POST",
      path: "/api/containers/:id/stop",
      status: 200,
      address: "192.0.2.1",
      request_id: "r1",
      role: "operator",
    },
    recorded_by: null,
  });
});

const ENTERPRISE = "/api/ext/service-enterprise";
const PRO = "/api/ext/service-pro";

for (
  const [method, path, permission, category, action] of [
    ["POST", "/api/containers/:id/exec", "containers:exec", "container", "containers.exec"],
    ["GET", "/api/containers", "containers:read", "container", "containers.read"],
    ["POST", "/api/containers/bulk", "containers:restart", "container", "containers.restart"],
    ["DELETE", "/api/volumes/:name", "volumes:delete", "container", "volumes.delete"],
    ["POST", "/api/system/prune", "system:prune", "system", "system.prune"],
    ["POST", "/api/webhooks", "webhooks:write", "configuration", "webhooks.create"],
    ["PUT", "/api/webhooks/:id", "webhooks:write", "configuration", "webhooks.update"],
    ["DELETE", "/api/webhooks/:id", "webhooks:write", "configuration", "webhooks.delete"],
    ["POST", "/api/webhooks/:id/test", "webhooks:write", "configuration", "webhooks.test"],
    ["PUT", "/api/schedules/:id/toggle", "schedules:write", "configuration", "schedules.toggle"],
    ["POST", "/api/maintenance", "settings:write", "configuration", "settings.create"],
    ["POST", `${PRO}/incidents`, "incidents:write", "data", "incidents.create"],
    [
      "POST",
      `${PRO}/status-pages/:pageId/components`,
      "status_pages:write",
      "configuration",
      "status_pages.components",
    ],
    ["POST", "/auth/users", "users:write", "authorization", "users.create"],
    ["PUT", "/auth/users/:id/role", "users:write", "authorization", "users.role"],
    ["DELETE", "/auth/users/:id", "users:write", "authorization", "users.delete"],
    ["PUT", "/auth/users/:id/password", undefined, "authentication", "auth.users.password"],
    ["POST", "/auth/login", undefined, "authentication", "auth.login"],
    ["POST", "/auth/token", undefined, "authentication", "auth.token"],
    ["POST", "/auth/refresh", undefined, "authentication", "auth.refresh"],
    ["POST", "/auth/logout", undefined, "authentication", "auth.logout"],
    ["POST", "/api/stream/ticket", "system:read", "authentication", "stream.ticket"],
    ["POST", `${ENTERPRISE}/sso/acs`, undefined, "authentication", "sso.acs"],
    ["POST", "/api/push/register", undefined, "data", "push.register"],
    ["POST", `${ENTERPRISE}/sso/providers`, "sso:write", "security", "sso.create"],
    ["DELETE", `${ENTERPRISE}/mtls/ca/:id`, "mtls:write", "security", "mtls.delete"],
    [
      "PUT",
      `${ENTERPRISE}/branding/:id/activate`,
      "settings:write",
      "configuration",
      "settings.activate",
    ],
    ["POST", `${ENTERPRISE}/roles/`, "custom_roles:write", "authorization", "custom_roles.create"],
    ["GET", "/", undefined, "data", "service.read"],
  ] as const
) {
  Deno.test(`${method} ${path} is ${action} of ${category}`, () => {
    const entry = observedEntry(observed({ method, path, permission }));
    deepEqual([entry.category, entry.action], [category, action]);
    equal(entry.resource_type, action.split(".")[0]);
  });
}

for (
  const [status, outcome, category, severity] of [
    [201, "success", "container", "info"],
    [400, "failure", "container", "warning"],
    [401, "denied", "authorization", "warning"],
    [402, "denied", "container", "warning"],
    [403, "denied", "authorization", "warning"],
    [404, "failure", "container", "warning"],
    [503, "failure", "container", "error"],
  ] as const
) {
  Deno.test(`a request that is answered with ${status} is a ${severity} of ${category}`, () => {
    const entry = observedEntry(observed({ status, outcome }));
    deepEqual(
      [entry.category, entry.severity, entry.outcome],
      [category, severity, outcome === "success" ? "success" : "failure"],
    );
  });
}

Deno.test("who did it is known by the caller, the login, the key, or not at all", () => {
  const who = (changes: Partial<Observation>) => {
    const { actor_id, actor_type } = observedEntry(observed(changes));
    return [actor_id, actor_type];
  };
  const anonymous: Caller = { userId: "", role: "public", familyId: "", address: "192.0.2.1" };
  deepEqual(who({}), ["ann", "user"]);
  deepEqual(who({ caller: { ...ANN, userId: "key" } }), ["key", "api_key"]);
  deepEqual(who({ caller: { ...ANN, userId: "metrics" } }), ["metrics", "api_key"]);
  deepEqual(who({ caller: undefined }), ["anonymous", "user"]);
  deepEqual(who({ caller: anonymous }), ["anonymous", "user"]);
  deepEqual(who({ caller: anonymous, actor: "bob" }), ["bob", "user"]);
  deepEqual(who({ caller: anonymous, actor: "key" }), ["key", "api_key"]);
  const path = `${ENTERPRISE}/mtls/verify`;
  deepEqual(who({ caller: anonymous, actor: "agent 7", path }), ["agent 7", "agent"]);
  equal(observedEntry(observed({ caller: anonymous })).metadata!.role, undefined);
});

Deno.test("a token in a path and an overlong target are not recorded", () => {
  const path = `${PRO}/status-pages/unsubscribe/:token`;
  const entry = observedEntry(observed({ path, permission: undefined, target: "s3cret" }));
  ok(!JSON.stringify(entry).includes("s3cret"));
  equal(observedEntry(observed({ target: "x".repeat(5_000) })).resource_id!.length, 300);
  equal(observedEntry(observed({ target: "" })).resource_id, null);
});

Deno.test("a refusal of any public endpoint that signs in is a failed login", async () => {
  using app = testApp();
  const missing: string[] = [];
  for (const { prefix, endpoints } of await everyRoute(app.deps)) {
    for (const { method, path, role } of endpoints) {
      const route = `${prefix}${path}`;
      const signsIn = role === "public" && method.toUpperCase() === "POST" &&
        isAuthentication(route) && !route.endsWith("logout");
      if (signsIn && !isFailedLogin(observed({ path: route, status: 401 }))) missing.push(route);
    }
  }
  deepEqual(missing, []);
  for (const path of ["/auth/oidc/callback", "/auth/oidc/:id/callback"]) {
    ok(isFailedLogin(observed({ path, method: "GET", status: 401 })));
  }
});
