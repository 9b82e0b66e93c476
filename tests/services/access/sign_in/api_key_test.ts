import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { selectSetting, upsertSetting } from "../../../../db/settings.ts";
import { ensureApiKey, isApiKey } from "../../../../services/access/sign_in/api_key.ts";
import { refreshSession } from "../../../../services/access/sign_in/refresh.ts";
import { exchangeApiKey } from "../../../../services/access/sign_in/first_factor.ts";
import {
  openTestDatabase,
  TEST_ADDRESS,
  TEST_CLIENT,
  type TestApp,
  testApp,
} from "../../../helpers/test_app.ts";

/** Calls ensureApiKey() and returns the keys that it delivered. */
async function ensured(app: TestApp): Promise<string[]> {
  const delivered: string[] = [];
  await ensureApiKey(app.deps, (key) => void delivered.push(key));
  return delivered;
}

Deno.test("the first start creates a key, delivers it once and stores only its hash", async () => {
  using app = testApp({ config: { apiKey: null } });

  const [key] = await ensured(app);

  match(key!, /^lsk_[\w-]{43}$/);
  equal(await isApiKey(app.deps, key!), true);
  equal(await isApiKey(app.deps, key!.slice(0, -1)), false);
  equal(await isApiKey(app.deps, ""), false);
  deepEqual(await ensured(app), []);
  equal(JSON.stringify(app.deps.db.all("SELECT * FROM settings")).includes(key!.slice(4)), false);
});

Deno.test("a key that cannot be delivered is not stored, and the next start creates another", async () => {
  using app = testApp({ config: { apiKey: null } });
  const fail = () => {
    throw new Error("the terminal is gone");
  };
  await rejects(ensureApiKey(app.deps, fail), /the terminal is gone/);
  equal(selectSetting(app.deps.db, "api_key_hash"), undefined);
  equal((await ensured(app)).length, 1);
});

Deno.test("a given key is accepted and never stored, not even as a plain hash", async () => {
  const apiKey = "a key that the operator chose";
  using app = testApp({ config: { apiKey } });

  deepEqual(await ensured(app), []);

  equal(await isApiKey(app.deps, apiKey), true);
  equal(await isApiKey(app.deps, `${apiKey} `), false);
  const stored = app.deps.db.all<{ name: string }>("SELECT name FROM settings");
  deepEqual(stored.map(({ name }) => name).filter((name) => name.startsWith("api_key")), [
    "api_key_in_force",
  ]);
});

Deno.test("no key is accepted before one was created", async () => {
  using app = testApp({ config: { apiKey: null } });
  equal(await isApiKey(app.deps, ""), false);
});

Deno.test("a created key that API_KEY replaced is not accepted again without the variable", async () => {
  const db = openTestDatabase();
  try {
    using app = testApp({ db, config: { apiKey: null } });
    const [former] = await ensured(app);
    using given = testApp({ db, config: { apiKey: "a key that was given" } });
    deepEqual(await ensured(given), []);
    equal(await isApiKey(given.deps, former!), false);

    const [next] = await ensured(app);

    equal(await isApiKey(app.deps, former!), false);
    equal(await isApiKey(app.deps, "a key that was given"), false);
    equal(await isApiKey(app.deps, next!), true);
  } finally {
    db.close();
  }
});

Deno.test("an update keeps the sessions of a created key, whose mark was a keyed hash before", async () => {
  using app = testApp({ config: { apiKey: null } });
  const [key] = await ensured(app);
  const pair = await exchangeApiKey(app.deps, { apiKey: key! }, TEST_CLIENT, () => {});
  const hash = selectSetting(app.deps.db, "api_key_hash")!;
  const former = await app.deps.secrets.fingerprint(hash);
  upsertSetting(app.deps.db, "api_key_in_force", former);

  deepEqual(await ensured(app), []);

  const { status } = await app.call("GET", "/auth/me", undefined, { token: pair.accessToken });
  equal(status, 200);
});

Deno.test("a changed key revokes all sessions at the start, the same key none", async () => {
  const db = openTestDatabase();
  try {
    const admit = () => {};
    const start = async (apiKey: string) => {
      const app = testApp({ db, config: { apiKey } });
      await ensured(app);
      return app;
    };
    using before = await start("the key of before");
    const pair = await exchangeApiKey(
      before.deps,
      { apiKey: "the key of before" },
      TEST_CLIENT,
      admit,
    );

    using same = await start("the key of before");
    const status = async (app: typeof same) =>
      (await app.call("GET", "/auth/me", undefined, { token: pair.accessToken })).status;
    equal(await status(same), 200);

    using after = await start("the key of afterwards");
    equal(await status(after), 401);
    const refreshed = await refreshSession(
      after.deps,
      { tokens: [pair.refreshToken], pageHash: null },
      TEST_ADDRESS,
      admit,
    )
      .catch((error) => error);
    equal(refreshed.code, "unauthorized");
  } finally {
    db.close();
  }
});
