/** `ui/README.md`, as far as it can be compared with the code. @module */

import { deepEqual, equal } from "node:assert/strict";

const root = new URL("../../", import.meta.url);
const readme = await Deno.readTextFile(new URL("ui/README.md", root));

Deno.test("the examples of ui/README.md compile as the modules that they name", async () => {
  const examples = [...readme.matchAll(/^```tsx\n\/\/ (ui\/\S+)\n(.*?)^```$/gms)];
  equal(examples.length, readme.split("```tsx").length - 1, "each example begins with its path");
  equal(examples.length > 0, true);
  const folder = await Deno.makeTempDir({ prefix: "longshore-examples-" });
  try {
    const paths: string[] = [];
    for (const [, path, code] of examples) {
      paths.push(`${folder}/${path}`);
      await Deno.mkdir(new URL(".", `file://${folder}/${path}`), { recursive: true });
      await Deno.writeTextFile(`${folder}/${path}`, code!);
    }
    const { imports } = await readJson("deno.json");
    const { compilerOptions } = await readJson("ui/deno.json");
    // Imports of an example are those of the dashboard.
    const own = { [`file://${folder}/ui/`]: new URL("ui/", root).href };
    await Deno.writeTextFile(
      `${folder}/deno.json`,
      JSON.stringify({ imports: { ...imports, ...own }, compilerOptions }),
    );
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--no-lock", "--config", `${folder}/deno.json`, ...paths],
      cwd: folder,
      stdout: "null",
      stderr: "piped",
    }).output();
    equal(success, true, new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the components that ui/README.md names are exported, and its files exist", async () => {
  const code: string[] = [];
  for (const folder of ["base", "components", "parts", "state"]) {
    for (const { name } of Deno.readDirSync(new URL(`ui/${folder}/`, root))) {
      if (/\.tsx?$/.test(name)) {
        code.push(await Deno.readTextFile(new URL(`ui/${folder}/${name}`, root)));
      }
    }
  }
  const exported = new Set(
    code.join("\n").matchAll(/^export (?:async )?(?:function|const) (\w+)/gm).map(([, name]) =>
      name
    ),
  );
  const [, list] = /^## Components$(.*?)^## Rules$/ms.exec(readme)!;
  const names = [...list!.matchAll(/`(\w+)(?:\(\))?`/g)].map(([, name]) => name!);
  equal(names.length > 40, true);
  deepEqual(names.filter((name) => !exported.has(name)), []);

  const files = [...readme.matchAll(/`((?:ui|tests|deploy)\/[\w./]+)`/g)].map(([, path]) => path!);
  const missing: string[] = [];
  for (const path of files) {
    await Deno.stat(new URL(path, root)).catch(() => missing.push(path));
  }
  deepEqual(missing, []);
});

const readJson = async (path: string) => JSON.parse(await Deno.readTextFile(new URL(path, root)));
