/** When the access policy of an edition is applied to a request, and what it records. @module */

import { deepEqual, equal } from "node:assert/strict";
import { Hono } from "hono";
import * as z from "zod";
import { type Endpoint, endpoint } from "../../routes/contract/endpoint.ts";
import { failureOf } from "../../routes/pipeline/errors.ts";
import { type AppEnv, respondJson } from "../../routes/pipeline/exchange.ts";
import { mount } from "../../routes/pipeline/mount.ts";
import { createLimiters } from "../../services/access/limiters.ts";
import type { Caller, Role } from "../../services/access/caller.ts";
import { AppError } from "../../services/errors.ts";
import { createCurrentAccessPolicy } from "../../services/access/current_policy.ts";
import type { CurrentAccessPolicy, Observation } from "../../services/access/policy.ts";
import { silentLog } from "../../services/log.ts";
import { testApp } from "../helpers/test_app.ts";

const Name = z.object({ name: z.string().min(1).max(20) });

const ENDPOINTS = [
  endpoint("GET /ships", {
    operationId: "read",
    summary: "Read",
    role: "viewer",
    permission: "ships:read",
    returns: Name,
  }, () => ({ name: "read" })),
  endpoint("POST /ships", {
    operationId: "write",
    summary: "Write",
    role: "admin",
    permission: "ships:write",
    body: Name,
    returns: Name,
  }, ({ body }) => body),
  endpoint("PUT /ships/:id", {
    operationId: "writeWithoutAPermission",
    summary: "Write without a permission",
    role: "admin",
    params: z.object({ id: z.string() }),
    returns: Name,
  }, () => ({ name: "wrote" })),
  endpoint("GET /board", {
    operationId: "forEverybodyFromEverywhere",
    summary: "For everybody, from everywhere",
    role: "public",
    anyAddress: true,
    returns: Name,
  }, ({ caller }) => ({ name: caller.role })),
  endpoint("POST /login", {
    operationId: "aLoginByAForm",
    summary: "A login by a form",
    role: "public",
    form: Name,
    returns: Name,
  }, ({ body, note, admit }) => {
    note.target = "the provider";
    admit("user of the login");
    return body;
  }),
  endpoint("POST /entries", {
    operationId: "writesTheLogItself",
    summary: "Writes the log itself",
    role: "viewer",
    unrecorded: true,
    returns: Name,
  }, () => ({ name: "entry" })),
];

interface Harbor {
  seen: Observation[];
  call(
    request: string,
    options?: { role?: Role | "nonsense"; body?: string; type?: string },
  ): Promise<
    { status: number; error: string | undefined; name: string | undefined }
  >;
}

/** An application with these endpoints behind an access policy that the test configures. */
function harbor(
  { shut = false, shutForCaller = false, shutFor = "", granted = [] as string[] } = {},
): Harbor {
  const seen: Observation[] = [];
  const currentPolicy: CurrentAccessPolicy = () => ({
    admit(address, caller) {
      if (shut || caller && (shutForCaller || caller.userId === shutFor)) {
        throw new AppError("forbidden", `not from ${address}`);
      }
    },
    admits: ({ userId }) => !shut && !shutForCaller && userId !== shutFor,
    hasCustomRoles: true,
    grants: (userId, permission) => userId === "u" && granted.includes(permission),
    hostLimits: () => undefined,
    includesRightsOf: () => true,
    record: async (observation) => {
      await Promise.resolve();
      seen.push(observation);
    },
  });
  const hono = new Hono<AppEnv>();
  mount(hono, { edition: "ce", prefix: "/api", endpoints: ENDPOINTS as Endpoint[] }, {
    license: { edition: "enterprise" },
    identify: (request) => {
      const role = request.headers.get("x-role") as Role | "nonsense" | null;
      if (role === null) return Promise.resolve(undefined);
      if (role === "nonsense") return Promise.reject(new AppError("unauthorized", "no token"));
      return Promise.resolve({ userId: "u", role, familyId: "f", address: "192.0.2.1" });
    },
    audit: () => {},
    changes: { record: () => {} },
    scopes: { resolve: (_, __, params) => Promise.resolve(params), redact: (error) => error },
    largeBodies: createLimiters().largeBodies,
    deniedReads: { isNew: () => false },
    containerNames: () => [],
    assertEnrolled: () => {},
    currentPolicy,
  });
  hono.onError((error, c) => {
    const { status, body, headers } = failureOf(error, "enterprise");
    return respondJson(c.env, status, body, headers);
  });
  return {
    seen,
    async call(line, { role, body, type = "application/json" } = {}) {
      const [method = "GET", path = ""] = line.split(" ");
      const request = new Request(`http://longshore.test/api${path}`, {
        method,
        headers: { ...(role && { "x-role": role }), ...(body && { "content-type": type }) },
        body: body ?? null,
      });
      const exchange = { requestId: "r1", address: "192.0.2.1", headers: {} };
      const response = await hono.fetch(request, exchange);
      const { error, name } = await response.json();
      return { status: response.status, error, name };
    },
  };
}

