import { deepEqual, equal } from "node:assert/strict";
import { selectPushTokensOfUser } from "../../db/push_tokens.ts";
import { openPushToken } from "../../services/messages/push/tokens.ts";
import { login, usersApp } from "../helpers/accounts.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const TOKEN = "ExponentPushToken[abcdefghijklmnopqrstuv]";

const tokensOf = ({ deps }: TestApp, userId: string) =>
  selectPushTokensOfUser(deps.db, userId).map((device) => openPushToken(deps.secrets, device));

Deno.test("POST /api/push/register is for every role and can be repeated", async () => {
  using app = testApp();
  for (const role of ["viewer", "operator", "admin"] as const) {
    const answer = await app.call("POST", "/api/push/register", { token: TOKEN }, { role });
    deepEqual([answer.status, answer.body], [200, { ok: true }]);
  }
  deepEqual(tokensOf(app, "key"), [TOKEN]);
});

Deno.test("POST /api/push/unregister deletes the caller's device and can be repeated", async () => {
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

const deviceToken = (n: number) => `ExponentPushToken[device-${n}]`;

Deno.test("a user has at most 20 devices; another one replaces the oldest", async () => {
  using app = testApp();
  const register = async (n: number) => {
    app.clock.advance({ seconds: 1 });
    await app.call("POST", "/api/push/register", { token: deviceToken(n) });
  };
  for (let n = 0; n < 20; n++) await register(n);
  await register(0);
  await register(20);
  const kept = tokensOf(app, "key");
  equal(kept.length, 20);
  deepEqual([0, 1, 20].map((n) => kept.includes(deviceToken(n))), [
    true,
    false,
    true,
  ]);
});

Deno.test("the devices of a deleted user are deleted", async () => {
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
    { wrong: "a token that is not a string", token: 5 },
    { wrong: "256 characters", token: "a".repeat(256) },
    { wrong: "31 characters", token: "a".repeat(31) },
    { wrong: "a space", token: `${"a".repeat(40)} b` },
    { wrong: "a line end", token: `${"a".repeat(40)}\n` },
    { wrong: "a quote", token: `${"a".repeat(40)}"` },
    { wrong: "a letter beyond ASCII", token: "ä".repeat(40) },
    { wrong: "an empty Expo token", token: "ExponentPushToken[]" },
    { wrong: "an Expo token without its end", token: `ExponentPushToken[${"a".repeat(22)}` },
    { wrong: "another kind of token", token: `OtherPushToken[${"a".repeat(22)}]` },
  ]
) {
  Deno.test(`POST /api/push/register refuses ${wrong}`, async () => {
    using app = testApp();
    const { status, body } = await app.call("POST", "/api/push/register", { token });
    deepEqual([status, body.error], [
      400,
      "body.token: must be an Expo push token such as ExponentPushToken[...], or a device token " +
      "of 32 to 255 letters, digits or any of :_-",
    ]);
  });
}

for (
  const token of [
    "ExpoPushToken[a]",
    "ExponentPushToken[Ab-_cdefghijklmnopqrst]",
    "0123456789abcdef".repeat(4),
    `cJx1dEf9Q0:APA91b${"H_-".repeat(40)}`,
    "F5741A13-BCDA-434B-A316-5DC0E6FFA94F",
  ]
) {
  Deno.test(`POST /api/push/register accepts ${token.slice(0, 30)}`, async () => {
    using app = testApp();
    equal((await app.call("POST", "/api/push/register", { token })).status, 200);
  });
}

Deno.test("push tokens are stored encrypted", async () => {
  using app = testApp();
  await app.call("POST", "/api/push/register", { token: TOKEN });
  const stored = JSON.stringify(app.deps.db.all("SELECT * FROM push_tokens"));
  equal(stored.includes("abcdefghijklmnopqrstuv"), false);
  deepEqual(tokensOf(app, "key"), [TOKEN]);
});
