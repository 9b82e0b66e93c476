/**
 * The software bill of materials of a release, as CycloneDX 1.6, made from `deno.lock`.
 *
 * Source of the format: https://cyclonedx.org/docs/1.6/json/
 *
 * @module
 */

/** The parts of `deno.lock` (version 5) that are read. */
export interface LockFile {
  /** From what the program imports to what was resolved, e.g. `npm:zod@4.6.7` to `4.6.7`. */
  specifiers: Record<string, string>;
  /** Packages by `name@version`, with their peers appended: `a@1.0.0_b@2.0.0`. */
  npm: Record<string, { integrity: string; dependencies?: string[] }>;
}

/** The release that the bill is made for. */
export interface Release {
  name: string;
  version: string;
  /** SPDX identifier. */
  license: string;
  /** Time of the released commit, ISO 8601. */
  timestamp: string;
  /** Version of the runtime inside the executable. */
  denoVersion: string;
}

/** A component of a CycloneDX document. */
interface Component {
  type: "application" | "framework" | "library";
  "bom-ref": string;
  name: string;
  version: string;
  purl?: string;
  hashes?: { alg: "SHA-512"; content: string }[];
  licenses?: { license: { id: string } }[];
}

/**
 * Lists the packages that the executable contains, with their hashes and who depends on whom.
 * Packages that only tests import are left out. The same input gives the same document.
 *
 * @param imports The packages that product code imports, as in `deno.json`: `npm:zod@4.6.7`.
 * @throws {Error} When the lock file lacks one of them.
 */
export function billOfMaterials(lock: LockFile, imports: readonly string[], release: Release) {
  const roots = imports.map((specifier) => {
    const resolved = lock.specifiers[specifier];
    if (resolved === undefined) throw new Error(`deno.lock has no entry for ${specifier}`);
    return `${nameOf(specifier.replace(/^npm:/, ""))}@${resolved}`;
  });
  const packages = reachable(lock, roots);
  const root = `pkg:generic/${release.name}@${release.version}`;
  const runtime = `pkg:generic/deno@${release.denoVersion}`;

  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: release.timestamp,
      component: {
        type: "application",
        "bom-ref": root,
        name: release.name,
        version: release.version,
        purl: root,
        licenses: [{ license: { id: release.license } }],
      } satisfies Component,
    },
    components: [
      {
        type: "framework",
        "bom-ref": runtime,
        name: "deno",
        version: release.denoVersion,
        purl: runtime,
        licenses: [{ license: { id: "MIT" } }],
      } satisfies Component,
      ...[...packages.keys()].map((key) => component(key, lock.npm[key]!.integrity)),
    ],
    dependencies: [
      { ref: root, dependsOn: [runtime, ...roots.map(packageUrl)].sort() },
      ...[...packages].map(([key, dependencies]) => ({
        ref: packageUrl(key),
        dependsOn: dependencies.map(packageUrl).sort(),
      })),
    ],
  };
}

/** Each package that a root leads to, with its own dependencies, sorted by key. */
function reachable(lock: LockFile, roots: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const open = [...roots];
  while (open.length > 0) {
    const key = open.pop()!;
    if (found.has(key)) continue;
    const entry = lock.npm[key];
    if (!entry) throw new Error(`deno.lock has no package ${key}`);
    const dependencies = (entry.dependencies ?? []).map((name) => resolve(lock, name));
    found.set(key, dependencies);
    open.push(...dependencies);
  }
  return new Map([...found].sort(([a], [b]) => a < b ? -1 : 1));
}

/** A dependency is named without its version where the lock file has only one. */
function resolve(lock: LockFile, dependency: string): string {
  if (Object.hasOwn(lock.npm, dependency)) return dependency;
  const matches = Object.keys(lock.npm).filter((key) =>
    key.startsWith(`${dependency}@`) || key.startsWith(`${dependency}_`)
  );
  if (matches.length !== 1) {
    throw new Error(`deno.lock has ${matches.length} packages for ${dependency}, expected 1`);
  }
  return matches[0]!;
}

function component(key: string, integrity: string): Component {
  return {
    type: "library",
    "bom-ref": packageUrl(key),
    name: nameOf(key),
    version: versionOf(key),
    purl: packageUrl(key),
    hashes: [{ alg: "SHA-512", content: sha512Hex(integrity) }],
  };
}

/** `@scope/name@1.0.0_peer@2.0.0` is `pkg:npm/%40scope/name@1.0.0`. */
const packageUrl = (key: string) => `pkg:npm/${nameOf(key).replace(/^@/, "%40")}@${versionOf(key)}`;

const nameOf = (key: string) => key.slice(0, key.indexOf("@", 1));

const versionOf = (key: string) => key.slice(key.indexOf("@", 1) + 1).split("_", 1)[0]!;

/** From npm's `sha512-<base64>`. */
function sha512Hex(integrity: string): string {
  const base64 = /^sha512-([A-Za-z0-9+/=]+)$/.exec(integrity)?.[1];
  if (base64 === undefined) throw new Error(`Not a SHA-512 integrity value: ${integrity}`);
  return Uint8Array.fromBase64(base64).toHex();
}
