/**
 * Builds the dashboard into `dist/ui.pack`, one file with everything that a browser loads: bundled,
 * named by content and compressed. Does nothing if the sources have not changed.
 *
 *     deno task ui [--watch]
 *
 * With `--watch` it builds again on each change, and open pages reload.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { PackedFile, PackIndex } from "../../routes/dashboard/pack.ts";

const root = new URL("../../", import.meta.url);
const at = (path: string) => new URL(path, root).pathname;

const PACK = at("dist/ui.pack");

/** Inputs of the result, besides this file. */
const SOURCES = ["ui", "LICENSE", "deno.json", "deno.lock"];

/** Delay between a change and the build, in milliseconds: editors write several files at once. */
const SETTLE_MS = 100;

const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/** The script, the style and the module of the page that `UI=off` leaves on, by their names. */
const API_PAGE = /^(main|reference)-/;

const encoder = new TextEncoder();

if (import.meta.main) {
  const isWatching = Deno.args.includes("--watch");
  await buildDashboard(isWatching);
  if (isWatching) await watch();
}

async function watch(): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const _ of Deno.watchFs(at("ui"))) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      buildDashboard(true).catch((error) => console.error((error as Error).message));
    }, SETTLE_MS);
  }
}

/**
 * Builds the pack if the sources have changed.
 *
 * @param isDev Whether open pages reload when the pack has changed.
 */
export async function buildDashboard(isDev = false): Promise<void> {
  const source = await hashOfSources(isDev);
  if (await builtSource() === source) return;
  const bundle = await Deno.makeTempDir({ prefix: "longshore-ui-" });
  try {
    await bundleTo(bundle);
    await writePack(bundle, source, isDev);
  } finally {
    await Deno.remove(bundle, { recursive: true });
  }
}

async function hashOfSources(isDev: boolean): Promise<string> {
  const hash = createHash("sha256").update(isDev ? "dev" : "");
  const paths = (await Promise.all(SOURCES.map((path) => filesOf(path)))).flat().sort();
  for (const path of [new URL(import.meta.url).pathname, ...paths.map(at)]) {
    hash.update(path.slice(root.pathname.length)).update(await Deno.readFile(path));
  }
  return hash.digest("hex");
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await Deno.stat(at(path))).isDirectory) return [path];
  const found: string[] = [];
  for await (const { name } of Deno.readDir(at(path))) {
    found.push(...await filesOf(`${path}/${name}`));
  }
  return found;
}

async function builtSource(): Promise<string | undefined> {
  try {
    const text = await Deno.readTextFile(PACK);
    return (JSON.parse(text.slice(0, text.indexOf("\n"))) as PackIndex).source;
  } catch {
    return undefined; // Not built yet.
  }
}

async function bundleTo(folder: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--frozen", "--platform", "browser", "--code-splitting"],
      ...["--minify", "--outdir", folder, at("ui/main.tsx")],
    ],
    cwd: root,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Names of the files that a file imports before it runs. */
function importsOf(script: Uint8Array): string[] {
  const imports = /(?:from|^import|;import)"\.\/([^"]+)"/g;
  return [...new TextDecoder().decode(script).matchAll(imports)].map(([, name]) => name!);
}

/** Names of the API page's files, with all that they import. */
function filesOfApiPage(contents: ReadonlyMap<string, Uint8Array>): string[] {
  const found = new Set([...contents.keys()].filter((name) => API_PAGE.test(name)));
  for (const name of found) {
    for (const imported of importsOf(contents.get(name)!)) found.add(imported);
  }
  return [...found];
}

/** Lets the browser request the files that the first one imports without reading that first. */
function withPreloads(page: string, main: Uint8Array): string {
  const links = [...new Set(importsOf(main))]
    .map((name) => `  <link rel="modulepreload" href="{{root}}assets/${name}">\n  `);
  return page.replace("</head>", `${links.join("")}</head>`);
}

async function writePack(bundle: string, source: string, isDev: boolean): Promise<void> {
  const files: Record<string, PackedFile> = {};
  const parts: Uint8Array[] = [];
  let offset = 0;
  const add = (bytes: Uint8Array) => {
    parts.push(bytes);
    offset += bytes.length;
    return [offset - bytes.length, bytes.length] as const;
  };
  const contents = new Map<string, Uint8Array>();
  let page = await Deno.readTextFile(at("ui/index.html"));
  for (const name of [...Deno.readDirSync(bundle)].map(({ name }) => name).sort()) {
    const bytes = await Deno.readFile(`${bundle}/${name}`);
    const [, stem, extension] = /^(.*)\.(js|css)$/.exec(name)!;
    const isEntry = stem === "main";
    const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
    // The bundler has already named the other files by their content.
    const packed = isEntry ? `${stem}-${hash}.${extension}` : name;
    if (isEntry) page = page.replaceAll(`{{main.${extension}}}`, packed);
    if (packed.startsWith("main") && extension === "js") page = withPreloads(page, bytes);
    contents.set(packed, bytes);
    files[packed] = {
      type: TYPES[extension!]!,
      br: add(brotliCompressSync(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      })),
      gzip: add(gzipSync(bytes, { level: 9 })),
    };
  }
  const index: PackIndex = {
    source,
    page: isDev ? page.replace("<html", "<html data-dev") : page,
    files,
    apiPage: filesOfApiPage(contents),
  };
  const whole = await new Blob([
    encoder.encode(JSON.stringify(index) + "\n"),
    ...parts as Uint8Array<ArrayBuffer>[],
  ]).bytes();
  await Deno.mkdir(at("dist"), { recursive: true });
  const part = `${PACK}.${Deno.pid}`;
  await Deno.writeFile(part, whole);
  await Deno.rename(part, PACK);
}
