/**
 * The service's user owns `DATA_DIR` and may put links there; commands of root must not follow
 * them to files of others.
 *
 * @module
 */

import { deepEqual, equal, match, throws } from "node:assert/strict";
import { actAsOwner } from "../../commands/data_owner.ts";
import { writePrivateFile } from "../../services/secrets/private_file.ts";
import { runCommand } from "../helpers/command.ts";
import { leftData } from "../helpers/left_data.ts";

const SERVICE_USER = 65_534;

/** A data directory of the service's user, a backup of it, and a file of root outside of it. */
async function attacked() {
  const left = await leftData();
  const { path, dataDir, backup } = left;
  const victim = `${path}/victim`;
  Deno.chmodSync(path, 0o755);
  Deno.chownSync(dataDir, SERVICE_USER, SERVICE_USER);
  for (const { name } of [...Deno.readDirSync(dataDir)]) {
    Deno.chownSync(`${dataDir}/${name}`, SERVICE_USER, SERVICE_USER);
  }
  Deno.writeTextFileSync(victim, "of root\n", { mode: 0o600 });
  return {
    dataDir,
    backup,
    victim,
    /** Puts a link to `target` in the place of a file. */
    link(name: string, target = victim) {
      Deno.removeSync(`${dataDir}/${name}`, { recursive: true });
      Deno.symlinkSync(target, `${dataDir}/${name}`);
    },
    assertUnharmed() {
      const { uid, mode } = Deno.statSync(victim);
      deepEqual([uid, mode! & 0o777, Deno.readTextFileSync(victim)], [0, 0o600, "of root\n"]);
    },
    [Symbol.dispose]: () => left[Symbol.dispose](),
  };
}

const run = (dataDir: string, ...args: string[]) =>
  runCommand(args, { env: { DATA_DIR: dataDir } });

/** As root only: any other user has no rights to lose. */
const rootTest = (name: string, fn: () => Promise<void> | void) =>
  Deno.test({ name, fn, ignore: Deno.uid() !== 0 });

rootTest("every command of root refuses a symbolic link", async () => {
  using place = await attacked();
  place.link("longshore.lock");
  for (
    const args of [
      ["backup", "--force", place.backup],
      ["restore", place.backup],
      ["user", "list"],
      ["key", "new"],
      ["ip-allowlist", "off"],
      ["compliance", "verify"],
    ]
  ) {
    const { code, stderr } = await run(place.dataDir, ...args);
    equal(code, 1, args.join(" "));
    match(stderr, /\/longshore\.lock is a symbolic link; put the file itself in its place/);
  }
  place.assertUnharmed();
});

rootTest("a symbolic link is refused in place of each file", async () => {
  for (const name of ["state.sqlite", "metrics.sqlite", "jwt.secret", "secret.key"]) {
    using place = await attacked();
    place.link(name);
    for (const args of [["user", "list"], ["restore", place.backup]]) {
      const { code, stderr } = await run(place.dataDir, ...args);
      equal(code, 1, name);
      match(stderr, new RegExp(`/${name} is a symbolic link; put the file itself in its place`));
    }
    place.assertUnharmed();
  }
});

rootTest("symbolic links in the data directory cannot make root write elsewhere", async () => {
  for (
    const name of ["state.sqlite-wal", "state.sqlite-shm", "state.sqlite-journal", "restore.json"]
  ) {
    using place = await attacked();
    Deno.writeTextFileSync(`${place.dataDir}/${name}`, "");
    place.link(name);
    for (
      const args of [["user", "list"], ["backup", "--force", place.backup], [
        "restore",
        place.backup,
      ]]
    ) {
      equal((await run(place.dataDir, ...args)).code, 1, `${name}: ${args.join(" ")}`);
    }
    place.assertUnharmed();
  }
});

rootTest("a backup into DATA_DIR itself is written with the rights of its owner", async () => {
  using place = await attacked();
  const file = `${place.dataDir}/today.tar`;
  equal((await run(place.dataDir, "backup", file)).code, 0);
  equal(Deno.statSync(file).uid, SERVICE_USER);
  place.link("today.tar");
  equal((await run(place.dataDir, "backup", "--force", file)).code, 1);
  place.assertUnharmed();
});

rootTest("a license is not read or written through a link", async () => {
  using place = await attacked();
  const license = `${place.dataDir}/license.key`;
  Deno.writeTextFileSync(license, "");
  place.link("license.key");
  const { stderr } = await run(place.dataDir, "license", "show");
  match(stderr, /license\.key is a symbolic link; put the file itself in its place/);
  writePrivateFile(license, "a license\n");
  equal(Deno.lstatSync(license).isFile, true);
  place.assertUnharmed();
});

rootTest("the service does not start if its files are symbolic links", async () => {
  for (const name of ["initial-credentials", "secret.key", "state.sqlite"]) {
    using place = await attacked();
    Deno.writeTextFileSync(`${place.dataDir}/${name}`, "");
    place.link(name);
    const { code, stderr } = await runCommand(["serve"], {
      env: { DATA_DIR: place.dataDir, HOST: "127.0.0.1", PORT: "0" },
    });
    equal(code, 1);
    match(stderr, new RegExp(`/${name} is a symbolic link; put the file itself in its place`));
    place.assertUnharmed();
  }
});

rootTest(
  "with the rights of the owner, a link that is created after the checks cannot reach root's files",
  async () => {
    using place = await attacked();
    place.link("secret.key");
    {
      // Skips the checks, as if the link had been created after them.
      using _owner = actAsOwner(place.dataDir);
      for (
        const step of [
          () => Deno.readTextFileSync(`${place.dataDir}/secret.key`),
          () => Deno.writeTextFileSync(`${place.dataDir}/secret.key`, "changed"),
          () => Deno.chmodSync(`${place.dataDir}/secret.key`, 0o666),
          () => Deno.chownSync(`${place.dataDir}/secret.key`, SERVICE_USER, SERVICE_USER),
        ]
      ) {
        throws(step, Deno.errors.PermissionDenied);
      }
    }
    place.assertUnharmed();
  },
);

rootTest("a data directory that is another user's symbolic link is refused", async () => {
  using place = await attacked();
  const link = `${place.dataDir}/inner`;
  Deno.mkdirSync(`${place.dataDir}/../of-root`);
  await new Deno.Command("ln", { args: ["-s", "../of-root", link] }).output();
  await new Deno.Command("chown", { args: ["-h", String(SERVICE_USER), link] }).output();
  const { code, stderr } = await run(link, "user", "list");
  equal(code, 1);
  match(stderr, /is a symbolic link of user 65534/);
});
