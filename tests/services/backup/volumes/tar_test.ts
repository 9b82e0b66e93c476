import { deepEqual, equal, rejects } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { encodePax } from "../../../../services/backup/pax.ts";
import type { Entry } from "../../../../services/backup/restic/entry.ts";
import { encodeTarHeader, TarError } from "../../../../services/backup/tar.ts";
import { createSkipList, TreeError } from "../../../../services/backup/volumes/limits.ts";
import { readTar } from "../../../../services/backup/volumes/tar_reader.ts";
import { writeTar } from "../../../../services/backup/volumes/tar_writer.ts";

const OWNER = { mode: 0o644, uid: 0, gid: 0, mtime: 0n, size: 0 };

const dir = (path: string): Entry => ({ path, type: "dir", ...OWNER });
const link = (path: string, linkTarget = "x"): Entry => ({
  ...{ path, type: "symlink", ...OWNER },
  linkTarget,
});
const file = (path: string, bytes = new Uint8Array(0)): Entry => ({
  ...{ path, type: "file", ...OWNER },
  size: bytes.length,
  content: ReadableStream.from([bytes]),
});

async function archiveOf(entries: readonly Entry[], root = "root"): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const options = { root, skipped: createSkipList(), xattrs: /^user\./ };
  for await (const part of writeTar(ReadableStream.from(entries), options)) parts.push(part);
  return Buffer.concat(parts);
}

/** Reads an archive that arrives in pieces. */
async function read(archive: Uint8Array, { root = "root", piece = 1000 } = {}) {
  const skipped = createSkipList();
  const chunks = (async function* () {
    for (let at = 0; at < archive.length; at += piece) yield archive.subarray(at, at + piece);
  })();
  const found: (Omit<Entry, "content"> & { bytes?: string })[] = [];
  for await (const { content, ...entry } of readTar(chunks, { root, skipped })) {
    const parts: Uint8Array[] = [];
    for await (const part of content ?? []) parts.push(part);
    found.push(content ? { ...entry, bytes: Buffer.concat(parts).toString("latin1") } : entry);
  }
  return { found, skipped };
}

const TREE: Entry[] = [
  { ...dir(""), mode: 0o3775, uid: 55, gid: 4_294_967_294 },
  dir("d"),
  { ...file(`d/${"\xff".repeat(255)}`, new Uint8Array(700).fill(65)), mode: 0o4755 },
  { ...file("new\nline"), mtime: -1_500_000_001n, user: "é", group: "g".repeat(40) },
  { ...link("old", "\xfe/../.."), mtime: -157_766_400_000_000_000n },
  {
    ...file("x", Buffer.from("content")),
    mtime: 1_580_608_922_123_456_789n,
    xattrs: [{ name: "user.a", value: Uint8Array.of(0, 10, 61, 255) }],
  },
  { ...file("y"), hardLinkTo: "x" },
];

Deno.test("entries are read as they were written, in pieces of any size", async () => {
  const expected = await Promise.all(
    TREE.map(async ({ content, ...entry }) =>
      content && entry.hardLinkTo === undefined
        ? { ...entry, bytes: Buffer.concat(await Array.fromAsync(content)).toString("latin1") }
        : entry
    ),
  );
  const again = TREE.map((entry, at) => {
    const { bytes } = expected[at]! as { bytes?: string };
    return bytes === undefined
      ? entry
      : { ...entry, content: ReadableStream.from([Buffer.from(bytes, "latin1")]) };
  });
  const archive = await archiveOf(again);
  for (const piece of [1, 511, 512, 513, 1_000_000]) {
    deepEqual((await read(archive, { piece })).found, expected, `${piece}`);
  }
});

