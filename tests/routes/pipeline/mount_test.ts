import { deepEqual, equal } from "node:assert/strict";
import { Hono } from "hono";
import * as z from "zod";
import { endpoint } from "../../../routes/contract/endpoint.ts";
import { failureOf } from "../../../routes/pipeline/errors.ts";
import { type AppEnv, respondJson } from "../../../routes/pipeline/exchange.ts";
import { mount } from "../../../routes/pipeline/mount.ts";
import { createLimiters } from "../../../services/access/limiters.ts";
import type { Role } from "../../../services/access/caller.ts";
import { createLicense } from "../../../services/access/license/license.ts";
import { testApp } from "../../helpers/test_app.ts";

/** One Pro endpoint with a body, under a license that the test controls. */
function proApp() {
  const license = createLicense(() => new Date("2026-01-01T00:00:00Z"));
  const hono = new Hono<AppEnv>({ strict: false });
  const pages = endpoint("POST /status-pages/:id", {
    operationId: "anEndpointOfTheTest",
    summary: "An endpoint of the test",
    role: "admin",
    body: z.object({ name: z.string() }),
    returns: z.object({ name: z.string() }),
  }, ({ body }) => body);
  mount(hono, { edition: "pro", prefix: "/api/ext", endpoints: [pages] }, {
    license,
    identify: (request) => {
      const role = request.headers.get("x-role") as Role | null;
      const caller = { userId: "u", familyId: "f", address: "" };
      return Promise.resolve(role === null ? undefined : { ...caller, role });
    },
    audit: () => {},
    changes: { record: () => {} },
    currentPolicy: () => undefined,
    scopes: { resolve: (_, __, params) => Promise.resolve(params), redact: (error) => error },
    assertEnrolled: () => {},
    largeBodies: createLimiters().largeBodies,
    deniedReads: { isNew: () => false },
    containerNames: () => [],
  });
  hono.onError((error, c) => {
    const { status, body, headers } = failureOf(error, license.edition);
    return respondJson(c.env, status, body, headers);
  });
  const call = async (role: Role | null, body: unknown) => {
    const response = await hono.fetch(
      new Request("http://longshore.test/api/ext/status-pages/x", {
        method: "POST",
        headers: { "content-type": "application/json", ...(role && { "x-role": role }) },
        body: body instanceof ReadableStream ? body : JSON.stringify(body),
      }),
      { requestId: "r", address: "", headers: {} },
    );
    return { status: response.status, body: await response.json() };
  };
  return { license, call };
}

Deno.test("an edition without a license answers 402 with the feature, after 401 and before all others", async () => {
  const { call } = proApp();
  const refused = {
    error: "Status pages need the Pro edition (status pages)",
    current: 0,
    max: 0,
    currentEdition: "ce",
    upgradeUrl: "https://longshore.example/editions",
  };
  deepEqual(await call("admin", { name: "a" }), { status: 402, body: refused });
  deepEqual(await call("viewer", { wrong: true }), { status: 402, body: refused });
  deepEqual((await call(null, {})).status, 401);
});

Deno.test("a license change takes effect at the next request", async () => {
  const { license, call } = proApp();
  const expiresAt = new Date("2027-01-01T00:00:00Z");
  license.use({ customer: "c", edition: "pro", expiresAt, limits: {} });
  deepEqual(await call("admin", { name: "a" }), { status: 200, body: { name: "a" } });
  deepEqual((await call("viewer", { name: "a" })).status, 403);
  license.use(undefined);
  deepEqual((await call("admin", { name: "a" })).status, 402);
});

Deno.test("an incomplete body is 400, not 500", async () => {
  const { license, call } = proApp();
  const expiresAt = new Date("2027-01-01T00:00:00Z");
  license.use({ customer: "c", edition: "pro", expiresAt, limits: {} });
  const broken = new ReadableStream({
    pull: (controller) => controller.error(new Deno.errors.BadResource("resource unavailable")),
  });
  deepEqual(await call("admin", broken), {
    status: 400,
    body: { error: "body: is incomplete or malformed" },
  });
});

Deno.test("text that the database cannot return unchanged is refused in every field", async () => {
  using app = testApp();
  const rule = { metric: "load_1", operator: ">", threshold: 1, durationSeconds: 0 };
  const config = { url: "http://example.com/", fieldMappings: [{ path: "a\0", name: "b" }] };
  for (
    const [method, path, body, field] of [
      ["POST", "/api/alerts/rules", { ...rule, name: "\ud800" }, "body.name"],
      ["POST", "/api/integrations", { adapter: "http-json", name: "a", config }, "body.config"],
      ["GET", "/api/containers?name=%00", undefined, "query.name"],
      ["DELETE", "/api/webhooks/a%00", undefined, "path.id"],
    ] as const
  ) {
    const answer = await app.call(method, path, body);
    deepEqual([answer.status, answer.body.error], [
      400,
      `${field}: contains a NUL character or a lone surrogate`,
    ]);
  }
  equal((await app.call("GET", "/api/alerts/rules")).status, 200);
});
