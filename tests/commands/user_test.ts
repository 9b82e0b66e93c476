import { deepEqual, equal, match } from "node:assert/strict";
import { withStateBeside } from "../../commands/state_database.ts";
import { runHere, temporaryDirectory } from "../helpers/command.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { programCommand, runtimeEnvironment } from "../helpers/program.ts";
import { until } from "../helpers/until.ts";

const PASSWORD = "correct horse battery";
const users = { AUTH_MODE: "users", ADMIN_EMAIL: "admin@example.com", ADMIN_PASSWORD: PASSWORD };

async function login(longshore: Longshore, email: string, password: string) {
  const { status, body } = await longshore.call("POST", "/auth/login", { email, password }, {
    token: null,
  });
  return { status, token: body.accessToken as string };
}

async function statusOf(longshore: Longshore, token: string): Promise<number> {
  return (await longshore.call("GET", "/auth/me", undefined, { token })).status;
}

/** Within a second on an idle machine. */
const SOON = { deadlineMs: 60_000 };

Deno.test("a running service applies account changes within a second", async () => {
  await using longshore = await startLongshore({ env: users });
  const env = { ...users, DATA_DIR: longshore.dataDir };
  const run = async (args: string[], stdin = "") => {
    const outcome = await runHere(["user", ...args], { env, stdin });
    equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout;
  };

  const added = await run(
    ["add", "Bob@Example.com", "--role", "operator"],
    `${PASSWORD} of bob\r\n`,
  );
  equal(added, "Bob@Example.com was added with the role operator.\n");
  const bob = await login(longshore, "bob@example.com", `${PASSWORD} of bob`);
  equal(bob.status, 200);

  await run(["role", "bob@example.com", "admin"]);
  const list = () => longshore.call("GET", "/auth/users", undefined, { token: bob.token });
  await until("the role holds", async () => (await list()).status === 200, SOON);

  await run(["passwd", "bob@example.com"], "another password of bob\nignored");
  await until("the login is over", async () => await statusOf(longshore, bob.token) === 401, SOON);
  equal((await login(longshore, "bob@example.com", `${PASSWORD} of bob`)).status, 401);
  const again = await login(longshore, "bob@example.com", "another password of bob");
  equal(again.status, 200);

  const shown = await run(["list"]);
  match(shown, /^EMAIL +ROLE +CREATED +LAST LOGIN$/m);
  match(shown, /^Bob@Example\.com +admin +\d{4}-\S+Z +\d{4}-\S+Z$/m);
  match(shown, /^admin@example\.com +admin +\d{4}-\S+Z +never$/m);

  const { token } = await login(longshore, "admin@example.com", PASSWORD);
  await run(["remove", "bob@example.com"]);
  await until("he is out", async () => await statusOf(longshore, again.token) === 401, SOON);
  const audit = await longshore.call("GET", "/api/audit", undefined, { token });
  deepEqual(
    audit.body.entries.map((entry: Record<string, string>) => [entry.actor, entry.action])
      .filter(([actor]: string[]) => actor === "console"),
    ["remove", "passwd", "role", "add"].map((action) => ["console", `longshore user ${action}`]),
  );
});

Deno.test("a suspended user is listed as such, and passwd says what ends it", async () => {
  await using longshore = await startLongshore({ env: users });
  await longshore.stop();
  const env = { ...users, DATA_DIR: longshore.dataDir };
  const run = async (args: string[], stdin = "") => {
    const outcome = await runHere(["user", ...args], { env, stdin });
    equal(outcome.code, 0, outcome.stderr);
    return outcome;
  };
  await run(["add", "bob@example.com"], PASSWORD);
  await withStateBeside(longshore.dataDir, (db) => {
    db.run("UPDATE users SET is_refused = 1");
  });

  match((await run(["list"])).stdout, /^bob@example\.com +viewer \(suspended\) /m);
  const changed = await run(["passwd", "bob@example.com"], "another password of bob");
  match(changed.stderr, /is suspended[^]*run longshore user role bob@example\.com viewer/);
  await run(["role", "bob@example.com", "viewer"]);
  match((await run(["list"])).stdout, /^bob@example\.com +viewer {2}/m);
});

Deno.test("accounts are managed without a running service and before users mode is enabled", async () => {
  using directory = temporaryDirectory();
  {
    await using longshore = await startLongshore({ dataDir: directory.path });
    equal(await longshore.stop(), 0);
  }
  const env = { DATA_DIR: directory.path };
  const made = await runHere(["user", "add", "eve@example.com", "--role=admin", "--generate"], {
    env,
  });
  equal(made.code, 0);
  match(
    made.stderr,
    /This server is in key mode: accounts are not used until it changes to users mode/,
  );
  const password = /^Password: (\S{24})$/m.exec(made.stdout)![1]!;

  await using longshore = await startLongshore({ dataDir: directory.path, env: users });
  equal((await login(longshore, "eve@example.com", password)).status, 200);
  equal((await login(longshore, "admin@example.com", PASSWORD)).status, 401);
  equal(await longshore.stop(), 0);
});

