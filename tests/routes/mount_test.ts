import { deepEqual } from "node:assert/strict";
import { Hono } from "hono";
import * as z from "zod";
import { endpoint } from "../../routes/endpoint.ts";
import { failureOf } from "../../routes/errors.ts";
import type { AppEnv } from "../../routes/exchange.ts";
import { respondJson } from "../../routes/exchange.ts";
import { mount } from "../../routes/mount.ts";
import type { Role } from "../../services/caller.ts";
import { createLicense } from "../../services/license.ts";

/** One endpoint of Pro, which takes a body, behind a license in the test's hand. */
function proApp() {
  const license = createLicense(() => new Date("2026-01-01T00:00:00Z"));
  const hono = new Hono<AppEnv>({ strict: false });
  const pages = endpoint({
    method: "post",
    path: "/status-pages/:id",
    summary: "An endpoint of the test",
    role: "admin",
    body: z.object({ name: z.string() }),
    returns: z.object({ name: z.string() }),
  }, ({ body }) => body);
  mount(hono, { edition: "pro", prefix: "/api/ext", endpoints: [pages] }, {
    license,
    identify: (request) => {
      const role = request.headers.get("x-role") as Role | null;
      return role === null ? undefined : { userId: "u", role, familyId: "f", address: "" };
    },
    audit: () => {},
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
        body: JSON.stringify(body),
      }),
      { requestId: "r", address: "", headers: {} },
    );
    return { status: response.status, body: await response.json() };
  };
  return { license, call };
}

Deno.test("an edition that is not licensed answers 402 and names the feature, before all but 401", async () => {
  const { call } = proApp();
  const refused = {
    error: "Edition limit reached (status pages)",
    current: 0,
    max: 0,
    currentEdition: "ce",
    upgradeUrl: "https://longshore.example/editions",
  };
  deepEqual(await call("admin", { name: "a" }), { status: 402, body: refused });
  deepEqual(await call("viewer", { wrong: true }), { status: 402, body: refused });
  deepEqual((await call(null, {})).status, 401);
});

Deno.test("an edition opens and closes with its license at the very next request", async () => {
  const { license, call } = proApp();
  const expiresAt = new Date("2027-01-01T00:00:00Z");
  license.use({ customer: "c", edition: "pro", expiresAt, limits: {} });
  deepEqual(await call("admin", { name: "a" }), { status: 200, body: { name: "a" } });
  deepEqual((await call("viewer", { name: "a" })).status, 403);
  license.use(undefined);
  deepEqual((await call("admin", { name: "a" })).status, 402);
});
