import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { Endpoint } from "../../routes/contract/endpoint.ts";
import { everyRoute } from "../../routes/editions.ts";
import { sha256 } from "../../services/builtins.ts";
import { pageSecret } from "../helpers/browser_session.ts";
import { testApp } from "../helpers/test_app.ts";

const JSON_TYPE = { headers: { "content-type": "application/json" } };

Deno.test("unknown fields and query parameters are 400, with the likely name", async () => {
  using app = testApp();
  for (
    const [method, path, body, error] of [
      [
        "GET",
        "/api/containers?health=unhealthy",
        undefined,
        "query.health: unknown query " +
        "parameter; known query parameters: state, stack, name",
      ],
      [
        "GET",
        "/api/containers?stat=running",
        undefined,
        "query.stat: unknown query parameter; " +
        "did you mean state? Known query parameters: state, stack, name",
      ],
      [
        "GET",
        "/api/overview?x=1",
        undefined,
        "query.x: unknown query parameter; no query parameters are accepted here",
      ],
      [
        "GET",
        "/api/overview?__proto__=1",
        undefined,
        "query.__proto__: unknown query " +
        "parameter; no query parameters are accepted here",
      ],
      [
        "POST",
        "/api/containers/web/rebuild",
        { force: true },
        "body.force: unknown field; known " +
        "fields: pull",
      ],
      [
        "POST",
        "/api/containers/web/rebuild?pull=never",
        {},
        "query.pull: unknown query parameter; pull is a field of the body",
      ],
      [
        "POST",
        "/api/containers/web/stop",
        { t: 1 },
        "body.t: unknown field; t is a query parameter",
      ],
      [
        "POST",
        "/api/containers/web/start",
        { t: 1 },
        "body.t: unknown field; no fields are accepted here",
      ],
      [
        "DELETE",
        "/api/webhooks/x",
        { force: true },
        "body.force: unknown field; no fields are accepted here",
      ],
    ] as const
  ) {
    const answer = await app.call(method, path, body);
    deepEqual([path, answer.status, answer.body.error], [path, 400, error]);
  }
});

Deno.test("an unknown field of a nested object is 400, with its path", async () => {
  using app = testApp({ edition: "pro" });
  const channel = {
    platform: "team-chat",
    name: "On-call",
    config: { webhook_ur: "https://chat.example.com/x" },
    events: ["*"],
  };
  const { status, body } = await app.call("POST", "/api/ext/service-pro/chatops/channels", channel);
  equal(status, 400);
  match(body.error, /^body\.config\.webhook_ur: unknown field; did you mean webhook_url\? /);
});

Deno.test("an unknown field of an integration's config is 400", async () => {
  using app = testApp();
  const config = { url: "http://10.0.0.1/", fieldMapping: [], fieldMappings: [{ path: "a" }] };
  const { status, body } = await app.call("POST", "/api/integrations", {
    adapter: "http-json",
    name: "Shop",
    config,
  });
  equal(status, 400);
  deepEqual(body.errors.map(({ path }: { path: string }) => path), [
    "body.config.fieldMapping",
    "body.config.fieldMappings.0.name",
  ]);
});

