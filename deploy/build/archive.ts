/**
 * Writes the files of a directory as a tar archive to the standard output. The same files give the
 * same bytes, which the `tar` of most systems does not promise.
 *
 *     deno run --allow-read=DIRECTORY archive.ts DIRECTORY
 *
 * @module
 */

import { TAR_BLOCK_BYTES, tarHeader, tarPadding } from "../../services/backup/tar.ts";

/** An archive ends with two blocks of zeros (POSIX.1, "ustar Interchange Format"). */
const END_BYTES = 2 * TAR_BLOCK_BYTES;

/** Archives the plain files of a directory, sorted by name. */
export async function archive(directory: string): Promise<Uint8Array<ArrayBuffer>> {
  const entries = await Array.fromAsync(Deno.readDir(directory));
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const name of entries.map(({ name }) => name).sort()) {
    const content = await Deno.readFile(`${directory}/${name}`);
    const size = content.length;
    parts.push(tarHeader({ name, size }, new Date(0)), content, new Uint8Array(tarPadding(size)));
  }
  return await new Blob([...parts, new Uint8Array(END_BYTES)]).bytes();
}

if (import.meta.main) {
  const [directory] = Deno.args;
  if (directory === undefined) {
    console.error("usage: archive.ts DIRECTORY");
    Deno.exit(2);
  }
  await new Blob([await archive(directory)]).stream().pipeTo(Deno.stdout.writable);
}
