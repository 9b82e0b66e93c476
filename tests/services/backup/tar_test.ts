import { deepEqual, equal, throws } from "node:assert/strict";
import {
  readFirstFile,
  readTarHeader,
  TAR_BLOCK_BYTES,
  TAR_FILE_BYTES_MAX,
  TarError,
  tarHeader,
  tarPadding,
} from "../../../services/backup/tar.ts";

const at = new Date("2026-01-01T00:00:00Z");
const file = { name: "state.sqlite", size: 65_536 };

Deno.test("a header is read as it was written", () => {
  for (
    const each of [file, { name: "é".repeat(50), size: 0 }, { ...file, size: TAR_FILE_BYTES_MAX }]
  ) {
    deepEqual(readTarHeader(tarHeader(each, at)), each);
  }
});

Deno.test("a block of zeros is the end", () => {
  equal(readTarHeader(new Uint8Array(TAR_BLOCK_BYTES)), undefined);
});

Deno.test("any changed byte of a header is noticed", () => {
  for (let n = 0; n < TAR_BLOCK_BYTES; n++) {
    const header = tarHeader(file, at);
    header[n]! ^= 0x01;
    throws(() => readTarHeader(header), TarError, `byte ${n}`);
  }
});

Deno.test("a long path is in two fields, which tar joins", async () => {
  const name = `${"d".repeat(90)}/${"e".repeat(60)}/${"f".repeat(100)}`;
  const archive = new Uint8Array(3 * TAR_BLOCK_BYTES);
  archive.set(tarHeader({ name, size: 0 }, at));
  const child = new Deno.Command("tar", { args: ["-t"], stdin: "piped", stdout: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(archive);
  await writer.close();
  equal(new TextDecoder().decode((await child.output()).stdout), `${name}\n`);
});

Deno.test("the first file of an archive is read, with longer headers of newer formats", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const name = `${"n".repeat(150)}.yaml`;
    await Deno.writeTextFile(`${directory}/${name}`, "text");
    await Deno.symlink(name, `${directory}/link`);
    const archive = async (format: string, file: string) =>
      (await new Deno.Command("tar", {
        args: ["-c", `--format=${format}`, "--owner=12", "--group=34", "--mode=0640", file],
        cwd: directory,
      }).output()).stdout;
    for (const format of ["pax", "gnu"]) {
      const { bytes, owner } = readFirstFile(await archive(format, name));
      deepEqual([new TextDecoder().decode(bytes), owner], [
        "text",
        { mode: 0o640, uid: 12, gid: 34 },
      ]);
    }
    const link = await archive("pax", "link");
    throws(() => readFirstFile(link), /"link" is not a regular file/);
    const cut = (await archive("pax", name)).slice(0, 3 * TAR_BLOCK_BYTES);
    throws(() => readFirstFile(cut), TarError);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("names and sizes that the format has no room for are refused", () => {
  throws(() => tarHeader({ name: "x".repeat(101), size: 0 }, at), TarError);
  throws(() => tarHeader({ name: "", size: 0 }, at), TarError);
  throws(() => tarHeader({ name: "x", size: TAR_FILE_BYTES_MAX + 1 }, at), TarError);
});

Deno.test("padding fills up to a block", () => {
  deepEqual([0, 1, 511, 512, 513].map(tarPadding), [0, 511, 1, 0, 511]);
});
