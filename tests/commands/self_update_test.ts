import { deepEqual, equal, match } from "node:assert/strict";
import { VERSION } from "../../services/version.ts";
import { runCommand, temporaryDirectory } from "../helpers/command.ts";
import { createKey, signText, type SshKey } from "../helpers/ssh_keys.ts";

const NEW = "#!/bin/sh\necho the new executable\n";
const OLD = "#!/bin/sh\necho the old executable\n";

interface Wanted {
  /** Name in the release; default: an executable for this system. */
  name?: string;
  version?: string;
  /** The content that is listed, if it is not that of the file. */
  listed?: string;
  signer?: (key: SshKey, directory: string) => Promise<SshKey>;
  namespace?: string;
}

/** An installed executable, a release with its signed checksums, and the trusted key. */
async function release(wanted: Wanted = {}) {
  const directory = temporaryDirectory();
  const at = (name: string) => `${directory.path}/${name}`;
  for (const name of ["bin", "release"]) await Deno.mkdir(at(name));
  const executable = at("bin/longshore");
  await Deno.writeTextFile(executable, OLD, { mode: 0o755 });
  const { name = `longshore-${wanted.version ?? "999.0.0"}-${Deno.build.target}` } = wanted;
  const file = at(`release/${name}`);
  await Deno.writeTextFile(file, NEW);
  const key = await createKey(directory.path);
  const signer = await wanted.signer?.(key, directory.path) ?? key;
  const sums = `${await sha256(wanted.listed ?? NEW)}  ${name}\n`;
  const { namespace = "file" } = wanted;
  await Deno.writeTextFile(at("release/SHA256SUMS"), sums);
  await Deno.writeTextFile(
    at("release/SHA256SUMS.sig"),
    await signText(signer, sums, { namespace }),
  );
  const fixed = ["self-update", file, "--executable", executable];
  return {
    file,
    sumsFile: at("release/SHA256SUMS"),
    executable,
    run: (...args: string[]) => runCommand([...fixed, "--key", `${key.path}.pub`, ...args]),
    runWithoutKey: () => runCommand(fixed),
    /** Content of all files next to the executable, by name. */
    installed: () =>
      Object.fromEntries(
        [...Deno.readDirSync(at("bin"))].map((
          { name },
        ) => [name, Deno.readTextFileSync(at(`bin/${name}`))]),
      ),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

async function sha256(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

Deno.test("self-update replaces the executable with a signed newer one and keeps the former", async () => {
  using given = await release();

  const { code, stdout, stderr } = await given.run();

  equal(code, 0, stderr);
  match(stdout, /version 999\.0\.0, signature verified/);
  match(stderr, /^Not started yet.*systemctl restart longshore/s);
  deepEqual(given.installed(), {
    longshore: NEW,
    "longshore.previous": OLD,
    "longshore.trial": "0\n",
  });
  equal(Deno.statSync(given.executable).mode! & 0o777, 0o755);
});

Deno.test("self-update keeps the last executable that was ready, not an update in its trial", async () => {
  using given = await release();
  await given.run();

  equal((await given.run()).code, 0);

  equal(given.installed()["longshore.previous"], OLD);
});

for (
  const { wrong, wanted, message } of [
    {
      wrong: "a file that differs from the signed one",
      wanted: { listed: `${NEW} ` },
      message: /is not one of the files that SHA256SUMS lists$/m,
    },
    {
      wrong: "checksums signed with another key",
      wanted: { signer: (_: SshKey, directory: string) => createKey(directory) },
      message: /SHA256SUMS is not accepted: it was signed with a key that is not trusted$/m,
    },
    {
      wrong: "checksums signed for another purpose",
      wanted: { namespace: "git" },
      message: /SHA256SUMS is not accepted: the signature is for "git", not for "file"$/m,
    },
    {
      wrong: "an executable for another system",
      wanted: { name: "longshore-999.0.0-riscv64-unknown-none" },
      message: /not an executable for /,
    },
    {
      wrong: "the same version",
      wanted: { version: VERSION },
      message: /which is not newer than .*--force/,
    },
  ] satisfies { wrong: string; wanted: Wanted; message: RegExp }[]
) {
  Deno.test(`self-update refuses ${wrong} and changes nothing`, async () => {
    using given = await release(wanted);

    const { code, stderr } = await given.run();

    equal(code, 1);
    match(stderr, message);
    deepEqual(given.installed(), { longshore: OLD });
  });
}

Deno.test("self-update refuses checksums that were changed after they were signed", async () => {
  using given = await release();
  await Deno.writeTextFile(given.sumsFile, `${"0".repeat(64)}  more\n`, { append: true });

  match((await given.run()).stderr, /the signature does not fit the content$/m);

  deepEqual(given.installed(), { longshore: OLD });
});

Deno.test("self-update installs an older version with --force only", async () => {
  using given = await release({ version: "0.0.1" });

  equal((await given.run()).code, 1);
  equal((await given.run("--force")).code, 0);

  equal(given.installed().longshore, NEW);
});

Deno.test("self-update says what is missing: a key, the checksums, a file to replace", async () => {
  using given = await release();

  match((await given.runWithoutKey()).stderr, /This build trusts no release key: .* --key$/m);
  await Deno.remove(given.sumsFile);
  match((await given.run()).stderr, /SHA256SUMS cannot be used: it does not exist$/m);
  await Deno.remove(given.executable);
  match((await given.run()).stderr, /longshore cannot be replaced: it does not exist$/m);
});