Deno.test("a failed command prints one sentence, exits with 1 and changes nothing", async () => {
  await using longshore = await startLongshore({ env: users });
  const env = { ...users, DATA_DIR: longshore.dataDir };
  for (
    const { args, stdin = "", says, elsewhere = {} } of [
      { args: ["add", "new@example.com"], says: "No password: pass it on standard input" },
      { args: ["add", "new@example.com"], stdin: "short\n", says: "password: must have 12" },
      { args: ["add", "no email"], stdin: PASSWORD, says: "email: must be an email address" },
      { args: ["add", "ADMIN@example.com"], stdin: PASSWORD, says: "A user with the email" },
      { args: ["passwd", "x@example.com"], says: "No user has the email x@example.com" },
      { args: ["role", "admin@example.com", "viewer"], says: "The last admin cannot be demoted" },
      { args: ["remove", "admin@example.com"], says: "The last admin cannot be deleted" },
      {
        args: ["list"],
        elsewhere: { DATA_DIR: `${longshore.dataDir}/none` },
        says: `DATA_DIR=${longshore.dataDir}/none has no state.sqlite`,
      },
    ]
  ) {
    const { code, stdout, stderr } = await runHere(["user", ...args], {
      env: { ...env, ...elsewhere },
      stdin,
    });
    deepEqual([code, stdout], [1, ""], args.join(" "));
    match(stderr, /^longshore: [^\n]+\n$/);
    equal(stderr.includes(says), true, stderr);
  }
  const { stdout } = await runHere(["user", "list"], { env });
  equal(stdout.trim().split("\n").length, 2);

  // The edition's limit applies on the command line.
  const { token } = await login(longshore, "admin@example.com", PASSWORD);
  for (let n = 1; n <= 3; n++) {
    const added = await longshore.call("POST", "/auth/users", {
      ...{ email: `u${n}@a`, password: PASSWORD, role: "viewer" },
    }, { token });
    equal(added.status, 201);
  }
  const add = (n: number) => runHere(["user", "add", `u${n}@a`, "--generate"], { env });
  equal((await add(4)).code, 0);
  const refused = await add(5);
  deepEqual([refused.code, refused.stdout], [1, ""]);
  match(
    refused.stderr,
    /^longshore: Edition limit reached \(users\): the Community Edition allows 5; delete one or upgrade$/m,
  );
});

Deno.test({
  name: "a password on a terminal is requested twice and not shown",
  // `script` of util-linux opens the terminal.
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using longshore = await startLongshore({ env: users });
    const program = programCommand(["user", "passwd"]);
    /** Types each answer when its prompt appears. */
    const type = async (...answers: string[]) => {
      const child = new Deno.Command("script", {
        args: ["-qec", [...program, "admin@example.com"].join(" "), "/dev/null"],
        cwd: new URL("../../", import.meta.url),
        clearEnv: true,
        env: { ...runtimeEnvironment(), ...users, DATA_DIR: longshore.dataDir, TERM: "dumb" },
        stdin: "piped",
        stdout: "piped",
      }).spawn();
      const input = child.stdin.getWriter();
      let shown = "";
      let asked = 0;
      const decoder = new TextDecoder();
      for await (const chunk of child.stdout) {
        shown += decoder.decode(chunk, { stream: true });
        const questions = shown.match(/New password: |Repeat password: /g)?.length ?? 0;
        while (asked < questions && asked < answers.length) {
          await input.write(new TextEncoder().encode(answers[asked++]));
        }
      }
      await input.close().catch(() => {});
      return { code: (await child.status).code, shown };
    };

    const differ = await type("first password here\r", "second password here\r");
    equal(differ.code, 1);
    match(differ.shown, /The two passwords differ; nothing was changed/);
    const interrupted = await type("first pass\x03");
    equal(interrupted.code, 1);
    match(interrupted.shown, /Interrupted; nothing was changed/);
    equal((await login(longshore, "admin@example.com", PASSWORD)).status, 200);

    // Ctrl-U clears the line; backspace deletes a character of two bytes.
    const done = await type("nonsense\x15pässwörd of ADMINé\x7f 1\r", "pässwörd of ADMIN 1\r");
    equal(done.code, 0, done.shown);
    equal(/ADMIN|nonsense/.test(done.shown), false);
    equal((await login(longshore, "admin@example.com", "pässwörd of ADMIN 1")).status, 200);
  },
});