Deno.test("an archive of tar itself is read, with its long names", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const long = `${"d".repeat(150)}/${"e".repeat(150)}`;
    await Deno.mkdir(`${directory}/${long}`, { recursive: true });
    await Deno.writeTextFile(`${directory}/${long}/f`, "text");
    await Deno.symlink("t".repeat(300), `${directory}/link`);
    for (const format of ["gnu", "posix"]) {
      const { stdout } = await new Deno.Command("tar", {
        args: ["-C", directory, `--format=${format}`, "--sort=name", "-c", "."],
      }).output();
      const { found } = await read(stdout);
      deepEqual(found.map(({ path }) => path), ["", long.slice(0, 150), long, `${long}/f`, "link"]);
      deepEqual([found[3]!.bytes, found[4]!.linkTarget], ["text", "t".repeat(300)], format);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("content that is not consumed is skipped", async () => {
  const archive = await archiveOf([dir(""), file("a", new Uint8Array(5000)), file("b")]);
  const paths: string[] = [];
  const options = { root: "root", skipped: createSkipList() };
  for await (const { path } of readTar(ReadableStream.from([archive]), options)) paths.push(path);
  deepEqual(paths, ["", "a", "b"]);
});

Deno.test("an archive that ends early is refused, wherever", async () => {
  const archive = await archiveOf([dir(""), file("a", new Uint8Array(600)), file("b")]);
  for (let length = 0; length < archive.length - 1024; length += 100) {
    await rejects(read(archive.subarray(0, length)), TarError, `${length}`);
  }
});

const header = (values: Parameters<typeof encodeTarHeader>[0]) => encodeTarHeader(values);

for (
  const [what, archive, message] of [
    ["a path beside the requested one", header({ name: "other/a" }), /is not in the directory/],
    ["a path above the requested one", header({ name: "root/../a" }), /contains \.\./],
    [
      "a link to a path above",
      header({ name: "root/a", type: "1", linkName: "root/../b" }),
      /\.\./,
    ],
    ["an unknown type", header({ name: "root/a", type: "Z" }), /has the unknown type Z/],
    ["GNU's sparse files", header({ name: "root/a", type: "S" }), /has the unknown type S/],
    ["a long extended header", header({ type: "x", size: 2 ** 21 }), /more than 1048576 bytes/],
    ["a damaged header", header({ name: "root/a" }).fill(1, 100, 108), /a header is damaged/],
    ["a size of 2^60", pax("size", String(2 ** 60)), /invalid size/],
    [
      "a size above that of a file",
      pax("size", "999999999999999"),
      /claims a size that no file has/,
    ],
    ["a sparse file", pax("GNU.sparse.major", "1"), /is in GNU's sparse format/],
    ["a time in another notation", pax("mtime", "1e9"), /a time is not a number/],
    ["a path with NUL", pax("path", "root/a\0b"), /contains a NUL byte/],
    ["a long path", pax("path", `root/${"a/".repeat(3000)}b`), /is longer than 4095 bytes/],
    ["a deep path", pax("path", `root/${"a/".repeat(1500)}b`), /has more than 1000 levels/],
    ["a long name", pax("path", `root/${"a".repeat(256)}`), /a name of more than 255 bytes/],
    ["damaged records", recordText("99 a=b\n"), /an extended header is damaged/],
  ] as const
) {
  Deno.test(`an archive with ${what} is refused`, async () => {
    await rejects(read(Buffer.concat([archive, header({ name: "root/a" })])), message);
  });
}

function pax(keyword: string, value: string): Uint8Array {
  return Buffer.concat([encodePax(new Map([[keyword, value]])), header({ name: "root/a" })]);
}

function recordText(text: string): Uint8Array {
  const content = new Uint8Array(512);
  content.set(Buffer.from(text));
  return Buffer.concat([header({ type: "x", size: text.length }), content]);
}

for (
  const [what, entries, message] of [
    ["an absolute path", [file("/etc/passwd")], /^The path "\/etc\/passwd" is absolute$/],
    ["..", [dir("a"), file("a/../../b")], /contains \.\./],
    ["an empty name", [dir("a"), file("a//b")], /has an empty name/],
    [".", [file("./a")], /has an empty name/],
    ["NUL", [file("a\0b")], /contains a NUL byte/],
    ["characters that are not bytes", [file("a\u0100")], /a character that is not a byte/],
    ["a path through a link", [link("a", "/etc"), file("a/passwd")], /not in a directory/],
    ["a path through a file", [file("a"), file("a/b")], /not in a directory/],
    ["a missing directory", [file("a/b")], /not in a directory of the tree/],
    ["a name twice", [file("a"), link("a")], /^"a" occurs twice/],
    ["a name twice, later", [dir("a"), dir("b"), file("a")], /^"a" occurs twice/],
    ["a directory that comes back", [dir("a"), dir("b"), file("a/c")], /not in a directory/],
    ["a second root", [dir(""), dir("")], /is a second root/],
    ["a root that is a link", [link("")], /is a second root/],
    ["a device node", [{ ...file("sda"), type: "dev" }], /^"sda" is a device node$/],
    ["a character device", [{ ...file("mem"), type: "chardev" }], /is a device node/],
    ["2^60 bytes", [{ ...file("a"), size: 2 ** 60 }], /claims a size that no file has/],
    ["a negative size", [{ ...file("a"), size: -1 }], /claims a size that no file has/],
    ["less content than said", [{ ...file("a"), size: 1 }], /has less content than its 1 bytes/],
    ["more content than said", [{ ...file("a", new Uint8Array(9)), size: 1 }], /has more content/],
    ["more than 1,000 levels", deep(1001), /has more than 1000 levels/],
    ["an impossible owner", [{ ...file("a"), uid: 2 ** 32 }], /has an impossible owner/],
    ["an impossible mode", [{ ...file("a"), mode: 0o100644 }], /has an impossible mode/],
    ["an impossible time", [{ ...file("a"), mtime: 10n ** 30n }], /has an impossible time/],
    ["a link without a target", [link("a", "")], /is a symbolic link without a target/],
    ["a link with NUL", [link("a", "b\0")], /is a symbolic link without a target/],
    ["a hard link to ..", [{ ...file("a"), hardLinkTo: "../b" }], /contains \.\./],
    ["a hard link through a link", [link("a"), { ...file("b"), hardLinkTo: "a/c" }], /no earlier/],
    [
      "a hard link to a directory",
      [dir("a"), { ...file("b"), hardLinkTo: "a" }],
      /no earlier file/,
    ],
    ["a directory as a hard link", [file("a"), { ...dir("b"), hardLinkTo: "a" }], /not a file/],
  ] as [string, Entry[], RegExp][]
) {
  Deno.test(`a tree with ${what} is not written`, async () => {
    await rejects(archiveOf(entries), (error: Error) => {
      equal(error instanceof TreeError, true, String(error));
      return message.test(error.message);
    });
  });
}

function deep(levels: number): Entry[] {
  const names = Array.from({ length: levels }, () => "a");
  return names.map((_, at) => dir(names.slice(0, at + 1).join("/")));
}

Deno.test("sockets, FIFOs and foreign attributes are skipped by name", async () => {
  const skipped = createSkipList();
  const xattrs = [{ name: "trusted.overlay.opaque", value: Uint8Array.of(121) }];
  const entries = [
    { ...file("a"), xattrs },
    { ...file("f"), type: "fifo" as const },
    { ...file("s"), type: "socket" as const },
  ];
  const options = { root: "", skipped, xattrs: /^user\./ };
  const archive = Buffer.concat(
    await Array.fromAsync(writeTar(ReadableStream.from(entries), options)),
  );
  deepEqual((await read(archive, { root: "" })).found.map(({ path }) => path), ["a"]);
  deepEqual(skipped.items, [
    { path: "a", reason: 'has the attribute "trusted.overlay.opaque"' },
    { path: "f", reason: "is a FIFO" },
    { path: "s", reason: "is a socket" },
  ]);
});
