/**
 * Checks that a bundle has every `using` and `await using` of its sources. Without one, nothing is
 * closed or released, and only the bundle shows it.
 *
 *     deno run -A check_using.ts MODULE DIRECTORY
 *
 * @module
 */

/** A declaration in formatted code, also of `for`. A type annotation is in sources only. */
const DECLARATION = /(?:^|[{;(])[ \t]*((?:await )?using) [\w$]+(?:: [^=\n]+)? (?:=|of)\s/gm;

/** A comment in front of each module's part of a bundle: its path from the bundler's directory. */
const MODULE_HEAD = /^\/\/ (\S+\.tsx?)\n/gm;

interface Graph {
  modules: { local?: string; specifier: string }[];
}

/**
 * Compares the modules that `module` imports with the bundle in `directory`, both built from `root`.
 *
 * @returns A sentence for each module of which the bundle has fewer.
 */
export async function findMissingUsing(
  module: string,
  directory: string,
  root: string,
): Promise<string[]> {
  const bundled = new Map<string, string>();
  for await (const { name } of Deno.readDir(directory)) {
    if (!name.endsWith(".js")) continue;
    const [, ...parts] = (await Deno.readTextFile(`${directory}/${name}`)).split(MODULE_HEAD);
    for (let at = 0; at < parts.length; at += 2) {
      bundled.set(parts[at]!, (bundled.get(parts[at]!) ?? "") + parts[at + 1]);
    }
  }
  const missing: string[] = [];
  for (const path of await listSources(module, root)) {
    const wanted = countUsing(await Deno.readTextFile(path));
    const found = countUsing(bundled.get(path.slice(root.length + 1)) ?? "");
    for (const kind of ["using", "await using"] as const) {
      if (found[kind] >= wanted[kind]) continue;
      missing.push(`${path} has ${wanted[kind]} "${kind}", its bundle ${found[kind]}`);
    }
  }
  return missing;
}

/** Paths of the TypeScript modules that `module` imports, directly or not, and of `module`. */
async function listSources(module: string, root: string): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--frozen", module],
    cwd: root,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as Graph;
  return modules.map(({ local }) => local ?? "").filter((path) => /\.tsx?$/.test(path));
}

function countUsing(text: string): Record<"using" | "await using", number> {
  const counts = { "using": 0, "await using": 0 };
  for (const [, kind] of text.matchAll(DECLARATION)) counts[kind as keyof typeof counts]++;
  return counts;
}

if (import.meta.main) {
  const [module, directory] = Deno.args;
  if (module === undefined || directory === undefined) {
    console.error("usage: check_using.ts MODULE DIRECTORY");
    Deno.exit(2);
  }
  const missing = await findMissingUsing(module, directory, Deno.cwd());
  for (const sentence of missing) console.error(sentence);
  Deno.exit(missing.length === 0 ? 0 : 1);
}
