/**
 * The structure of the code, as a test: which folder may import which, no circles of files or features,
 * and where SQL, the engine's API, HTTP and the environment may be used.
 *
 * @module
 */

import { deepEqual, match } from "node:assert/strict";

/** The text of every module by its path, e.g. `services/containers/containers.ts`. */
type Modules = ReadonlyMap<string, string>;

/** Folders each folder may import from, besides itself. */
const MAY_IMPORT: Record<string, string[]> = {
  "main.ts": ["commands"],
  commands: ["routes", "services", "engine", "db", "ui"],
  routes: ["services", "ui"],
  services: ["engine", "db", "deno.json"],
  engine: [],
  db: [],
  ui: ["LICENSE"],
};

/** Names of the second folder of a path that belongs to an edition; all other code is Community. */
const EDITIONS = ["pro", "enterprise"];

/** The only Community files that import editions. */
const TABLES_OF_CONTENTS = ["commands/mod.ts", "routes/editions.ts", "services/editions.ts"];

/**
 * Lists of what features offer and of the parts that they share. They import features, and do not count
 * as one.
 */
const LISTS =
  /^services\/(deps\.ts|message_deps\.ts|editions\.ts|community\/.*|(pro|enterprise)\/mod\.ts)$/;

/** Limit of files directly in `services/`. */
const LOOSE_MAX = 15;

/**
 * Code that belongs to some folders only, with an example. `exceptions` are other files that may have it,
 * such as those that parse external input.
 */
