import { deepEqual, equal, match } from "node:assert/strict";
import { ensureApiKey, isApiKey } from "../../../services/ce/api_key.ts";
import { refreshSession } from "../../../services/ce/refresh.ts";
import { exchangeApiKey } from "../../../services/ce/sessions.ts";
import { openTestDatabase, TEST_ADDRESS, testApp } from "../../helpers/test_app.ts";

Deno.test("the first start makes a key, shows it once and keeps only its hash", async () => {
  using app = testApp({ config: { apiKey: null } });

  const { made } = await ensureApiKey(app.deps);

  match(made!, /^lsk_[\w-]{43}$/);
  equal(await isApiKey(app.deps, made!), true);
  equal(await isApiKey(app.deps, made!.slice(0, -1)), false);
  equal(await isApiKey(app.deps, ""), false);
  deepEqual(await ensureApiKey(app.deps), {});
  equal(JSON.stringify(app.deps.db.all("SELECT * FROM settings")).includes(made!.slice(4)), false);
});

Deno.test("a given key is accepted and never stored, not even as a plain hash", async () => {
  const apiKey = "a key that the operator chose";
  using app = testApp({ config: { apiKey } });

  deepEqual(await ensureApiKey(app.deps), {});

  equal(await isApiKey(app.deps, apiKey), true);
  equal(await isApiKey(app.deps, `${apiKey} `), false);
  const stored = app.deps.db.all<{ name: string }>("SELECT name FROM settings");
  deepEqual(stored.map(({ name }) => name), ["api_key_in_force"]);
});

Deno.test("before any key there is nothing that opens", async () => {
  using app = testApp({ config: { apiKey: null } });
  equal(await isApiKey(app.deps, ""), false);
});

Deno.test("a given key counts rather than the made one, which counts again without it", async () => {
  const db = openTestDatabase();
  try {
    using app = testApp({ db, config: { apiKey: null } });
    const made = (await ensureApiKey(app.deps)).made!;
    {
      using given = testApp({ db, config: { apiKey: "a key that was given" } });
      deepEqual(await ensureApiKey(given.deps), {});
      equal(await isApiKey(given.deps, made), false);
    }
    deepEqual(await ensureApiKey(app.deps), {});
    equal(await isApiKey(app.deps, made), true);
  } finally {
    db.close();
  }
});

Deno.test("another key at a start ends the logins made with the former one, the same key none", async () => {
  const db = openTestDatabase();
  try {
    const admit = () => {};
    const start = async (apiKey: string) => {
      const app = testApp({ db, config: { apiKey } });
      await ensureApiKey(app.deps);
      return app;
    };
    using before = await start("the key of before");
    const pair = await exchangeApiKey(
      before.deps,
      { apiKey: "the key of before" },
      TEST_ADDRESS,
      admit,
    );

    using same = await start("the key of before");
    const status = async (app: typeof same) =>
      (await app.call("GET", "/auth/me", undefined, { token: pair.accessToken })).status;
    equal(await status(same), 200);

    using after = await start("the key of afterwards");
    equal(await status(after), 401);
    const refreshed = await refreshSession(after.deps, pair, TEST_ADDRESS, admit)
      .catch((error) => error);
    equal(refreshed.code, "unauthorized");
  } finally {
    db.close();
  }
});
