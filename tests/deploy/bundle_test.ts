/**
 * The bundle of a program means what its sources mean: small programs print the same from both.
 *
 * @module
 */

import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { bundle } from "../../deploy/build/bundle.ts";
import { findMissingUsing } from "../../deploy/build/check_using.ts";
import { temporaryDirectory } from "../helpers/command.ts";
import { CASES, FILES } from "../helpers/language_cases.ts";

const root = new URL("../../", import.meta.url).pathname;

const NAMES = Object.keys(CASES);

/** Written in front of what a case prints. */
const HEAD = "=== ";

const results = once(async () => {
  using directory = temporaryDirectory();
  const sources = `${directory.path}/sources`;
  const bundled = `${directory.path}/bundle`;
  await writeCases(sources);
  await bundle(`${sources}/main.ts`, bundled, root);
  return {
    source: await printed(`${sources}/main.ts`),
    bundle: await printed(`${bundled}/main.js`),
  };
});

for (const [at, name] of NAMES.entries()) {
  Deno.test(`a bundle keeps the meaning of ${name}`, async () => {
    const { source, bundle } = await results();
    notEqual(source[at], undefined);
    notEqual(source[at], "");
    equal(bundle[at], source[at]);
  });
}

const MAKE = `
const make = () => ({ add() {}, [Symbol.dispose]() {}, [Symbol.asyncDispose]: async () => {} });
const all = [make()];`;

for (
  const { text, drops, missing } of [
    {
      text: "using r = make();\n  r.add();",
      drops: "make().add();",
      missing: 'has 1 "using", its bundle 0',
    },
    {
      text: "await using r = make();\n  r.add();",
      drops: "make().add();",
      missing: 'has 1 "await using", its bundle 0',
    },
    {
      text: "await using r = make();\n  r.add();",
      drops: "using r = make();",
      missing: 'has 1 "await using", its bundle 0',
    },
    {
      text: "for (using r of all) r.add();",
      drops: "for (const r of all) r.add();",
      missing: 'has 1 "using", its bundle 0',
    },
  ]
) {
  Deno.test(`findMissingUsing() finds ${text.split("\n")[0]} when the bundle has ${drops}`, async () => {
    using directory = temporaryDirectory();
    const module = `${directory.path}/main.ts`;
    const bundled = `${directory.path}/bundle`;
    await Deno.writeTextFile(module, `${MAKE}\nexport async function f() {\n  ${text}\n}\n`);
    // Paths in a bundle begin where the bundler was started.
    await bundle("main.ts", bundled, directory.path);

    deepEqual(await findMissingUsing("main.ts", bundled, directory.path), []);

    const kept = await Deno.readTextFile(`${bundled}/main.js`);
    const dropped = kept.replace(text, drops);
    notEqual(dropped, kept);
    await Deno.writeTextFile(`${bundled}/main.js`, dropped);
    deepEqual(await findMissingUsing("main.ts", bundled, directory.path), [`${module} ${missing}`]);
  });
}

Deno.test("compile.sh fails when the bundle lacks a using of the sources", async () => {
  using directory = temporaryDirectory();
  // A bundler whose bundle has none. The real one takes seconds.
  const deno = `${directory.path}/deno`;
  await Deno.writeTextFile(
    deno,
    `#!/bin/sh
case $* in
  */bundle.ts*)
    for last in "$@"; do :; done
    mkdir -p "$last"
    echo '// services/renames/rename.ts' >"$last/main.js"
    ;;
  *) exec "${Deno.execPath()}" "$@" ;;
esac
`,
    { mode: 0o755 },
  );

  const { code, stderr } = await new Deno.Command("sh", {
    args: ["compile.sh", "--output", `${directory.path}/longshore`],
    cwd: root,
    env: { DENO: deno },
  }).output();

  const said = new TextDecoder().decode(stderr);
  equal(code, 1, said);
  match(said, /services\/renames\/rename\.ts has 1 "using", its bundle 0\n/);
  match(said, /compile\.sh: the bundler dropped what has to close or release something\.\n$/);
});

async function writeCases(directory: string): Promise<void> {
  await Deno.mkdir(directory);
  const files: Record<string, string> = { ...FILES };
  for (const [at, name] of NAMES.entries()) files[`case${at}.ts`] = CASES[name]!;
  files["main.ts"] = NAMES.map((_, at) =>
    `console.log(${JSON.stringify(HEAD)});\nawait import("./case${at}.ts");\n`
  ).join("");
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${directory}/${name}`, text);
  }
}

/** Output of each case. */
async function printed(path: string): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--no-lock", "--no-prompt", path],
    env: { NO_COLOR: "1" },
  }).output();
  equal(new TextDecoder().decode(stderr), "");
  equal(success, true);
  return new TextDecoder().decode(stdout).split(`${HEAD}\n`).slice(1);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}
