/**
 * Merges the files that a start loads. Of shared modules the bundler makes one file for each set of
 * entry points that use them, which is about 180 files for a start. Each takes time to load and
 * memory for as long as the program runs.
 *
 * @module
 */

/** What a start imports, in this order. `commands/serve.ts` pauses between the last three. */
const STEPS = ["main", "serve", "editions", "app", "service"];

/** An import statement of the bundler, which writes no other form. */
const IMPORT = /import(?:\{([^}]*)\}from)?"\.\/([^"]+)";?/g;

/** The name of another file, wherever it is in a file. */
const REFERENCE = /"\.\/([^"/]+\.js)"/g;

/** The text of each file by its name. */
type Files = Map<string, string>;

/**
 * Merges each step of the start with all files that it needs and no earlier step has.
 *
 * @throws {Error} With the messages of the bundler, or if its output is not as expected.
 */
export async function mergeStart(directory: string): Promise<void> {
  const files: Files = new Map();
  for await (const { name } of Deno.readDir(directory)) {
    files.set(name, await Deno.readTextFile(`${directory}/${name}`));
  }
  const merged = new Set<string>();
  for (const step of STEPS) {
    const file = findStep(files, step);
    const parts = collectImports(files, file, merged);
    merged.add(file);
    await mergeParts(files, file, parts);
  }
  for await (const { name } of Deno.readDir(directory)) {
    if (!files.has(name)) await Deno.remove(`${directory}/${name}`);
  }
  for (const [name, text] of files) {
    for (const [, imported] of text.matchAll(REFERENCE)) {
      if (!files.has(imported!)) throw new Error(`${name} imports ${imported}, which was merged`);
    }
    await Deno.writeTextFile(`${directory}/${name}`, text);
  }
}

/** The bundler adds a hash of eight characters to the names of all files but the first. */
function findStep(files: Files, step: string): string {
  const found = [...files.keys()].filter((name) =>
    name.replace(/-[A-Z0-9]{8}\./, ".") === `${step}.js`
  );
  if (found.length !== 1) throw new Error(`${found.length} files are named ${step}, expected one`);
  return found[0]!;
}

/** The files that `file` imports, directly or not, without `file` and those in `merged`. */
function collectImports(files: Files, file: string, merged: ReadonlySet<string>): Set<string> {
  const found = new Set([file]);
  for (const name of found) {
    for (const [, , imported] of files.get(name)!.matchAll(IMPORT)) {
      if (!merged.has(imported!)) found.add(imported!);
    }
  }
  found.delete(file);
  return found;
}

/** Makes `parts` a part of `into`, which exports for the other files what they import from `parts`. */
async function mergeParts(files: Files, into: string, parts: ReadonlySet<string>): Promise<void> {
  const numbers = new Map([...parts].map((part, at) => [part, at]));
  const exported = new Map<string, string>();
  const redirect = (text: string) => {
    const names: string[] = [];
    const rest = text.replace(IMPORT, (statement, list: string | undefined, from: string) => {
      const number = numbers.get(from);
      if (number === undefined && from !== into) return statement;
      for (const item of list?.split(",") ?? []) {
        const [name, local = name] = item.split(" as ");
        const alias = number === undefined ? name : `part${number}_${name}`;
        if (alias !== name) exported.set(alias!, `export{${name} as ${alias}}from"./${from}";`);
        names.push(`${alias} as ${local}`);
      }
      return "";
    });
    return rest === text ? text : `import{${names}}from"./${into}";${rest}`;
  };
  const others = new Map(
    [...files].filter(([name]) => name !== into && !parts.has(name))
      .map(([name, text]) => [name, redirect(text)]),
  );
  const text = files.get(into)! + [...exported.values()].join("");
  const sources: Files = new Map([...parts].map((part) => [part, files.get(part)!]));
  others.set(into, await bundleFiles(sources.set(into, text), into, [...others.keys()]));
  for (const part of parts) files.delete(part);
  for (const [name, text] of others) files.set(name, text);
}

/** Bundles `files` from `entry` on, without the files named in `external`. */
async function bundleFiles(files: Files, entry: string, external: string[]): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-merge-" });
  try {
    for (const [name, text] of files) await Deno.writeTextFile(`${directory}/${name}`, text);
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["bundle", "--quiet", "--no-config", "--no-lock", "--minify"],
        ...external.map((name) => `--external=./${name}`),
        entry,
      ],
      cwd: directory,
      stdout: "piped",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
