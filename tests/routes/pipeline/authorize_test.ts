import { deepEqual, equal, rejects } from "node:assert/strict";
import { identify } from "../../../routes/pipeline/authorize.ts";
import { issueTicket } from "../../../services/live/tickets.ts";
import { decodeJwt } from "jose";
import { login, usersApp } from "../../helpers/accounts.ts";

const address = "192.0.2.1";

function request(authorization?: string): Request {
  return new Request("http://longshore.test/api/stream", {
    headers: authorization === undefined ? {} : { authorization },
  });
}

Deno.test("a caller is found by an access token, as often as it is sent", async () => {
  using app = await usersApp();
  const { accessToken } = await login(app, "operator@example.com");
  const who = identify(app.deps);
  const expected = {
    userId: app.ids.operator,
    role: "operator",
    familyId: decodeJwt(accessToken).sid,
    expiresAtMs: Date.parse("2026-01-01T00:15:00Z"),
    address,
  };

  for (const _ of ["verified", "cached"]) {
    const caller = await who(request(`Bearer ${accessToken}`), { address, ticket: undefined });
    deepEqual(caller, expected);
  }
});

Deno.test("a request without token and ticket has no caller", async () => {
  using app = await usersApp();
  equal(await identify(app.deps)(request(), { address, ticket: undefined }), undefined);
});

Deno.test("a ticket identifies its caller once, with the current role", async () => {
  using app = await usersApp();
  const who = identify(app.deps);
  const { accessToken } = await login(app, "operator@example.com");
  const caller = (await who(request(`Bearer ${accessToken}`), { address, ticket: undefined }))!;
  const { ticket } = issueTicket(app.deps, caller);
  await app.call("PUT", `/auth/users/${app.ids.operator}/role`, { role: "viewer" });

  const found = await who(request(), { address: "192.0.2.2", ticket });

  // Its stream ends with the token that it was issued for.
  deepEqual(found, { ...caller, role: "viewer", address: "192.0.2.2" });
  await rejects(who(request(), { address, ticket }), { code: "unauthorized" });
});

for (
  const { what, end } of [
    { what: "logged out", end: ["POST", "/auth/logout"] },
    { what: "was deleted", end: ["DELETE", "/auth/users/ID"] },
    {
      what: "has another password",
      end: ["PUT", "/auth/users/ID/password", { password: "another password" }],
    },
  ] as { what: string; end: [string, string, unknown?] }[]
) {
  Deno.test(`a ticket is invalid when its user ${what}`, async () => {
    using app = await usersApp();
    const who = identify(app.deps);
    const { accessToken: token } = await login(app, "operator@example.com");
    const { ticket } = (await app.call("POST", "/api/stream/ticket", undefined, { token })).body;

    const [method, path, body] = end;
    const as = path === "/auth/logout" ? { token } : {};
    const done = await app.call(method, path.replace("ID", app.ids.operator), body, as);
    equal(done.status, 200);

    await rejects(who(request(), { address, ticket }), { code: "unauthorized" });
  });
}

Deno.test("a token takes precedence over a ticket, even if it is invalid", async () => {
  using app = await usersApp();
  const who = identify(app.deps);
  const { accessToken: token } = await login(app, "operator@example.com");
  const { ticket } = (await app.call("POST", "/api/stream/ticket", undefined, { token })).body;
  await rejects(who(request("Bearer forged"), { address, ticket }));
  equal((await who(request(), { address, ticket }))?.userId, app.ids.operator);
});
