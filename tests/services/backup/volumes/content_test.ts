import { deepEqual, equal, rejects } from "node:assert/strict";
import { replaceContent } from "../../../../services/backup/volumes/content.ts";
import { renamePath } from "../../../../services/backup/volumes/operations.ts";
import type { Shell } from "../../../../services/backup/volumes/shell.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { until } from "../../../helpers/until.ts";

const { signal } = new AbortController();

/** The shell of this machine, with a directory as its root. */
const localShell = (root: string): Shell => ({
  place: root,
  async *run({ text, args = [], input }) {
    const child = new Deno.Command("sh", {
      args: ["-euc", `cd "$root"\n${text}`, "sh", ...args],
      env: { root },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const written = (input ?? ReadableStream.from([])).pipeTo(child.stdin).catch(() => {});
    const { code, stdout, stderr } = await child.output();
    await written;
    yield stdout;
    return { exitCode: code, errors: new TextDecoder().decode(stderr) };
  },
});

Deno.test("a link that is put in the place of the temporary file gets neither owner nor mode", async () => {
  const around = await Deno.realPath(await Deno.makeTempDir());
  try {
    const [root, foreign] = [`${around}/own`, `${around}/foreign`];
    await Deno.mkdir(root);
    await Deno.writeTextFile(foreign, "secret");
    await Deno.chmod(foreign, 0o600);
    await Deno.writeTextFile(`${root}/file`, "old");
    await Deno.chmod(`${root}/file`, 0o666);
    // As long as the path that the link has.
    const size = "../foreign".length;
    const write = (hostile: boolean) =>
      replaceContent(localShell(root), "file", {
        size,
        stream: new ReadableStream({
          async pull(controller) {
            if (hostile) {
              const temporary = await temporaryFile(root);
              await Deno.remove(`${root}/${temporary}`);
              await Deno.symlink("../foreign", `${root}/${temporary}`);
            }
            controller.enqueue(new TextEncoder().encode("x".repeat(size)));
            controller.close();
          },
        }, { highWaterMark: 0 }),
      }, signal);

    const { mode } = await write(false);
    deepEqual([mode & 0o7777, await Deno.readTextFile(`${root}/file`)], [0o666, "x".repeat(size)]);
    // The directory gets what its hostile user has put there.
    await write(true);
    equal(await Deno.readLink(`${root}/file`), "../foreign");
    const { mode: foreignMode } = await Deno.stat(foreign);
    equal(foreignMode! & 0o777, 0o600);
    equal(await Deno.readTextFile(foreign), "secret");
  } finally {
    await Deno.remove(around, { recursive: true });
  }
});

/** The file that the script creates before it reads. */
const temporaryFile = (root: string): Promise<string> =>
  until("the temporary file is there", () =>
    Array.from(Deno.readDirSync(root), ({ name }) => name)
      .find((name) => name.startsWith(".longshore-")));

Deno.test("the message about a path names the one that is missing or exists", async () => {
  using directory = temporaryDirectory();
  const shell = localShell(await Deno.realPath(directory.path));
  await Deno.writeTextFile(`${directory.path}/old`, "old");
  const rename = (from: string, to: string) => renamePath(shell, { from, to }, signal);
  await rejects(rename("none", "new"), /^AppError: Path "none" does not exist/);
  await rejects(rename("old", "none/new"), /^AppError: Path "none\/new" does not exist/);
  await rename("old", "new");
  const condition = { content: "missing" } as const;
  const written = { stream: ReadableStream.from([]), size: 0, condition };
  await rejects(
    replaceContent(shell, "new", written, signal),
    /^AppError: Path "new" already exists$/,
  );
});
