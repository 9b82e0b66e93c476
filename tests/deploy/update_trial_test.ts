/** `deploy/update_trial.sh` with the starts of a service as systemd makes them. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { openStateDatabase } from "../../db/database.ts";
import { temporaryDirectory } from "../helpers/command.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { programCommand, runtimeEnvironment } from "../helpers/program.ts";

const SCRIPT = new URL("../../deploy/update_trial.sh", import.meta.url).pathname;
const UNIT = new URL("../../deploy/longshore.service", import.meta.url);

/** The program that is installed now; it records its calls. */
const fake = (name: string, { backup = "cp $data/state.sqlite $2", version = "true" } = {}) =>
  `#!/bin/sh
data=${"${DATA_DIR:-$STATE_DIRECTORY}"}
echo "${name} $1" >>$data/calls
case $1 in
  version) ${version} ;;
  backup) ${backup} ;;
  restore) cp $2 $data/state.sqlite ;;
esac
`;

/** An installation after `longshore self-update`. */
function updated(executable: string, previous: string) {
  const directory = temporaryDirectory();
  const path = `${directory.path}/longshore`;
  const data = `${directory.path}/data`;
  Deno.mkdirSync(data, { recursive: true });
  Deno.writeTextFileSync(path, executable, { mode: 0o755 });
  Deno.writeTextFileSync(`${path}.previous`, previous, { mode: 0o755 });
  Deno.writeTextFileSync(`${path}.trial`, "0\n");
  const run = async (action: string) => {
    const { code, stderr } = await new Deno.Command(SCRIPT, {
      args: [action, path],
      clearEnv: true,
      env: { ...runtimeEnvironment(), STATE_DIRECTORY: data },
    }).output();
    return { code, stderr: new TextDecoder().decode(stderr) };
  };
  return {
    path,
    data,
    run,
    /** The steps of systemd before a start; the service starts only if the status is 0. */
    async before() {
      const counted = await run("count");
      const prepared = counted.code ? counted : await run("prepare");
      return { code: prepared.code, stderr: counted.stderr + prepared.stderr };
    },
    executable: () => Deno.readTextFileSync(path),
    names: () => [...Deno.readDirSync(directory.path)].map(({ name }) => name).sort(),
    calls: () => Deno.readTextFileSync(`${data}/calls`).trim().split("\n"),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

Deno.test("an update that gets ready ends its trial and leaves the backup", async () => {
  using given = updated(fake("new"), fake("old"));
  Deno.writeTextFileSync(`${given.data}/state.sqlite`, "before");

  equal((await given.before()).code, 0);
  equal((await given.run("ready")).code, 0);
  equal((await given.before()).code, 0);

  deepEqual(given.calls(), ["new version", "old backup"]);
  deepEqual(given.names(), ["data", "longshore", "longshore.previous"]);
  equal(Deno.readTextFileSync(`${given.data}/before-update.backup`), "before");
});

Deno.test("the third start after an update that is never ready has the previous executable and the data of before", async () => {
  using given = updated(fake("new"), fake("old"));
  const state = `${given.data}/state.sqlite`;
  Deno.writeTextFileSync(state, "before");

  equal((await given.before()).code, 0);
  Deno.writeTextFileSync(state, "migrated");
  equal((await given.before()).code, 0);
  equal(given.executable(), fake("new"));
  const third = await given.before();

  equal(third.code, 0);
  match(third.stderr, /not ready in two starts: returned to the previous one/);
  equal(given.executable(), fake("old"));
  equal(Deno.readTextFileSync(state), "before");
  deepEqual(given.calls(), ["new version", "old backup", "old restore"]);
  // Later starts restore nothing.
  Deno.writeTextFileSync(state, "after");
  equal((await given.before()).code, 0);
  equal((await given.run("ready")).code, 0);
  equal(Deno.readTextFileSync(state), "after");
  deepEqual(given.names(), ["data", "longshore"]);
});

for (
  const { what, executable, previous } of [
    {
      what: "that cannot run",
      executable: fake("new", { version: "exit 127" }),
      previous: fake("old"),
    },
    {
      what: "without a backup of the data",
      executable: fake("new"),
      previous: fake("old", { backup: "exit 1" }),
    },
  ]
) {
  Deno.test(`an update ${what} is not started and is undone`, async () => {
    using given = updated(executable, previous);
    Deno.writeTextFileSync(`${given.data}/state.sqlite`, "before");
    // Of an earlier update.
    Deno.writeTextFileSync(`${given.data}/before-update.backup`, "long before");

    equal((await given.before()).code, 1);
    equal((await given.before()).code, 1);
    equal((await given.before()).code, 0);

    equal(given.executable(), previous);
    equal(Deno.readTextFileSync(`${given.data}/state.sqlite`), "before");
  });
}

Deno.test("without an update the script does nothing", async () => {
  using given = updated(fake("new"), fake("old"));
  for (const name of ["previous", "trial"]) Deno.removeSync(`${given.path}.${name}`);

  deepEqual(await given.before(), { code: 0, stderr: "" });
  equal((await given.run("ready")).code, 0);

  deepEqual(given.names(), ["data", "longshore"]);
  deepEqual([...Deno.readDirSync(given.data)], []);
});

Deno.test("the program itself returns from an update that migrated its database", async () => {
  const shell = programCommand([]).map((word) => `'${word}'`).join(" ");
  const program = `#!/bin/sh\nexec ${shell} "$@"\n`;
  using given = updated(`${program}# new\n`, program);
  const env = { ...runtimeEnvironment(), DATA_DIR: given.data };
  const user = async (...args: string[]) => {
    const { stdout, stderr } = await new Deno.Command(given.path, {
      args: ["user", ...args],
      clearEnv: true,
      env: { ...env, AUTH_MODE: "users" },
    }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  };
  await (await startLongshore({ dataDir: given.data })).stop();
  match(await user("add", "ada@example.org", "--generate"), /ada/);

  equal((await given.before()).code, 0);
  const db = openStateDatabase(`${given.data}/state.sqlite`);
  db.run("INSERT INTO migrations (name) VALUES ('9999_of_a_newer_version')");
  db.close();
  match(await user("list"), /newer/);
  equal((await given.before()).code, 0);
  const { code, stderr } = await given.before();

  equal(code, 0, stderr);
  equal(given.executable(), program);
  match(await user("list"), /ada@example\.org/);
});

Deno.test("the unit runs the script before each start and when the service is ready", async () => {
  const unit = await Deno.readTextFile(UNIT);
  const lines = unit.split("\n").filter((line) => line.includes("update-trial"));
  const [command, executable] = [
    "/usr/local/lib/longshore/update-trial",
    "/usr/local/bin/longshore",
  ];
  deepEqual(lines, [
    `ExecStartPre=+${command} count ${executable}`,
    `ExecStartPre=${command} prepare ${executable}`,
    `ExecStartPost=+${command} ready ${executable}`,
  ]);
  // The counter is reset by a service that is ready, not by one that has only been started.
  ok(unit.includes("Type=notify"));
});
