import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { ensureCredentials } from "../../commands/credentials.ts";
import { selectSetting } from "../../db/settings.ts";
import { storeUser } from "../../services/access/users/users.ts";
import { contentOf, runCommand, runHere, temporaryDirectory } from "../helpers/command.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { testApp } from "../helpers/test_app.ts";

/** An empty variable counts as unset. */
const NO_KEY = { API_KEY: "", AUTH_MODE: "key" };

const statusOf = async (longshore: Longshore, apiKey: string) =>
  (await longshore.call("POST", "/auth/token", { apiKey }, { token: null })).status;

const fileOf = (dataDir: string) => `${dataDir}/initial-credentials`;

const keyIn = (text: string) => /^API key: (lsk_[\w-]{43})$/m.exec(text)![1]!;

Deno.test("without a terminal, created credentials are in a private file and not in the log", async () => {
  for (
    const [env, form] of [
      [NO_KEY, /^API key: (lsk_\S+)$/m],
      [{ ...NO_KEY, AUTH_MODE: "users" }, /^Email: admin@localhost\nPassword: (\S+)$/m],
    ] as const
  ) {
    await using longshore = await startLongshore({ env });
    const path = fileOf(longshore.dataDir);
    const secret = form.exec(Deno.readTextFileSync(path))![1]!;

    equal(Deno.statSync(path).mode! & 0o777, 0o600);
    equal(
      env.AUTH_MODE === "users"
        ? (await longshore.call(
          "POST",
          "/auth/login",
          { email: "admin@localhost", password: secret },
          { token: null },
        )).status
        : await statusOf(longshore, secret),
      200,
    );
    await longshore.stop();
    const output = longshore.stdout() + longshore.stderr();
    ok(output.includes(`Credentials: in ${path} (mode 0600).`), output);
    equal(output.includes(secret), false);
  }
});

Deno.test("a credentials file that was not deleted is reported at the next start", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  for (const times of [0, 1]) {
    await using longshore = await startLongshore({ dataDir, env: NO_KEY });
    await longshore.stop();
    const warnings = longshore.stderr().match(/initial credentials file still exists/g);
    equal(warnings?.length ?? 0, times);
  }
});

Deno.test("credentials that cannot be written are not valid; the next start creates others", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  Deno.mkdirSync(fileOf(dataDir));
  const env = { ...NO_KEY, DATA_DIR: dataDir, HOST: "127.0.0.1", PORT: "0" };
  const { code, stderr } = await runCommand(["serve"], { env });
  equal(code, 1);
  match(stderr, /^longshore: The credentials cannot be shown, so none were created: /m);
  Deno.removeSync(fileOf(dataDir));

  await using longshore = await startLongshore({ dataDir, env: NO_KEY });
  equal(await statusOf(longshore, keyIn(Deno.readTextFileSync(fileOf(dataDir)))), 200);
});

for (
  const { where, hostname, isPrinted } of [
    { where: "on a host", hostname: null, isPrinted: true },
    { where: "in a container, whose terminal is logged", hostname: "abc", isPrinted: false },
  ]
) {
  Deno.test(`a terminal ${where} ${isPrinted ? "shows" : "does not show"} the credentials`, async () => {
    using directory = temporaryDirectory();
    using app = testApp({
      config: { apiKey: null, authMode: "key", dataDir: directory.path },
    });
    const deps = { ...app.deps, self: { ...app.deps.self, hostname } };
    let shown = "";
    let wasStored = false;
    await ensureCredentials(deps, {
      terminal: (text) => {
        shown += text;
        wasStored = selectSetting(deps.db, "api_key_hash") !== undefined;
      },
    });

    equal(/^API key: lsk_/.test(shown), isPrinted);
    equal(wasStored, false);
    deepEqual(Object.keys(contentOf(directory.path)), isPrinted ? [] : ["initial-credentials"]);
  });
}

Deno.test("an ADMIN_EMAIL that belongs to a user who is not an admin is reported, and no password is created", async () => {
  using directory = temporaryDirectory();
  const config = { authMode: "users", adminEmail: "ada@example.com" } as const;
  using app = testApp({ config: { ...config, adminPassword: null, dataDir: directory.path } });
  storeUser(app.deps, { email: "Ada@example.com", passwordHash: null, role: "viewer" });

  await rejects(ensureCredentials(app.deps, {}), {
    name: "CommandError",
    message: "A user with the email ada@example.com already exists, but is not an admin: set " +
      "another ADMIN_EMAIL, or run longshore user role ada@example.com admin",
  });
  deepEqual(Object.keys(contentOf(directory.path)), []);
});

Deno.test("key new replaces the API key of a running service and revokes its sessions", async () => {
  await using longshore = await startLongshore({ env: NO_KEY });
  const { dataDir } = longshore;
  const former = keyIn(Deno.readTextFileSync(fileOf(dataDir)));
  const exchange = await longshore.call("POST", "/auth/token", { apiKey: former }, { token: null });
  const refreshToken = exchange.body.refreshToken;

  const { code, stdout } = await runHere(["key", "new"], { env: { DATA_DIR: dataDir } });

  equal(code, 0);
  equal(await statusOf(longshore, former), 401);
  equal(await statusOf(longshore, keyIn(stdout)), 200);
  const refresh = await longshore.call("POST", "/auth/refresh", { refreshToken }, { token: null });
  equal(refresh.status, 401);
  equal("initial-credentials" in contentOf(dataDir), false);

  // The new key and its sessions outlive a restart.
  const next = await longshore.call("POST", "/auth/token", { apiKey: keyIn(stdout) }, {
    token: null,
  });
  await longshore.stop();
  await using again = await startLongshore({ dataDir, env: NO_KEY });
  const kept = { refreshToken: next.body.refreshToken };
  equal((await again.call("POST", "/auth/refresh", kept, { token: null })).status, 200);
});

Deno.test("key new is refused if it would have no effect", async () => {
  await using keyed = await startLongshore();
  const given = await runHere(["key", "new"], { env: { DATA_DIR: keyed.dataDir } });
  equal(given.code, 1);
  equal(
    given.stderr,
    "longshore: The API key is set by API_KEY; change that variable and restart the service\n",
  );

  await using users = await startLongshore({ env: { ...NO_KEY, AUTH_MODE: "users" } });
  const mode = await runHere(["key", "new"], { env: { DATA_DIR: users.dataDir } });
  equal(mode.code, 1);
  match(mode.stderr, /^longshore: Users mode is on/);
});