const REFUSED = { status: 403, error: "not from 192.0.2.1", name: undefined };

Deno.test("an address that is not admitted is refused before its token is checked", async () => {
  const { call } = harbor({ shut: true });
  deepEqual(await call("GET /ships"), REFUSED);
  deepEqual(await call("POST /ships", { role: "admin", body: "{" }), REFUSED);
  equal((await call("POST /login", { body: "name=a", type: FORM })).status, 403);
  equal((await call("GET /board")).status, 200);
});

Deno.test("an address can be refused for one caller only", async () => {
  const { call } = harbor({ shutForCaller: true });
  equal((await call("GET /ships")).status, 401);
  equal((await call("GET /ships", { role: "viewer" })).status, 403);
  // On a public endpoint they are anonymous.
  deepEqual(await call("GET /board", { role: "viewer" }), {
    status: 200,
    error: undefined,
    name: "public",
  });
});

Deno.test("a login from an address that is not admitted for the user is refused", async () => {
  const { call, seen } = harbor({ shutFor: "user of the login" });
  deepEqual(await call("POST /login", { body: "name=a", type: FORM }), REFUSED);
  deepEqual(seen.map(({ outcome, actor }) => [outcome, actor]), [["denied", "user of the login"]]);
});

Deno.test("an invalid token is ignored on a public endpoint", async () => {
  const { call } = harbor();
  equal((await call("GET /board", { role: "nonsense" })).name, "public");
  equal((await call("GET /ships", { role: "nonsense" })).status, 401);
});

Deno.test("a grant extends the role, but only for endpoints with a permission", async () => {
  const { call } = harbor({ granted: ["ships:write"] });
  const body = `{"name":"a"}`;
  equal((await call("POST /ships", { role: "viewer", body })).status, 200);
  equal((await call("PUT /ships/1", { role: "viewer" })).status, 403);
  equal((await harbor().call("POST /ships", { role: "viewer", body })).status, 403);
  equal((await call("POST /ships", { body })).status, 401);
});

