import { deepEqual, equal, match } from "node:assert/strict";
import { createArchive } from "../../services/backup/archive.ts";
import { openKeys } from "../../services/backup/restic/key.ts";
import { createMasterIndex } from "../../services/backup/restic/master_index.ts";
import { createPackWriter } from "../../services/backup/restic/pack_writer.ts";
import type { Repository } from "../../services/backup/restic/repository.ts";
import { saveSnapshot } from "../../services/backup/restic/snapshot.ts";
import type { Storage } from "../../services/backup/restic/storage.ts";
import { createDirectoryStorage } from "../../services/backup/storages/directory.ts";
import { OWN_FILE, OWN_PATH } from "../../services/snapshots/own/content.ts";
import { createAuthority } from "../helpers/certificates.ts";
import { runHere, temporaryDirectory } from "../helpers/command.ts";
import {
  description,
  directoryEntry,
  entriesOf,
  fileEntry,
  newRepository,
  PASSWORD,
  signal,
} from "../helpers/repository.ts";

const own = { ...description, paths: [OWN_PATH] };

/** A repository in a directory, and a restore from it. */
async function repositoryIn(
  prepare: (repository: Repository, storage: Storage) => Promise<unknown>,
) {
  using stack = new DisposableStack();
  const { path } = stack.use(temporaryDirectory());
  const directory = `${path}/repository`;
  const storage = createDirectoryStorage(directory, { now: () => new Date() });
  await prepare(await newRepository(storage), storage);
  const owned = stack.move();
  return {
    directory,
    restore: async (...args: string[]) => {
      const env = { DATA_DIR: `${path}/data`, RESTIC_PASSWORD: PASSWORD };
      const { code, stdout, stderr } = await runHere(["restore", "--from", directory, ...args], {
        env,
      });
      return { code, text: stdout + stderr };
    },
    /** Names in `DATA_DIR`. */
    left: () => [...Deno.readDirSync(`${path}/data`)].map(({ name }) => name),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

/** Stores a file that is not an archive: that it was read shows in the refusal. */
const store =
  (hostname = "host1", content: string | Uint8Array = "text") => (repository: Repository) =>
    repository.backup(
      entriesOf([directoryEntry(OWN_PATH.slice(1)), fileEntry(OWN_FILE, content)]),
      { ...own, hostname },
      signal,
    );

const READ = /^Snapshot \w{8} of \S+, .*\n.*Snapshot \w{8} is not a Longshore backup; nothing was/;

Deno.test("restore reads a repository that takes no files, and leaves none in DATA_DIR", async () => {
  using service = await repositoryIn(store());
  Deno.removeSync(`${service.directory}/locks`, { recursive: true });
  Deno.writeTextFileSync(`${service.directory}/locks`, "");
  const { code, text } = await service.restore();
  equal(code, 1);
  match(text, READ);
  deepEqual(service.left(), ["longshore.lock"]);
});

Deno.test("restore gets the last piece of a backup, also a small one", async () => {
  using place = temporaryDirectory();
  const path = `${place.path}/secret.key`;
  Deno.writeTextFileSync(path, "a key");
  using file = Deno.openSync(path);
  const options = { createdAt: new Date(0), signal };
  const { chunks } = await createArchive([{ name: "secret.key", file }], options);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunks()) pieces.push(chunk.slice());
  using service = await repositoryIn(store("host1", await new Blob(pieces).bytes()));
  match(
    (await service.restore()).text,
    /Snapshot \w{8} is damaged: it has no state.sqlite; nothing/,
  );
});

Deno.test("restore gets a named snapshot beside a damaged one", async () => {
  let id = "";
  using service = await repositoryIn(async (repository) => {
    id = (await store()(repository)).snapshot.id;
  });
  const damaged = "0".repeat(64);
  Deno.writeTextFileSync(`${service.directory}/snapshots/${damaged}`, "damaged");
  match((await service.restore()).text, /Snapshot 00000000 is damaged/);
  match((await service.restore("--snapshot", id.slice(0, 8))).text, READ);
  match((await service.restore("--snapshot", damaged)).text, /Snapshot 00000000 is damaged/);
  match((await service.restore("--snapshot", id.slice(0, 3))).text, /does not exist; nothing was/);
});

Deno.test("a host of a repository adds no lines to the output of restore", async () => {
  using service = await repositoryIn(store("a\nRestored state.sqlite\x1b[2J"));
  match((await service.restore()).text, /^Snapshot \w{8} of a\\x0aRestored state.sqlite\\x1b\[2J,/);
});

Deno.test("restore refuses a backup that its disk has no room for, before it reads it", async () => {
  using service = await repositoryIn(async (_, storage) => {
    const files = { storage, keys: await openKeys(storage, PASSWORD, signal), version: 2 };
    const writer = createPackWriter(files, createMasterIndex(), { signal, now: () => 0 });
    const save = (type: "data" | "tree", text: string) =>
      writer.save(type, new TextEncoder().encode(text));
    const node = (fields: object) =>
      save(
        "tree",
        `${JSON.stringify({ nodes: [{ mode: 0o600, uid: 0, gid: 0, ...fields }] })}\n`,
      );
    const content = [await save("data", "text")];
    const file = { name: "longshore.backup", type: "file", size: 2 ** 50, content };
    const subtree = await node(file);
    const tree = await node({ name: OWN_PATH.slice(1), type: "dir", subtree });
    await writer.flush();
    await saveSnapshot(
      files,
      { ...own, time: "2026-01-01T00:00:00Z", tree, uid: 0, gid: 0 },
      signal,
    );
  });
  match(
    (await service.restore()).text,
    /The backup has 1,024 TiB, .* twice as much in .*nothing was changed/,
  );
});

Deno.test("restore asks a server whose certificate is of RESTIC_CACERT", async () => {
  using place = temporaryDirectory();
  const authority = await createAuthority("Test");
  const identity = await authority.issue({ name: "nas", altNames: "IP:127.0.0.1" });
  const answer = () => new Response(null, { status: 404 });
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, ...identity },
    answer,
  );
  const RESTIC_CACERT = `${place.path}/ca.pem`;
  const restore = async () => {
    const from = `rest:https://127.0.0.1:${server.addr.port}/longshore`;
    const { stderr } = await runHere(["restore", "--from", from], {
      env: {
        ...{ DATA_DIR: `${place.path}/data`, RESTIC_PASSWORD: PASSWORD },
        ...{ OUTBOUND_ALLOW: "127.0.0.1", RESTIC_CACERT },
      },
    });
    return stderr;
  };
  match(await restore(), /RESTIC_CACERT=.*ca.pem cannot be read/);
  Deno.writeTextFileSync(RESTIC_CACERT, (await createAuthority("Other")).cert);
  match(await restore(), /certificate/);
  Deno.writeTextFileSync(RESTIC_CACERT, authority.cert);
  match(await restore(), /The location has no repository/);
});
