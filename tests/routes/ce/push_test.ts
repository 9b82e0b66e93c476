import { deepEqual, equal } from "node:assert/strict";
import { selectPushTokensOfUser } from "../../../db/ce/push_tokens.ts";
import { login, usersApp } from "../../helpers/accounts.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";

const TOKEN = "ExponentPushToken[abcdefghijklmnopqrstuv]";

const tokensOf = (app: TestApp, userId: string) =>
  selectPushTokensOfUser(app.deps.db, userId).map(({ token }) => token);

Deno.test("POST /api/push/register is for every role, and once more changes nothing", async () => {
  using app = testApp();
  for (const role of ["viewer", "operator", "admin"] as const) {
    const answer = await app.call("POST", "/api/push/register", { token: TOKEN }, { role });
    deepEqual([answer.status, answer.body], [200, { ok: true }]);
  }
  deepEqual(tokensOf(app, "key"), [TOKEN]);
});

Deno.test("POST /api/push/unregister forgets the caller's device, and twice is no failure", async () => {
  using app = testApp();
  await app.call("POST", "/api/push/register", { token: TOKEN });
  for (let time = 0; time < 2; time++) {
    const answer = await app.call("POST", "/api/push/unregister", { token: TOKEN });
    deepEqual([answer.status, answer.body], [200, { ok: true }]);
    deepEqual(tokensOf(app, "key"), []);
  }
});

Deno.test("a device belongs to the user who registered it last", async () => {
  using app = await usersApp();
  const { admin, viewer } = app.ids;
  const as = async (role: "admin" | "viewer", path: string) => {
    const { accessToken: token } = await login(app, `${role}@example.com`);
    return (await app.call("POST", `/api/push/${path}`, { token: TOKEN }, { token })).status;
  };
  const idOf = (userId: string) => selectPushTokensOfUser(app.deps.db, userId)[0]?.id;

  equal(await as("admin", "register"), 200);
  const first = idOf(admin);
  equal(await as("admin", "register"), 200);
  equal(idOf(admin), first, "the same registration");

  equal(await as("viewer", "register"), 200);
  deepEqual([tokensOf(app, admin), tokensOf(app, viewer)], [[], [TOKEN]]);
  equal(idOf(viewer) === first, false, "another registration");

  equal(await as("admin", "unregister"), 200);
  deepEqual(tokensOf(app, viewer), [TOKEN], "another's device stays");
});

Deno.test("a user has 20 devices; one more takes the place of the oldest", async () => {
  using app = testApp();
  const register = async (n: number) => {
    app.clock.advance({ seconds: 1 });
    await app.call("POST", "/api/push/register", { token: `device-${n}` });
  };
  for (let n = 0; n < 20; n++) await register(n);
  await register(0);
  await register(20);
  const kept = tokensOf(app, "key");
  equal(kept.length, 20);
  deepEqual(["device-0", "device-1", "device-20"].map((token) => kept.includes(token)), [
    true,
    false,
    true,
  ]);
});

Deno.test("the devices of a deleted user go with the user", async () => {
  using app = await usersApp();
  const { accessToken: token } = await login(app, "viewer@example.com");
  await app.call("POST", "/api/push/register", { token: TOKEN }, { token });
  const admin = await login(app, "admin@example.com");
  await app.call("DELETE", `/auth/users/${app.ids.viewer}`, undefined, {
    token: admin.accessToken,
  });
  equal(app.deps.db.get<{ n: number }>("SELECT count(*) AS n FROM push_tokens")!.n, 0);
});

for (
  const { wrong, token } of [
    { wrong: "an empty token", token: "" },
    { wrong: "no token", token: undefined },
    { wrong: "a token that is no text", token: 5 },
    { wrong: "256 characters", token: "a".repeat(256) },
    { wrong: "a space", token: "a b" },
    { wrong: "a line end", token: "a\n" },
    { wrong: "a quote", token: 'a"' },
    { wrong: "a letter beyond ASCII", token: "ä" },
  ]
) {
  Deno.test(`POST /api/push/register refuses ${wrong}`, async () => {
    using app = testApp();
    for (const path of ["register", "unregister"]) {
      const { status, body } = await app.call("POST", `/api/push/${path}`, { token });
      deepEqual([status, body.error], [
        400,
        "body.token: must be a push token: 1 to 255 letters, digits or any of []:._-+=/",
      ]);
    }
  });
}

for (const token of ["a".repeat(255), "ExpoPushToken[a]", "dGVzdA==:APA91b_-x/+.z"]) {
  Deno.test(`POST /api/push/register takes ${token.slice(0, 30)}`, async () => {
    using app = testApp();
    equal((await app.call("POST", "/api/push/register", { token })).status, 200);
  });
}
