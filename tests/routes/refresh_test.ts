import { deepEqual, equal, notEqual } from "node:assert/strict";
import { login, loginByKey, refresh, statusWith, usersApp } from "../helpers/accounts.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { testApp } from "../helpers/test_app.ts";

Deno.test("a used refresh token gives the same pair again for 10 s, then ends the login", async () => {
  using app = testApp();
  const first = await loginByKey(app);
  const other = await loginByKey(app);
  const next = (await refresh(app, first.refreshToken)).body;
  notEqual(next.refreshToken, first.refreshToken);

  app.clock.advance({ seconds: 9, ms: 999 });
  const again = await refresh(app, first.refreshToken);
  deepEqual([again.status, again.body], [200, { ...next, expiresIn: next.expiresIn - 9 }]);
  app.clock.advance({ ms: 1 });
  equal((await refresh(app, first.refreshToken)).status, 401);

  equal((await refresh(app, next.refreshToken)).status, 401);
  for (const { accessToken } of [first, next]) equal(await statusWith(app, accessToken), 401);
  equal(await statusWith(app, other.accessToken), 200, "another login goes on");
  equal((await refresh(app, other.refreshToken)).status, 200);
});

Deno.test("a used refresh token from another address ends the login immediately", async () => {
  using app = testApp();
  const first = await loginByKey(app);
  const next = (await refresh(app, first.refreshToken, "198.51.100.1")).body;
  equal((await refresh(app, first.refreshToken, "198.51.100.2")).status, 401);
  equal((await refresh(app, first.refreshToken, "198.51.100.1")).status, 401);
  equal((await refresh(app, next.refreshToken, "198.51.100.1")).status, 401);
  equal(await statusWith(app, next.accessToken), 401);
});

Deno.test("a clock that is set back does not make a refresh token valid again", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const first = await loginByKey(app);
  await refresh(app, first.refreshToken);
  app.clock.set("2026-01-01T11:59:59Z");
  equal((await refresh(app, first.refreshToken)).status, 401);
});

Deno.test("the repeated pair continues the login", async () => {
  using app = testApp();
  const first = await loginByKey(app);
  await refresh(app, first.refreshToken);
  const again = (await refresh(app, first.refreshToken)).body;
  const third = await refresh(app, again.refreshToken);
  equal(third.status, 200);
  equal(await statusWith(app, third.body.accessToken), 200);
  deepEqual((await refresh(app, first.refreshToken)).body, again);
});

for (
  const { what, end } of [
    {
      what: "a logout",
      end: (app: UsersApp, token: string) => app.call("POST", "/auth/logout", undefined, { token }),
    },
    {
      what: "a changed role",
      end: (app: UsersApp) =>
        app.call("PUT", `/auth/users/${app.ids.operator}/role`, { role: "viewer" }, {
          role: "admin",
        }),
    },
    {
      what: "a changed password",
      end: (app: UsersApp) =>
        app.call("PUT", `/auth/users/${app.ids.operator}/password`, {
          password: "another horse battery",
        }, {
          role: "admin",
        }),
    },
    {
      what: "the end of the user",
      end: (app: UsersApp) =>
        app.call("DELETE", `/auth/users/${app.ids.operator}`, undefined, { role: "admin" }),
    },
  ]
) {
  Deno.test(`${what} ends the repeat of a refresh`, async () => {
    using app = await usersApp();
    const first = await login(app, "operator@example.com");
    const next = (await refresh(app, first.refreshToken)).body;
    equal((await end(app, next.accessToken)).status, 200);
    equal((await refresh(app, first.refreshToken)).status, 401);
    equal((await refresh(app, next.refreshToken)).status, 401);
  });
}

type UsersApp = Awaited<ReturnType<typeof usersApp>>;

Deno.test("a refresh can be repeated after a restart", async () => {
  using before = testApp();
  const first = await loginByKey(before);
  const next = (await refresh(before, first.refreshToken)).body;
  using after = testApp({ db: before.deps.db });
  deepEqual((await refresh(after, first.refreshToken)).body, next);
});

Deno.test("parallel refreshes of one token over HTTP all give the same pair, which works", async () => {
  await using service = await startLongshore();
  const anonymous = { token: null };
  const { body: first } = await service.call(
    "POST",
    "/auth/token",
    { apiKey: service.apiKey },
    anonymous,
  );
  const { refreshToken } = first;

  const answers = await Promise.all(
    Array.from(
      { length: 16 },
      () => service.call("POST", "/auth/refresh", { refreshToken }, anonymous),
    ),
  );

  deepEqual(answers.map(({ status }) => status), answers.map(() => 200));
  const tokens = answers.map(({ body }) => [body.accessToken, body.refreshToken]);
  for (const pair of tokens) deepEqual(pair, tokens[0]);
  const [token, next] = tokens[0]!;
  equal((await service.call("GET", "/auth/me", undefined, { token })).status, 200);
  equal(
    (await service.call("POST", "/auth/refresh", { refreshToken: next }, anonymous)).status,
    200,
  );
});
