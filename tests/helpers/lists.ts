/** Finds copies of lists in the sources of the product. @module */

const root = new URL("../../", import.meta.url);

/**
 * The files that name more than a quarter of the ids, except those at or below these paths. The
 * generated types are not searched: the API document has the lists.
 */
export async function lists(
  ids: readonly string[],
  own: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
      const path = `${folder}/${name}`;
      if (path === "ui/api" || own.includes(path)) continue;
      if (isDirectory) await visit(path);
      else if (/\.tsx?$/.test(name)) {
        const text = await Deno.readTextFile(new URL(path, root));
        const named = ids.filter((id) => text.includes(`"${id}"`) || text.includes(` ${id}: {`));
        if (named.length > ids.length / 4) found.push(`${path}: ${named}`);
      }
    }
  };
  for (const folder of ["commands", "db", "routes", "services", "ui"]) await visit(folder);
  return found;
}
