import { deepEqual, equal, rejects } from "node:assert/strict";
import { listDirectly, openDirectly } from "../../../../services/backup/volumes/direct_files.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";

Deno.test("a directory of a volume is listed and read directly, without following links", async () => {
  using directory = temporaryDirectory();
  const root = `${directory.path}/volume`;
  await Deno.mkdir(`${root}/sub`, { recursive: true });
  await Deno.writeTextFile(`${directory.path}/secret`, "secret");
  await Deno.writeTextFile(`${root}/sub/é`, "0123456789");
  await Deno.symlink("..", `${root}/out`);
  await Deno.symlink("sub", `${root}/in`);
  const read = async (path: string, from: number) => {
    const file = (await openDirectly(root, path, from))!;
    const bytes = (await Array.fromAsync(file.content)).flatMap((piece) => [...piece]);
    file.close();
    return [file.start, new TextDecoder().decode(new Uint8Array(bytes))];
  };

  const { files } = (await listDirectly(root, ""))!;
  deepEqual(files.map(({ name, type }) => [name, type]), [
    ["in", "symlink"],
    ["out", "symlink"],
    ["sub", "dir"],
  ]);
  const name = "sub/\xc3\xa9";
  equal((await listDirectly(root, "sub"))!.files[0]!.name, "\xc3\xa9");
  deepEqual(await read(name, 0), [0, "0123456789"]);
  deepEqual(await read(name, -3), [7, "789"]);
  deepEqual(await read(name, 20), [10, ""]);
  for (const path of ["out/secret", "in/\xc3\xa9"]) {
    await rejects(openDirectly(root, path, 0), /behind a symbolic link/);
  }
  await rejects(listDirectly(root, "in"), /is not a directory/);
  await rejects(openDirectly(root, "out", 0), /is not a regular file/);
  await rejects(openDirectly(root, "none/x", 0), /does not exist/);
  equal(await listDirectly(root, "\xff"), undefined, "by other means");

  const growing = (await openDirectly(root, name, 0))!;
  await Deno.writeTextFile(`${root}/sub/é`, "more", { append: true });
  equal((await Array.fromAsync(growing.content))[0]!.length, 10);
  growing.close();
  const shrinking = (await openDirectly(root, name, 0))!;
  await Deno.truncate(`${root}/sub/é`, 2);
  await rejects(Array.fromAsync(shrinking.content), /became shorter/);
  shrinking.close();
});
