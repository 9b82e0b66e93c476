/** Output of programs in containers, which anyone may have written. @module */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { openContent } from "../../../services/backup/volumes/content.ts";
import { listDirectory } from "../../../services/backup/volumes/listing.ts";
import { runScript, type Shell } from "../../../services/backup/volumes/shell.ts";
import { parsePath } from "../../../services/files/request.ts";

const { signal } = new AbortController();

/** A shell that prints pieces and ends. */
function shellOf(pieces: Iterable<string>, exitCode = 0): Shell & { isEnded: boolean } {
  const shell = {
    isEnded: false,
    place: "web",
    async *run() {
      try {
        for (const piece of pieces) {
          await Promise.resolve();
          yield new TextEncoder().encode(piece);
        }
        return { exitCode, errors: "" };
      } finally {
        shell.isEnded = true;
      }
    },
  };
  return shell;
}

function* endless(piece: string) {
  for (;;) yield piece;
}

Deno.test("a listing is read whatever the pieces are", async () => {
  const shell = shellOf(["81a4 12 1 0", " 7 ./a\nb/\n41ed 0 -5 1", " 2 ./dir/\n"]);
  const { files, isComplete } = await listDirectory(shell, "", signal);
  equal(isComplete, true);
  deepEqual(files, [
    { name: "a\nb", type: "file", mode: 0o644, uid: 0, gid: 7, size: 12, mtime: 1_000_000_000n },
    { name: "dir", type: "dir", mode: 0o755, uid: 1, gid: 2, size: 0, mtime: -5_000_000_000n },
  ]);
});

for (
  const [name, pieces] of [
    ["text without end", endless("x".repeat(1000))],
    ["a name with a slash", ["81a4 1 1 0 0 ./../../etc/passwd/\n", "x".repeat(5000)]],
    ["a size without end", [`81a4 ${"9".repeat(9000)} 1 0 0 ./a/\n`]],
  ] as const
) {
  Deno.test(`a listing of ${name} is refused`, async () => {
    const shell = shellOf(pieces);
    await rejects(listDirectory(shell, "", signal), /do not answer as expected/);
    equal(shell.isEnded, true);
  });
}

Deno.test("a listing stops at 5,000 entries", async () => {
  const shell = shellOf(endless("81a4 1 1 0 0 ./a/\n".repeat(100)));
  const { files, isComplete } = await listDirectory(shell, "", signal);
  deepEqual([files.length, isComplete, shell.isEnded], [5000, false, true]);
});

Deno.test("a file has as many bytes as it said", async () => {
  const read = async (...pieces: string[]) => {
    const { content } = await openContent(shellOf(pieces), "a", { signal });
    return new TextDecoder().decode(
      new Uint8Array((await Array.fromAsync(content)).flatMap((piece) => [...piece])),
    );
  };
  equal(await read("81a4 3 1 0 0", "\nab", "cdef"), "abc");
  await rejects(read("81a4 3 1 0 0\nab"), /became shorter/);
  await rejects(read("41ed 3 1 0 0\nabc"), /do not answer as expected/, "a directory");
  await rejects(read("x".repeat(300)), /do not answer as expected/);
  await rejects(read(), /do not answer as expected/);
});

Deno.test("a script that should say little is ended when it does not", async () => {
  const shell = shellOf(endless("x"));
  await rejects(
    runScript(shell, { text: "", isReadOnly: true, signal }),
    /do not answer as expected/,
  );
  equal(shell.isEnded, true);
});

Deno.test("paths of requests cannot leave their root", () => {
  equal(parsePath("/"), "");
  equal(parsePath("/a/100%25/%FF/\n-x"), "a/100%/\xff/\n-x");
  for (const path of ["/..", "/a/../b", "/./a", "//a", "/a//b", "/a/", "/%2E%2E/b", "/a%00b"]) {
    let refusal: unknown;
    try {
      parsePath(path);
    } catch (error) {
      refusal = error;
    }
    equal((refusal as { code?: string } | undefined)?.code, "invalid", path);
  }
});
