/** Source files that contain many of some texts. @module */

const ROOT = new URL("../../", import.meta.url);

/**
 * Finds files outside of `own` that list things, e.g. the kinds of events: those with more than a
 * quarter of the texts. Types that are generated from the API document do not count.
 *
 * @param own Folders and files that may list them, e.g. `services/events/kinds`.
 * @returns The paths with the texts.
 */
export async function filesWith(
  texts: readonly string[],
  ...own: string[]
): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
      const path = `${folder}/${name}`;
      if (own.includes(path) || path === "ui/api") continue;
      if (isDirectory) await visit(path);
      else if (/\.tsx?$/.test(name)) {
        const source = await Deno.readTextFile(new URL(path, ROOT));
        const known = texts.filter((text) => source.includes(text));
        if (known.length > texts.length / 4) found.push(`${path}: ${known}`);
      }
    }
  };
  for (const folder of ["commands", "db", "routes", "services", "ui"]) await visit(folder);
  return found;
}
