import { deepEqual, equal, match, rejects } from "node:assert/strict";
import {
  BackupFileError,
  readBackupFile,
  writeBackupFile,
} from "../../../services/backup/archive.ts";
import { TAR_BLOCK_BYTES, tarHeader, tarPadding } from "../../../services/backup/tar.ts";
import { contentOf, temporaryDirectory } from "../../helpers/command.ts";

const createdAt = new Date("2026-01-01T00:00:00Z");
const { signal } = new AbortController();
const names = ["a.sqlite", "b.key"];

/** A directory with two files, a backup of them, and an empty directory to read it into. */
async function backup(): Promise<{ path: string; file: string; target: string } & Disposable> {
  const directory = temporaryDirectory();
  const { path } = directory;
  Deno.writeFileSync(`${path}/a`, new Uint8Array(2_500_000).map((_, n) => n % 251));
  Deno.writeTextFileSync(`${path}/b`, "key\n");
  const file = `${path}/backup.tar`;
  using a = Deno.openSync(`${path}/a`);
  using b = Deno.openSync(`${path}/b`);
  const sources = [{ name: "a.sqlite", file: a }, { name: "b.key", file: b }];
  await writeBackupFile(file, sources, { createdAt, signal });
  const target = `${path}/target`;
  Deno.mkdirSync(target);
  return { path, file, target, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

async function read(file: string, target: string, stop = signal) {
  using opened = Deno.openSync(file);
  return await readBackupFile(opened, file, target, { names, signal: stop });
}

/** An archive of plain files that another program created. */
function archive(files: [name: string, text: string][], change = (_: Uint8Array) => {}) {
  const parts = files.flatMap(([name, text]) => {
    const content = new TextEncoder().encode(text);
    const header = tarHeader({ name, size: content.length }, createdAt);
    change(header);
    return [header, content, new Uint8Array(tarPadding(content.length))];
  });
  return new Uint8Array([...parts, new Uint8Array(2 * TAR_BLOCK_BYTES)].flatMap((p) => [...p]));
}

const manifest = (changes: Record<string, unknown>) =>
  JSON.stringify({
    format: "longshore-backup",
    formatVersion: 1,
    programVersion: "0.1.0",
    createdAt,
    entries: [],
    ...changes,
  });

const entry = { name: "b.key", size: 3, sha256: "0".repeat(64) };

Deno.test("a backup is read as it was written, and only its owner may read it", async () => {
  using made = await backup();
  const { entries } = await read(made.file, made.target);
  deepEqual(entries.map(({ name, size }) => [name, size]), [["a.sqlite", 2_500_000], ["b.key", 4]]);
  deepEqual(Deno.readFileSync(`${made.target}/a.sqlite`), Deno.readFileSync(`${made.path}/a`));
  equal(Deno.readTextFileSync(`${made.target}/b.key`), "key\n");
  equal(Deno.statSync(made.file).mode! & 0o777, 0o600);
  equal(Deno.statSync(`${made.target}/b.key`).mode! & 0o777, 0o600);
});

Deno.test("a backup that is truncated anywhere is refused", async () => {
  using made = await backup();
  const whole = Deno.readFileSync(made.file);
  for (const share of [0, 0.0001, 0.001, 0.1, 0.5, 0.9, 0.999]) {
    Deno.writeFileSync(made.file, whole.subarray(0, Math.floor(whole.length * share)));
    using target = temporaryDirectory();
    await rejects(read(made.file, target.path), BackupFileError, `${share}`);
  }
  Deno.writeFileSync(made.file, whole.subarray(0, whole.length - 1));
  using target = temporaryDirectory();
  await rejects(read(made.file, target.path), /is truncated/);
});

Deno.test("a changed byte anywhere in a backup is noticed", async () => {
  using made = await backup();
  const whole = Deno.readFileSync(made.file);
  const step = 40_009;
  const places = Array.from({ length: Math.ceil(whole.length / step) }, (_, n) => n * step);
  // The headers, the manifest and the end, byte by byte in part.
  for (let n = 0; n < 1_536; n += 31) places.push(n, whole.length - 1 - n);
  for (const at of places) {
    const changed = whole.slice();
    changed[at]! ^= 0x10;
    Deno.writeFileSync(made.file, changed);
    using target = temporaryDirectory();
    await rejects(read(made.file, target.path), BackupFileError, `byte ${at}`);
  }
});

for (
  const [what, bytes, error] of [
    ["an empty file", new Uint8Array(), /not a Longshore backup/],
    ["a text", archive([]).fill(65), /not a Longshore backup/],
    ["some other archive", archive([["notes.txt", "hello"]]), /not a Longshore backup/],
    [
      "the manifest of another program",
      archive([["manifest.json", "{}"]]),
      /not a Longshore backup/,
    ],
    [
      "a manifest that is not JSON",
      archive([["manifest.json", "hello"]]),
      /manifest\.json is not readable/,
    ],
    ["a manifest that is null", archive([["manifest.json", "null"]]), /not a Longshore backup/],
    [
      "a newer format",
      archive([["manifest.json", manifest({ formatVersion: 2, programVersion: "9.0.0" })]]),
      /made by a newer version \(9\.0\.0, format 2\)/,
    ],
    [
      "a manifest without files",
      archive([["manifest.json", manifest({ entries: undefined })]]),
      /is incomplete/,
    ],
    [
      "a name with a path",
      archive([["manifest.json", manifest({ entries: [{ ...entry, name: "../b.key" }] })]]),
      /does not belong in a backup/,
    ],
    [
      "an absolute name",
      archive([["manifest.json", manifest({ entries: [{ ...entry, name: "/etc/cron" }] })]]),
      /does not belong in a backup/,
    ],
    [
      "a name twice",
      archive([["manifest.json", manifest({ entries: [entry, entry] })]]),
      /occurs twice/,
    ],
    [
      "a size that is none",
      archive([["manifest.json", manifest({ entries: [{ ...entry, size: -1 }] })]]),
      /is incomplete/,
    ],
    [
      "another file than the manifest says",
      archive([["manifest.json", manifest({ entries: [entry] })], ["../../b.key", "abc"]]),
      /b\.key is not in the expected position/,
    ],
    [
      "another content than the manifest says",
      archive([["manifest.json", manifest({ entries: [entry] })], ["b.key", "abc"]]),
      /b\.key does not match its checksum/,
    ],
    [
      "a backup without its sums",
      archive([["manifest.json", manifest({})]]),
      /SHA256SUMS is not in the expected position/,
    ],
  ] as const
) {
  Deno.test(`readBackupFile() refuses ${what}`, async () => {
    using directory = temporaryDirectory();
    const file = `${directory.path}/backup.tar`;
    const target = `${directory.path}/target`;
    Deno.mkdirSync(target);
    Deno.writeFileSync(file, bytes);
    await rejects(read(file, target), (failure: Error) => {
      match(failure.message, error);
      return failure instanceof BackupFileError;
    });
    deepEqual(Object.keys(contentOf(directory.path)).filter((name) => name !== "backup.tar"), [
      ...Object.keys(contentOf(target)).map((name) => `target/${name}`),
    ]);
  });
}

for (
  const { what, options } of [
    { what: "a symbolic link", options: ["--append", "link"] },
    { what: "a directory", options: ["--append", "dir"] },
    { what: "a hard link", options: ["--append", "first", "second"] },
  ]
) {
  Deno.test(`readBackupFile() refuses ${what}, as tar itself writes it`, async () => {
    using directory = temporaryDirectory();
    const { path } = directory;
    // Instead of the file that the manifest names.
    Deno.writeTextFileSync(`${path}/manifest.json`, manifest({ entries: [entry] }));
    Deno.mkdirSync(`${path}/dir`);
    Deno.symlinkSync("/etc/passwd", `${path}/link`);
    Deno.writeTextFileSync(`${path}/first`, "");
    Deno.linkSync(`${path}/first`, `${path}/second`);
    const tar = async (...args: string[]) => {
      const { success, stderr } = await new Deno.Command("tar", {
        args: ["--format=ustar", "-C", path, "-f", `${path}/b.tar`, ...args],
      }).output();
      equal(success, true, new TextDecoder().decode(stderr));
    };
    await tar("-c", "manifest.json");
    await tar(...options);
    using target = temporaryDirectory();
    await rejects(read(`${path}/b.tar`, target.path), BackupFileError);
    deepEqual(contentOf(target.path), {});
  });
}

Deno.test("reading stops when it is asked to", async () => {
  using made = await backup();
  await rejects(
    read(made.file, made.target, AbortSignal.abort()),
    { name: "AbortError" },
  );
});