const PLACES: {
  what: string;
  code: RegExp;
  example: string;
  folders: string[];
  exceptions?: RegExp;
}[] = [
  {
    what: "zod",
    code: /from "zod\b/,
    example: `import * as z from "zod";`,
    folders: ["routes"],
    exceptions:
      /^services\/(access\/license\/license\.ts|automation\/integrations\/(adapter|request)\.ts|backup\/storages\/|fleet\/(away\/(answer|box)|copies\/rows|enrolment\/files|link\/control|runs\/answers|waves\/(block|report))\.ts|input\/|snapshots\/read_description\.ts|updates\/trial\/described\.ts|([^/]+\/)+adapters\/)/,
  },
  {
    what: "hono",
    code: /from "@?hono\b/,
    example: `import { Hono } from "hono/tiny";`,
    folders: ["routes"],
  },
  {
    what:
      "a request for files of a container, which endangers its volumes (see the module itself),",
    code: /from "[^"]*\/container_archive\.ts"/,
    example: `import { containerStat } from "../../../engine/container_archive.ts";`,
    folders: ["engine"],
    exceptions: /^services\/(compose|backup\/volumes)\//,
  },
  {
    what: "the environment",
    code: /\bDeno\.env\b|\bprocess\.env\b/,
    example: `Deno.env.get("A")`,
    folders: ["main.ts"],
  },
  {
    what: "the SQLite driver",
    code: /"node:sqlite"/,
    example: `import { DatabaseSync } from "node:sqlite";`,
    folders: ["db"],
  },
  {
    what: "a static import of a module that loads slowly (see services/builtins.ts)",
    code:
      /^(?:import|export) (?!type\b).*from "(?:node:(?!sqlite"|path"|buffer")|prom-client|re2js)/m,
    example: `import { createHash } from "node:crypto";`,
    folders: [],
    // The script of a worker, which is loaded on first use.
    exceptions: /^services\/(compose\/load|git\/fetch)\/worker\.ts$/,
  },
  {
    what: "a static import of a library of sign-in, which is loaded when it is used first",
    code: /^(?:import|export) (?!type\b)[^;]*from "(?:oauth4webapi|uqr|@simplewebauthn\/server)"/m,
    example: `import * as oauth from "oauth4webapi";`,
    folders: [],
    // Loaded by `import()` themselves.
    exceptions:
      /^services\/access\/(oidc\/(client|provider_errors)|factors\/webauthn_library)\.ts$/,
  },
  {
    what:
      "a named import of zod (import it as a namespace, or the bundle contains all its locales)",
    code: /^import (?:type )?\{[^}]*\bz\b[^}]*\} from "zod"|import\("zod"\)/m,
    example: `import { z } from "zod";`,
    folders: [],
  },
  {
    // Also, not every browser knows it.
    what: "`using`, which the minified bundle of the dashboard would lose,",
    code: /^\s*(await )?using \w/m,
    example: "  using file = open();",
    folders: ["commands", "db", "engine", "routes", "services"],
  },
  {
    what: "SQL",
    code:
      /["'`]\s*(SELECT\s|INSERT\s+(INTO|OR)\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|(CREATE|ALTER|DROP)\s+(UNIQUE\s+)?(TABLE|INDEX|TRIGGER|VIEW)\s|PRAGMA\s|VACUUM\b|WITH\s+\w+\s+AS\s*\()/,
    example: "db.all(`\n  SELECT id FROM users`)",
    folders: ["db"],
  },
  {
    what: "a request to the engine",
    code: /\bengine\.(request|json|upgrade)\s*[(<]/,
    example: `deps.engine.json<Info>("GET", path)`,
    folders: ["engine"],
  },
  {
    what: "a path of the engine's API",
    code:
      /["'`]\/(v1\.\d\d\/)?(containers\/|images\/|networks\/|volumes\/|exec\/|system\/df|build\/prune|_ping)/,
    example: "`/containers/${id}/json`",
    folders: ["engine", "routes", "ui"],
    // Paths in snapshots.
    exceptions: /^(services|commands)\/snapshots|^services\/backup\/trees/,
  },
];

const root = new URL("../../", import.meta.url);
const code = await readCode();

Deno.test("folders import only downwards", () => deepEqual(upwardImports(code), []));

Deno.test("Community does not import Pro or Enterprise, and these two do not import each other", () =>
  deepEqual(importsAcrossEditions(code), []));

Deno.test("features form no circle", () => deepEqual(featureCircles(code), []));

Deno.test("features import only those above them in the table of ARCHITECTURE.md", async () => {
  const page = await Deno.readTextFile(new URL("ARCHITECTURE.md", root));
  const table = page.slice(page.indexOf("## The features"), page.indexOf("## Glossary"));
  const rows = table.split("\n").filter((line) => line.startsWith("| `"))
    .map((row) =>
      [...row.split("|")[1]!.matchAll(/`([a-z]+)`/g)].map(([, name]) => `services/${name}`)
    );
  const rowOf = (name: string) => rows.findIndex((row) => row.includes(name));
  const features = [...code.keys()].filter((path) =>
    /^services\/(?!pro|enterprise)\w+\//.test(path)
  );
  deepEqual(features.filter((path) => rowOf(feature(path)!) < 0), []);
  const wrong = edges(code).filter(([from, to]) => {
    const [a, b] = [rowOf(feature(from) ?? ""), rowOf(feature(to) ?? "")];
    return a >= 0 && b >= 0 && feature(from) !== feature(to) && b >= a && !LISTS.test(from);
  });
  deepEqual(wrong.map(arrow), []);
});

Deno.test(`at most ${LOOSE_MAX} files of services/ belong to no feature`, () => {
  const loose = [...code.keys()].filter((path) => /^services\/[^/]+$/.test(path));
  deepEqual(loose.slice(LOOSE_MAX), []);
});

Deno.test("file names do not repeat the name of their folder", () =>
  deepEqual(repeatedNames(code), []));

Deno.test("there are no import circles", () => deepEqual(circles(code), []));

Deno.test("every import names its module, and that module exists", () =>
  deepEqual(unknownImports(code), []));

for (const { what, code: pattern, example, folders, exceptions } of PLACES) {
  Deno.test(`${what} occurs in ${folders.join(" and ")} only`, () => {
    match(example, pattern);
    const wrong = [...code].filter(([path, text]) =>
      pattern.test(text) && !folders.includes(folder(path)) && !exceptions?.test(path)
    );
    deepEqual(wrong.map(([path]) => path), []);
  });
}

// The checks themselves: each must find an example.
for (
  const [wrong, check, modules, found] of [
    ["an upward import", upwardImports, {
      "db/a.ts": `import type { B } from "../services/b.ts";`,
      "services/b.ts": "",
    }, /^db\/a\.ts -> services\/b\.ts$/],
    ["an upward import at run time", upwardImports, {
      "engine/a.ts": `await import("../db/b.ts");`,
      "db/b.ts": "",
    }, /^engine\/a\.ts -> db\/b\.ts$/],
    ["an import by a new folder", upwardImports, {
      "misc/a.ts": `export * from "../db/b.ts";`,
      "db/b.ts": "",
    }, /^misc\/a\.ts -> db\/b\.ts$/],
    ["a feature that imports Pro", importsAcrossEditions, {
      "services/a/a.ts": `import "../../db/pro/b.ts";`,
      "db/pro/b.ts": "",
    }, /^services\/a\/a\.ts -> db\/pro\/b\.ts$/],
    ["a loose file that imports Pro", importsAcrossEditions, {
      "routes/app.ts": `import { b } from "./pro/b.ts";`,
      "routes/pro/b.ts": "",
    }, /^routes\/app\.ts -> routes\/pro\/b\.ts$/],
    ["a circle of features", featureCircles, {
      "services/a/one.ts": `import type { B } from "../b/two.ts";`,
      "services/b/two.ts": "",
      "services/b/three.ts": `import "../pro/c/four.ts";`,
      "services/pro/c/four.ts": `import "../../a/five.ts";`,
      "services/a/five.ts": "",
    }, /^services\/a -> services\/b -> services\/pro\/c -> services\/a$/],
    ["a loose file that imports a feature which imports it", featureCircles, {
      "services/loose.ts": `import "./a/one.ts";`,
      "services/a/one.ts": "",
      "services/a/two.ts": `import "../loose.ts";`,
    }, /^services\/loose\.ts -> services\/a -> services\/loose\.ts$/],
    ["a circle", circles, {
      "db/a.ts": `import "./b.ts";`,
      "db/b.ts": `export { c } from "./c.ts";`,
      "db/c.ts": `const a = await import("./a.ts");`,
    }, /^db\/a\.ts -> db\/b\.ts -> db\/c\.ts -> db\/a\.ts$/],
    ["a feature that imports a feature of another edition", importsAcrossEditions, {
      "services/pro/a/b.ts": `import "../../enterprise/c/d.ts";`,
      "services/enterprise/c/d.ts": "",
    }, /^services\/pro\/a\/b\.ts -> services\/enterprise\/c\/d\.ts$/],
    ["an import with a computed name", unknownImports, {
      "db/a.ts": "await import(`./${name}.ts`);",
    }, /^db\/a\.ts: import\(/],
    [
      "an import of a missing module",
      unknownImports,
      { "db/a.ts": `import "./b.ts";` },
      /^db\/a\.ts -> db\/b\.ts$/,
    ],
  ] as const
) {
  Deno.test(`the structure tests find ${wrong}`, () => {
    const all = new Map(Object.entries(modules));
    match(check(all).join("\n"), found);
    deepEqual(
      check(new Map([...all].map(([path, text]) => [path, withoutComments(`/*${text}*/`)]))),
      [],
    );
  });
}

Deno.test("the structure tests find a file name that repeats its folder", () => {
  const paths = ["services/alerts/alert_rules.ts", "services/alerts/alerts.ts", "db/b.ts"];
  deepEqual(repeatedNames(new Map(paths.map((path) => [path, ""]))), paths.slice(0, 1));
});

Deno.test("withoutComments() keeps strings and patterns that look like comments", () => {
  for (
    const [text, rest] of [
      [`a("http://x"); // "b"`, `a("http://x"); `],
      ["`/*` + c /* d */ + '//'", "`/*` + c  + '//'"],
      [`x.replace(/"\\/*[/"]/g, "") // e`, `x.replace(/"\\/*[/"]/g, "") `],
      ["/** `f */ g", " g"],
      ["a / b // c / d", "a / b "],
    ] as const
  ) deepEqual(withoutComments(text), rest);
});

function upwardImports(modules: Modules): string[] {
  return edges(modules).filter(([from, to]) => {
    const [a, b] = [folder(from), folder(to)];
    return a !== b && !MAY_IMPORT[a]?.includes(b);
  }).map(arrow);
}

function importsAcrossEditions(modules: Modules): string[] {
  return edges(modules).filter(([from, to]) => {
    const [a, b] = [edition(from), edition(to)];
    return b && a !== b && !TABLES_OF_CONTENTS.includes(from);
  }).map(arrow);
}

/** Circles of files. */
function circles(modules: Modules): string[] {
  return circlesOf(new Map([...modules].map(([path, text]) => [path, imports(path, text)])));
}

/** Circles of the folders of `services/`, and of its loose files. */
function featureCircles(modules: Modules): string[] {
  const graph = new Map<string, string[]>();
  for (const [from, to] of edges(modules)) {
    const [a, b] = [feature(from), feature(to)];
    if (!a || !b || a === b || LISTS.test(from)) continue;
    graph.set(a, [...graph.get(a) ?? [], b]);
  }
  return circlesOf(graph);
}

/** E.g. `services/alerts` or `services/pro/sla`; `undefined` outside of `services/`. */
function feature(path: string): string | undefined {
  return /^services\/(?:(?:pro|enterprise)\/)?[^/]+/.exec(path)?.[0];
}

/** Every circle once, as the path that closes it. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (node: string, way: string[]) => {
    if (way.includes(node)) {
      return void found.push([...way.slice(way.indexOf(node)), node].join(" -> "));
    }
    if (done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...way, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return found;
}

/**
 * `services/alerts/alert_rules.ts` is `rules.ts` in this folder. The file of the folder's main
 * record may have its name.
 */
function repeatedNames(modules: Modules): string[] {
  return [...modules.keys()].filter((path) => {
    const [name, parent = ""] = path.replace(/\.tsx?$/, "").split("/").reverse();
    return name!.startsWith(`${parent}_`) || name!.startsWith(`${parent.replace(/s$/, "")}_`);
  });
}

/** A bundle contains only modules that are imported by a literal name. */
function unknownImports(modules: Modules): string[] {
  const computed = [...modules].flatMap(([path, text]) =>
    [...text.matchAll(/\bimport\((?!\s*"[^"]+"\s*[,)]).*/g)].map(([call]) => `${path}: ${call}`)
  );
  const missing = edges(modules).filter(([, to]) => /\.tsx?$/.test(to) && !modules.has(to));
  return [...computed, ...missing.map(arrow)];
}

function edges(modules: Modules): [from: string, to: string][] {
  return [...modules].flatMap(([from, text]) =>
    imports(from, text).map((to): [string, string] => [from, to])
  );
}

const arrow = ([from, to]: [string, string]) => `${from} -> ${to}`;

/** Paths of our own modules that a module imports, exports from, or starts as a worker. */
function imports(path: string, text: string): string[] {
  const found = text.matchAll(
    /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"|\bnew URL\(\s*"(\.[^"]+\.ts)",\s*import\.meta\.url/g,
  );
  return [...found].map(([, imported, worker]) =>
    new URL((imported ?? worker)!, new URL(path, root)).href.slice(root.href.length)
  );
}

function folder(path: string): string {
  return path.split("/")[0]!;
}

function edition(path: string): string | undefined {
  return EDITIONS.find((name) => path.split("/")[1] === name);
}

/** Every module of the program, without its comments. */
async function readCode(): Promise<Modules> {
  const found = new Map<string, string>();
  const read = async (path: string) => {
    found.set(path, withoutComments(await Deno.readTextFile(new URL(path, root))));
  };
  const walk = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
      const path = `${folder}/${name}`;
      if (isDirectory) await walk(path);
      else if (/\.tsx?$/.test(name)) await read(path);
    }
  };
  for (const folder of Object.keys(MAY_IMPORT)) {
    await (folder.endsWith(".ts") ? read(folder) : walk(folder));
  }
  return found;
}

/** Removes comments, but not from strings and patterns. */
function withoutComments(text: string): string {
  const kept = String
    .raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|${"`"}(?:\\.|[^${"`"}\\])*${"`"}` +
    String.raw`|(?<=[=(,:;!&|?{}[\n]\s*)/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+/`;
  const comment = String.raw`//[^\n]*|/\*[\s\S]*?\*/`;
  return text.replace(new RegExp(`(${kept})|${comment}`, "g"), "$1");
}
