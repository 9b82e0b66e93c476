import { deepEqual, equal } from "node:assert/strict";
import { readDirectory } from "../../../../services/backup/volumes/directory.ts";
import { createSkipList } from "../../../../services/backup/volumes/limits.ts";

const { signal } = new AbortController();

/** Reads a directory; `change` is called before the content of the first file is read. */
async function read(path: string, change: () => Promise<void> = () => Promise.resolve()) {
  const skipped = createSkipList();
  const found: Record<string, string> = {};
  const readElsewhere = () => {
    throw new Error("All names are UTF-8");
  };
  const identities: boolean[] = [];
  let isFirst = true;
  for await (const entry of readDirectory({ path, skipped, readElsewhere, signal })) {
    const { content, path: each, type, hardLinkTo, linkTarget } = entry;
    if (content && isFirst) {
      isFirst = false;
      await change();
    }
    const bytes = new Uint8Array(await new Response(ReadableStream.from(content ?? [])).bytes());
    found[each] = content ? new TextDecoder().decode(bytes) : hardLinkTo ?? linkTarget ?? type;
    if (content) identities.push((entry.inode ?? 0n) > 0n && (entry.ctime ?? 0n) > 0n);
  }
  equal(identities.every((isKnown) => isKnown), true);
  return { found, skipped: skipped.items };
}

async function withFiles(run: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${path}/d`);
    for (const name of ["a", "b", "c", "d/e"]) {
      await Deno.writeTextFile(`${path}/${name}`, `text of ${name}`);
    }
    await run(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

Deno.test("a directory is read with its links, which are not followed", async () => {
  await withFiles(async (path) => {
    await Deno.link(`${path}/a`, `${path}/d/hard`);
    await Deno.symlink("/etc", `${path}/link`);
    deepEqual(await read(path), {
      found: {
        ...{ "": "dir", a: "text of a", b: "text of b", c: "text of c", d: "dir" },
        ...{ "d/e": "text of d/e", "d/hard": "a", link: "/etc" },
      },
      skipped: [],
    });
  });
});

Deno.test("files that vanish or change while they are read are named", async () => {
  await withFiles(async (path) => {
    const { found, skipped } = await read(path, async () => {
      await Deno.truncate(`${path}/a`, 4);
      await Deno.remove(`${path}/b`);
      await Deno.remove(`${path}/c`);
      // Even so, nothing outside of the directory is read.
      await Deno.symlink("/etc/passwd", `${path}/c`);
      await Deno.remove(`${path}/d`, { recursive: true });
    });
    deepEqual(found, { "": "dir", a: `text${"\0".repeat(5)}`, d: "dir" });
    deepEqual(skipped, [
      { path: "a", reason: "changed while it was read" },
      { path: "b", reason: "vanished while it was read" },
      { path: "c", reason: "changed while it was read" },
      { path: "d", reason: "vanished while it was read" },
    ]);
  });
});
