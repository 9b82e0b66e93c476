/** A directory that others own, e.g. a share, with what no repository has. */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { join } from "node:path";
import { StorageError } from "../../../../services/backup/restic/storage.ts";
import { createDirectoryStorage } from "../../../../services/backup/storages/directory.ts";

const { signal } = new AbortController();

const NAME = "f".repeat(64);

async function directories() {
  const top = await Deno.makeTempDir({ prefix: "longshore-test-directory-" });
  const [root, foreign] = [join(top, "repository"), join(top, "foreign")];
  await Deno.mkdir(root);
  await Deno.mkdir(foreign);
  await Deno.writeTextFile(join(foreign, NAME), "precious");
  return {
    root,
    foreign,
    storage: createDirectoryStorage(root, { now: () => new Date() }),
    [Symbol.asyncDispose]: () => Deno.remove(top, { recursive: true }),
  };
}

const isDamaged = (message: RegExp) => (error: unknown) =>
  error instanceof StorageError && error.reason === "damaged" && message.test(error.message);

for (const kind of ["locks", "data"] as const) {
  Deno.test(`a link in place of ${kind} that leads out of the repository is not followed`, async () => {
    await using made = await directories();
    const { root, foreign, storage } = made;
    const directory = kind === "data" ? join(root, "data", "ff") : join(root, kind);
    if (kind === "data") await Deno.mkdir(join(root, kind));
    await Deno.symlink(foreign, directory);
    const isLink = isDamaged(/is a link that leads out of the repository/);
    await rejects(Array.fromAsync(storage.list(kind, signal)), isLink);
    await rejects(storage.read(kind, NAME, signal), isLink);
    await rejects(storage.remove(kind, NAME, signal), isLink);
    await rejects(
      storage.write(kind, "fe".repeat(32), new Uint8Array(1), signal).then(() =>
        storage.write(kind, `ff${"0".repeat(62)}`, new Uint8Array(1), signal)
      ),
      isLink,
    );
    deepEqual((await Array.fromAsync(Deno.readDir(foreign))).map(({ name }) => name), [NAME]);
  });
}

Deno.test("only regular files of a size that files of repositories have are read", async () => {
  await using made = await directories();
  const { root, foreign, storage } = made;
  const config = join(root, "config");
  const isSpecial = isDamaged(/is not a regular file/);
  await Deno.symlink("/dev/zero", config);
  await rejects(storage.read("config", "config", signal), isSpecial);
  await Deno.remove(config);
  await Deno.symlink(join(foreign, NAME), config);
  await rejects(storage.read("config", "config", signal), isSpecial);
  await Deno.remove(config);
  equal((await new Deno.Command("mkfifo", { args: [config] }).output()).success, true);
  await rejects(storage.read("config", "config", signal), isSpecial);
  await rejects(storage.write("config", "config", new Uint8Array(1), signal), isSpecial);

  await Deno.mkdir(join(root, "keys"));
  using key = await Deno.create(join(root, "keys", NAME));
  await key.truncate(2 ** 40);
  await rejects(storage.read("keys", NAME, signal), isDamaged(/has more than \d+ bytes/));
  equal((await storage.read("keys", NAME, signal, { offset: 2 ** 39, length: 3 })).length, 3);
});
