import { deepEqual, rejects } from "node:assert/strict";
import { createSkipList } from "../../../services/backup/volumes/limits.ts";
import { readTar } from "../../../services/backup/volumes/tar_reader.ts";
import { writeTar } from "../../../services/backup/volumes/tar_writer.ts";
import { withoutImageNames } from "../../../services/snapshots/image_archive.ts";
import { collect, entriesOf, fileEntry, type TestEntry } from "../../helpers/repository.ts";

const link = (path: string, linkTarget: string): TestEntry => ({
  ...fileEntry(path, ""),
  type: "symlink",
  linkTarget,
});

const archiveOf = (...entries: TestEntry[]) =>
  writeTar(entriesOf(entries), {
    root: "",
    skipped: createSkipList(),
    xattrs: /x/,
    check() {},
  });

const named = (key: string) => JSON.stringify([{ Config: "c.json", Layers: [], [key]: ["a:1"] }]);

Deno.test("names in any list of an archive are left out", async () => {
  const index = {
    schemaVersion: 2,
    Manifests: [{ annotations: { "io.containerd.image.name": "a:1" } }],
    manifests: [{ digest: "sha256:1", annotations: { "org.opencontainers.image.ref.name": "a" } }],
  };
  const archive = archiveOf(
    fileEntry("c.json", "{}"),
    fileEntry("./manifest.json", named("RepoTag\u017f")),
    fileEntry("index.json", JSON.stringify(index)),
    fileEntry("repositories", '{"a":{"1":"x"}}'),
    fileEntry("x/layer.tar", "layer"),
    link("y/layer.tar", "../x/layer.tar"),
  );
  const written = readTar(withoutImageNames(archive), { root: "", skipped: createSkipList() });
  const texts = (await collect(written)).map(({ path, bytes = new Uint8Array() }) => [
    path,
    new TextDecoder().decode(bytes),
  ]);
  deepEqual(Object.fromEntries(texts), {
    "c.json": "{}",
    "manifest.json": '[{"Config":"c.json","Layers":[],"RepoTags":null}]',
    "index.json": '{"schemaVersion":2,"manifests":[{"digest":"sha256:1"}]}',
    "x/layer.tar": "layer",
    "y/layer.tar": "",
  });
});

const ATTACKS: Record<string, { entries: TestEntry[]; message: RegExp }> = {
  "a list behind a link": {
    entries: [link("manifest.json", "other.json")],
    message: /"manifest.json" is not a list of images/,
  },
  "a link to the root": {
    entries: [link("x", "."), fileEntry("x/manifest.json", named("RepoTags"))],
    message: /"x" is a link/,
  },
  "a file below a layer's link": {
    entries: [link("x/layer.tar", ".."), fileEntry("x/layer.tar/manifest.json", "[]")],
    message: /"x\/layer.tar" occurs twice/,
  },
  "a link in place of a directory": {
    entries: [fileEntry("x/layer.tar/a", ""), link("x/layer.tar", "..")],
    message: /"x\/layer.tar" occurs twice/,
  },
  "a second list": {
    entries: [fileEntry("manifest.json", "[]"), fileEntry("manifest.json", "[]")],
    message: /"manifest.json" occurs twice/,
  },
  "a path that leads out": {
    entries: [fileEntry("../manifest.json", named("RepoTags"))],
    message: /contains \.\./,
  },
  "a list that is not one": {
    entries: [fileEntry("manifest.json", '{"RepoTags":["a:1"]}')],
    message: /not a list/,
  },
};

for (const [name, { entries, message }] of Object.entries(ATTACKS)) {
  Deno.test(`an archive of images with ${name} is refused`, async () => {
    await rejects(Array.fromAsync(withoutImageNames(archiveOf(...entries))), { message });
  });
}

Deno.test("a compressed archive, whose names could not be left out, is refused", async () => {
  const plain = ReadableStream.from(archiveOf(fileEntry("manifest.json", named("RepoTags"))));
  const packed = (plain as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new CompressionStream("gzip"));
  await rejects(Array.fromAsync(withoutImageNames(packed)), { name: "TarError" });
});
