import { deepEqual, equal, match } from "node:assert/strict";
import { PASSWORD } from "../helpers/accounts.ts";
import { contentOf, runHere, temporaryDirectory } from "../helpers/command.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { eventually } from "../helpers/until.ts";

/** An empty variable counts as unset. */
const NEW = { env: { API_KEY: "" } };

const EMAIL = "ada@example.com";

const isRequired = async (longshore: Longshore) =>
  (await longshore.call("GET", "/auth/setup", undefined, { token: null })).body.required;

const logIn = async (longshore: Longshore, password: string) =>
  (await longshore.call("POST", "/auth/login", { email: EMAIL, password }, { token: null })).status;

const setup = (longshore: Longshore, args: readonly string[], stdin = "") =>
  runHere(["setup", ...args], { env: { DATA_DIR: longshore.dataDir }, stdin });

Deno.test("the first start prints a code, each start another, and the setup removes its file", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  const start = async () => {
    const longshore = await startLongshore({ dataDir, ...NEW });
    await eventually(() => match(longshore.stdout(), /^Set up: open /m));
    const [, code] = /^Setup code: ([\w-]{14}), once within 60 minutes/m.exec(longshore.stdout())!;
    match(longshore.stdout(), new RegExp(`^Set up: open http://\\S+/setup#${code}$`, "m"));
    match(
      Deno.readTextFileSync(`${dataDir}/initial-credentials`),
      new RegExp(`code: ${code}$`, "m"),
    );
    equal(Deno.statSync(`${dataDir}/initial-credentials`).mode! & 0o777, 0o600);
    return { longshore, code };
  };
  const { longshore: first, code: former } = await start();
  await first.stop();
  const { longshore, code } = await start();
  await using _ = longshore;

  const request = (body: object) =>
    longshore.call("POST", "/auth/setup", { ...body, key: true }, { token: null });
  equal((await request({ code: former })).status, 401);
  equal((await request({ code })).status, 200);
  equal("initial-credentials" in contentOf(dataDir), false);
});

Deno.test("with SERVICE_BASE_URL, the start and login links name the address of browsers", async () => {
  const base = "https://example.com/longshore";
  await using longshore = await startLongshore({ env: { API_KEY: "", SERVICE_BASE_URL: base } });
  await eventually(() => match(longshore.stdout(), /^Set up: open /m));
  const { dataDir } = longshore;
  match(longshore.stdout(), /^Set up: open https:\/\/example\.com\/longshore\/setup#/m);
  equal((await setup(longshore, ["--email", EMAIL], PASSWORD)).code, 0);

  const linked = await runHere(["user", "login-link", EMAIL], { env: { DATA_DIR: dataDir } });

  match(linked.stdout, /^https:\/\/example\.com\/longshore\/sign-in#link=/);
  await longshore.stop();
  const env = { SERVICE_BASE_URL: base, API_KEY: "", PASSWORD_LOGIN: "off" };
  await using next = await startLongshore({ dataDir, env });
  await eventually(() => match(next.stdout(), /^API documentation: /m));
  match(next.stdout(), /^Dashboard: https:\/\/example\.com\/longshore\/$/m);
  equal(next.stdout().includes("Try: "), false);
});

Deno.test("setup --email beside a running service creates the first account, which it accepts at once", async () => {
  await using longshore = await startLongshore(NEW);
  equal(await isRequired(longshore), true);

  const { code, stdout } = await setup(longshore, ["--email", EMAIL, "--name", "Ada"], PASSWORD);

  deepEqual([code, stdout], [0, `${EMAIL} was added with the role admin.\n`]);
  equal(await isRequired(longshore), false);
  equal("initial-credentials" in contentOf(longshore.dataDir), false);
  await eventually(async () => {
    equal(await logIn(longshore, PASSWORD), 200);
  });
  const again = await setup(longshore, ["--key"]);
  deepEqual([again.code, again.stderr], [
    1,
    "longshore: This server is set up already; sign in\n",
  ]);
  // The next start knows from the account that the server is set up.
  await longshore.stop();
  await using next = await startLongshore({ dataDir: longshore.dataDir, ...NEW });
  equal(await isRequired(next), false);
  equal(await logIn(next, PASSWORD), 200);
});

Deno.test("setup --key prints the API key once", async () => {
  await using longshore = await startLongshore(NEW);
  const { code, stdout } = await setup(longshore, ["--key"]);
  equal(code, 0);
  const apiKey = /^API key: (lsk_[\w-]{43})$/m.exec(stdout)![1];
  const login = await longshore.call("POST", "/auth/token", { apiKey }, { token: null });
  equal(login.status, 200);
});

Deno.test("setup needs a choice, and a password that is acceptable", async () => {
  await using longshore = await startLongshore(NEW);
  for (
    const [args, status, says] of [
      [[], 2, "setup needs either --email EMAIL or --key"],
      [["--key", "--email", EMAIL], 2, "setup needs either --email EMAIL or --key"],
      [["--email", EMAIL], 1, "password: must have 12"],
      [["--email", "ada"], 1, "email: must be an email address"],
    ] as const
  ) {
    const { code, stderr } = await setup(longshore, args, "short\n");
    equal(code, status, args.join(" "));
    equal(stderr.includes(says), true, stderr);
  }
  equal(await isRequired(longshore), true);
});