for (
  const { what, line, options, recorded } of [
    {
      what: "a read",
      line: "GET /ships",
      options: { role: "viewer" as Role },
      recorded: ["GET /api/ships", "ships:read", "", 200, "success", undefined],
    },
    {
      what: "a write with what it is about",
      line: "POST /ships",
      options: { role: "admin" as Role, body: `{"name":"Bounty"}` },
      recorded: ["POST /api/ships", "ships:write", "Bounty", 200, "success", undefined],
    },
    {
      what: "a write that is refused for its role",
      line: "PUT /ships/7",
      options: { role: "viewer" as Role },
      recorded: ["PUT /api/ships/:id", undefined, "7", 403, "denied", undefined],
    },
    {
      what: "a write that fails",
      line: "POST /ships",
      options: { role: "admin" as Role, body: `{"name":""}` },
      recorded: ["POST /api/ships", "ships:write", "", 400, "failure", undefined],
    },
    {
      what: "a request without a token",
      line: "GET /ships",
      options: {},
      recorded: ["GET /api/ships", "ships:read", "", 401, "denied", undefined],
    },
    {
      what: "a login with whom it turned out to be",
      line: "POST /login",
      options: { body: "name=a", type: "application/x-www-form-urlencoded" },
      recorded: ["POST /api/login", undefined, "the provider", 200, "success", "user of the login"],
    },
    {
      what: "an anonymous malformed request, which the policy limits",
      line: "POST /login",
      options: { body: "name=", type: "application/x-www-form-urlencoded" },
      recorded: ["POST /api/login", undefined, "", 400, "failure", undefined],
    },
    {
      what: "nothing of what writes the log itself, when it succeeds",
      line: "POST /entries",
      options: { role: "viewer" as Role },
      recorded: undefined,
    },
    {
      what: "that writing the log itself was refused",
      line: "POST /entries",
      options: {},
      recorded: ["POST /api/entries", undefined, "", 401, "denied", undefined],
    },
  ]
) {
  Deno.test(`the access policy records before the response is sent: ${what}`, async () => {
    const { call, seen } = harbor();
    await call(line, options);
    deepEqual(
      seen.map(({ method, path, permission, target, status, outcome, actor }) => [
        `${method} ${path}`,
        permission,
        target,
        status,
        outcome,
        actor,
      ]),
      recorded ? [recorded] : [],
    );
  });
}

const FORM = "application/x-www-form-urlencoded; charset=utf-8";

for (
  const { wrong, body, type, status, error } of [
    {
      wrong: "a field that comes twice",
      body: "name=a&name=b",
      type: FORM,
      status: 400,
      error: "body.name: given 2 times, expected once",
    },
    {
      wrong: "JSON",
      body: `{"name":"a"}`,
      type: "application/json",
      status: 415,
      error: "Expected a body of type application/x-www-form-urlencoded, not application/json",
    },
    {
      wrong: "a NUL character",
      body: "name=a%00b",
      type: FORM,
      status: 400,
      error: "body.name: contains a NUL character or a lone surrogate",
    },
    {
      wrong: "more than 64 KiB",
      body: `name=${"a".repeat(64 * 1024)}`,
      type: FORM,
      status: 413,
      error: "The body is larger than 65536 bytes",
    },
  ]
) {
  Deno.test(`a form is refused for ${wrong}`, async () => {
    const { name: _, ...refusal } = await harbor().call("POST /login", { body, type });
    deepEqual(refusal, { status, error });
  });
}

Deno.test("the access policy is loaded with the first license and unused after its end", async () => {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  using app = testApp({ log: { ...silentLog, warn } });
  let loads = 0;
  const guard = createCurrentAccessPolicy(app.deps, {
    edition: "enterprise",
    load: () => {
      if (loads++ === 0) return Promise.reject(new Error("not this time"));
      return Promise.resolve(() => ({
        admit() {},
        admits: () => true,
        hasCustomRoles: true,
        grants: () => true,
        hostLimits: () => undefined,
        includesRightsOf: () => true,
        record() {},
      }));
    },
  });
  equal(guard(), undefined);

  const expiresAt = new Date("2999-01-01T00:00:00Z");
  app.deps.license.use({ customer: "test", edition: "enterprise", expiresAt, limits: {} });
  const failed = await Promise.allSettled([guard(), guard()]);
  deepEqual([loads, failed.map(({ status }) => status)], [1, ["rejected", "rejected"]]);
  const loaded = await guard();
  equal(guard(), loaded);
  equal(loads, 2);

  equal(warnings.length, 0);
  app.deps.license.use(undefined);
  const protection = await guard();
  equal(guard(), protection);
  equal(protection!.admits({} as Caller), true);
  deepEqual([protection!.hasCustomRoles, protection!.grants("u", "ships:write")], [false, false]);
  app.clock.advance({ days: 14 });
  equal(guard(), undefined);
  equal(guard(), undefined);
  deepEqual(warnings.map((text) => text.split(/[.:]/)[0]), [
    "The Enterprise edition ended",
    "edition ended",
  ]);
});
