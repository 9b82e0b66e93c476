/** Flips a byte in each pack of a repository, as a disk may. @module */

/** @param directory Of the repository. */
export async function damagePacks(directory: string): Promise<void> {
  for await (const { name } of Deno.readDir(`${directory}/data`)) {
    for await (const pack of Deno.readDir(`${directory}/data/${name}`)) {
      const file = `${directory}/data/${name}/${pack.name}`;
      const bytes = await Deno.readFile(file);
      bytes[20]! ^= 1;
      await Deno.remove(file);
      await Deno.writeFile(file, bytes);
    }
  }
}