Deno.test("the response lists all problems of a request, at most 50", async () => {
  using app = testApp();
  const { body } = await app.call("PUT", "/api/alerts/rules/x?a=1", {
    name: "",
    operator: "~",
    threshold: "90",
    durationSeconds: -1,
    durationSecond: 1,
  });
  deepEqual(body, {
    error: "query.a: unknown query parameter; no query parameters are accepted here",
    errors: [
      ["query.a", "unknown query parameter; no query parameters are accepted here"],
      [
        "body.durationSecond",
        "unknown field; did you mean durationSeconds? Known fields: " +
        "name, metric, operator, threshold, durationSeconds, severity, scope, pattern, path, " +
        "windowSeconds, forMissingDataSeconds, duration_seconds, autoIncident, enabled",
      ],
      ["body.name", "must not be empty"],
      ["body.operator", "must be one of >, <, >=, <=, =="],
      ["body.threshold", "must be a number, not a string"],
      ["body.durationSeconds", "must be at least 0"],
    ].map(([path, message]) => ({ path, message })),
  });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a${i}`, i]));
  equal((await app.call("POST", "/api/alerts/rules", many)).body.errors.length, 50);
});

Deno.test("a record can be read and sent back unchanged; other unknown fields are 400", async () => {
  using app = testApp();
  const { body: rule } = await app.call("POST", "/api/alerts/rules", {
    name: "CPU",
    metric: "cpu_percent",
    operator: ">",
    threshold: 90,
    durationSeconds: 60,
  });
  const path = `/api/alerts/rules/${rule.id}`;
  const changed = await app.call("PUT", path, { ...rule, threshold: 95 });
  const { condition } = changed.body;
  deepEqual([changed.status, changed.body], [200, { ...rule, threshold: 95, condition }]);
  match(condition, /95 %/);
  equal((await app.call("PUT", path, { ...rule, secret: 1 })).status, 400);
  const { body: settings } = await app.call("GET", "/api/updates/settings");
  deepEqual((await app.call("PUT", "/api/updates/settings", settings)).body, settings);
  // A toggle is an action and not the record.
  equal((await app.call("PUT", `${path}/toggle`, { enabled: true, id: rule.id })).status, 400);
});

Deno.test("a stored name that is no longer accepted can be read", async () => {
  using app = testApp({ edition: "pro" });
  const [old, pro] = ["two\nlines", "/api/ext/service-pro"];
  const condition = { metric: "cpu_percent", operator: ">", threshold: 90 };
  for (
    const [path, table, body, field = "name"] of [
      ["/api/alerts/rules", "alert_rules", { ...condition, durationSeconds: 60 }],
      ["/api/schedules", "schedules", {
        ...{ containerId: "web", containerName: "web", allowMissing: true },
        ...{ action: "stop", cronExpression: "0 3 * * *" },
      }],
      ["/api/webhooks", "webhooks", { url: "https://example.com", events: ["*"] }],
      [`${pro}/remediation/rules`, "remediation_rules", {
        ...{ condition_metric: "container_down", condition_operator: "==" },
        ...{ condition_threshold: 1, action_type: "start", action_target: "web" },
        allow_missing: true,
      }],
      [`${pro}/uptime/monitors`, "uptime_monitors", { type: "http", url: "https://example.com" }],
      [`${pro}/incidents`, "incidents", { severity: "major" }, "title"],
    ] as const
  ) {
    const { status, body: { id } } = await app.call("POST", path, { ...body, [field]: "old" });
    equal(status, 201, path);
    app.deps.db.run(`UPDATE ${table} SET ${field} = :old WHERE id = :id`, { old, id });
    const { status: read, body: list } = await app.call("GET", path);
    const [record] = Object.values(list).find(Array.isArray)!;
    deepEqual([path, read, record[field]], [path, 200, old]);
  }
});

Deno.test("unused fields that published clients send are accepted", async () => {
  using app = testApp();
  const body = { token: "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]", platform: "ios" };
  equal((await app.call("POST", "/api/push/register", body)).status, 200);
});

Deno.test("a missing body is 400", async () => {
  using app = testApp();
  for (const body of [undefined, "", " \n"]) {
    for (const options of [{}, JSON_TYPE]) {
      const answer = await app.call("POST", "/api/webhooks", body, options);
      deepEqual([answer.status, answer.body.error], [400, "body: is required"]);
    }
  }
});

Deno.test("an endpoint without a body accepts an empty object, and no other type", async () => {
  using app = testApp();
  const { body: { id } } = await app.call("POST", "/api/webhooks", {
    name: "a",
    url: "https://hooks.example.com/",
    events: ["*"],
  });
  const path = `/api/webhooks/${id}/test`;
  equal((await app.call("POST", path, {})).status, 200);
  equal((await app.call("POST", path, [])).body.error, "body: must be an object, not an array");
  equal(
    (await app.call("POST", path, "a=1", { headers: { "content-type": "text/plain" } })).status,
    415,
  );
});

const pathOf = (prefix: string, { path }: Endpoint) =>
  (prefix + path).replace(/(?<=\/backup\/(snapshots|own)\/.*):(id|other)\b/g, "00000000")
    .replace(/:(version|other)\b/g, "1")
    .replace(/:\w+/g, "00000000-0000-4000-8000-000000000000");

Deno.test("an empty body with a JSON type is accepted by every endpoint without a body", async () => {
  using first = testApp();
  let asked = 0;
  for (const { prefix, endpoints } of await everyRoute(first.deps)) {
    for (const endpoint of endpoints) {
      const { method, body, form, upload } = endpoint;
      if (method === "get" || form || upload || body && !body.safeParse({}).success) continue;
      const statuses = [];
      for (const options of [{}, JSON_TYPE]) {
        using app = testApp({ edition: "enterprise" });
        const answer = await app.call(method.toUpperCase(), pathOf(prefix, endpoint), "", options);
        statuses.push(answer.status);
      }
      equal(statuses[1], statuses[0], endpoint.path);
      asked++;
    }
  }
  ok(asked > 50);
});

/** Fields that choose the shape of a body. */
const CHOICES: Record<string, Record<string, unknown>> = {
  "post /api/fleet/run": { action: "update-check" },
};

/** Other programs create their links and forms, and add parameters and fields. */
const IGNORING = [
  "get /",
  "get /api/ext/service-enterprise/sso/login/:id",
  "get /api/ext/service-pro/status-pages/:pageId/subscribers/verify/:token",
  "get /api/ext/service-pro/status-pages/unsubscribe/:token",
  "get /auth/oidc/:id/callback",
  "get /auth/oidc/:id/login",
  "get /auth/oidc/callback",
  "get /docs",
  "get /status/:slug",
  "get /status/:slug/badge.svg",
  "get /status/:slug/feed.atom",
  "get /status/:slug/subscribe",
  "post /api/ext/service-enterprise/sso/acs",
  "post /api/ext/service-pro/status-pages/unsubscribe/:token",
  "post /auth/oidc/backchannel-logout",
  "post /hooks/git/:token",
  "post /status/:slug/subscribe",
];

Deno.test("every endpoint refuses an unknown query parameter and an unknown field of its body", async () => {
  using app = testApp({ edition: "enterprise", config: { mtlsVerifySecret: "verify" } });
  const ignoring: string[] = [];
  const secret = pageSecret();
  const cookie = `longshore-${sha256(secret).slice(0, 16)}=unknown`;
  for (const { prefix, endpoints } of await everyRoute(app.deps)) {
    for (const endpoint of endpoints) {
      const { method } = endpoint;
      const name = `${method} ${prefix}${endpoint.path}`;
      const path = pathOf(prefix, endpoint);
      const headers = {
        "x-verify-secret": "verify",
        "x-requested-with": "longshore",
        "x-page-secret": secret,
        cookie,
      };
      const call = async (query: string, body?: unknown) =>
        (await app.call(method.toUpperCase(), path + query, body, { headers })).body;

      if (endpoint.ignoresUnknown) {
        ignoring.push(name);
        continue;
      }
      // The host checks what it gets.
      if (endpoint.forwards) continue;
      const { error } = await call("?unknown_parameter=1");
      match(error, /^query\.unknown_parameter: unknown query parameter; /, name);
      if (method === "get" || endpoint.upload) continue;
      const { errors } = await call("", { ...CHOICES[name], unknown_field: 1 });
      const found = errors.find(({ path }: { path: string }) => path === "body.unknown_field");
      match(found?.message, /^unknown field; /, name);
    }
  }
  deepEqual(ignoring.sort(), IGNORING);
});

Deno.test("every path responds the same with a trailing slash", async () => {
  using app = testApp({ edition: "enterprise", config: { mtlsVerifySecret: "verify" } });
  for (const { prefix, endpoints } of await everyRoute(app.deps)) {
    for (const endpoint of endpoints) {
      const path = pathOf(prefix, endpoint).replace(/\/$/, "");
      // The refusal of an unknown parameter comes from the endpoint itself and changes nothing; the
      // method that no endpoint has is 405, not 404.
      for (const method of [endpoint.method.toUpperCase(), "PATCH"]) {
        const answers = [];
        for (const slash of ["", "/"]) {
          const { status, headers, body } = await app.fetch(
            method,
            `${path}${slash}?x=1`,
            undefined,
            {
              headers: { "x-verify-secret": "verify" },
            },
          );
          await body?.cancel();
          answers.push([method, path, status, headers.get("allow")]);
        }
        deepEqual(answers[1], answers[0]);
      }
    }
  }
});
