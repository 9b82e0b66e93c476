/**
 * Prepares and builds releases.
 *
 *     deno task release prepare VERSION
 *     deno task release build [--sign KEY] [--out DIRECTORY] [--target TRIPLE ...] [--base IMAGE]
 *                             [--url ADDRESS]
 *     deno task release install-script [--key FILE.pub] [--url ADDRESS]
 *     deno task release sbom
 *
 * @module
 */

import { parseArgs } from "node:util";
import manifest from "../../deno.json" with { type: "json" };
import { closeSection, sectionOf } from "./changelog.ts";
import releaseKeys from "../../services/release/release_keys.json" with { type: "json" };
import { writeImage } from "./image.ts";
import { type Installer, installScript } from "./install_script.ts";
import { ReleaseError, run, sha256 } from "./programs.ts";
import { billOfMaterials, type LockFile } from "./sbom.ts";

const USAGE = `Prepares and builds releases.

Usage: deno task release prepare VERSION
       deno task release build [--sign KEY] [--out DIRECTORY] [--target TRIPLE ...]
                               [--base IMAGE] [--url ADDRESS]
       deno task release install-script [--key FILE.pub] [--url ADDRESS]
       deno task release sbom

prepare writes VERSION into deno.json and closes the section "Unreleased" of CHANGELOG.md.
  Review and commit the result, then tag the commit.

build builds each executable twice, fails unless both builds have the same bytes, and writes the
  executables, the files of the systemd service, install.sh, the images, the change notes, a
  CycloneDX bill of materials and SHA256SUMS.
  --sign KEY       sign SHA256SUMS with this SSH private key (ssh-keygen -Y, namespace "file"), an
                   Ed25519 key whose public half services/release/release_keys.json lists
  --out DIRECTORY  where the files go (dist/release); it must be empty or absent
  --target TRIPLE  another system, see compile.sh --help; may be repeated
  --base IMAGE     also write an image for each target, with the layers of this base: an OCI layout
                   (directory or tar archive, e.g. of skopeo copy --all docker://debian:bookworm-slim
                   oci-archive:base.tar) with the processors of all targets
  --url ADDRESS    where install.sh downloads the files of the release; VERSION stands for the version

install-script prints an install.sh for tests: with the key in FILE.pub instead of the release keys.

sbom prints the bill of materials.`;

/** The folders whose code goes into the executable. */
const PRODUCT = ["main.ts", "commands", "routes", "services", "engine", "db", "ui"];

const root = new URL("../../", import.meta.url);

/** Files of the systemd service, by their name in a release. */
const SERVICE_FILES = {
  "longshore.service": "deploy/longshore.service",
  "longshore-update-trial": "deploy/update_trial.sh",
};

if (import.meta.main) {
  try {
    await main(Deno.args);
  } catch (error) {
    console.error(`release: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
}

async function main([command, ...args]: readonly string[]): Promise<void> {
  switch (command) {
    case "prepare":
      return await prepare(args);
    case "build":
      return await build(args);
    case "install-script":
      return await printInstallScript(args);
    case "sbom":
      return console.log(await sbom());
    case "help":
    case "--help":
    case "-h":
    case undefined:
      return console.log(USAGE);
    default:
      throw new ReleaseError(`Unknown command ${command}; see: deno task release help`);
  }
}

async function prepare([version, ...rest]: readonly string[]): Promise<void> {
  if (version === undefined || rest.length > 0 || !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
    throw new ReleaseError("Expected one version such as 1.2.3");
  }
  const changelogFile = new URL("CHANGELOG.md", root);
  const manifestFile = new URL("deno.json", root);
  const today = new Date().toISOString().slice(0, 10);
  const changelog = closeSection(await Deno.readTextFile(changelogFile), version, today);
  const text = await Deno.readTextFile(manifestFile);
  await Deno.writeTextFile(changelogFile, changelog);
  await Deno.writeTextFile(
    manifestFile,
    text.replace(`"version": "${manifest.version}"`, `"version": "${version}"`),
  );
  console.log(`Version ${version} prepared. Review, commit, then: git tag v${version}`);
}

async function build(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      sign: { type: "string" },
      out: { type: "string", default: "dist/release" },
      target: { type: "string", multiple: true, default: [Deno.build.target] },
      base: { type: "string" },
      url: { type: "string", default: "" },
    },
  });
  const { version } = manifest;
  const notes = sectionOf(await Deno.readTextFile(new URL("CHANGELOG.md", root)), version);
  if (notes === undefined) {
    throw new ReleaseError(
      `CHANGELOG.md has no section ${version}; run: deno task release prepare`,
    );
  }
  if ((await run("git", ["status", "--porcelain"])) !== "") {
    throw new ReleaseError("The work tree has uncommitted changes; commit or stash them first");
  }
  if (values.sign !== undefined) await assertBuiltIn(`${values.sign}.pub`);
  const out = await emptyDirectory(values.out);
  const created = await commitTime();
  for (const target of values.target) {
    const executable = `${out}/longshore-${version}-${target}`;
    await buildTwice(executable, target);
    if (values.base === undefined) continue;
    await writeImage(`${executable}.oci.tar`, {
      version,
      target,
      base: values.base,
      executable,
      created,
    });
  }
  await Deno.writeTextFile(`${out}/CHANGES.md`, `${notes}\n`);
  await Deno.writeTextFile(`${out}/longshore-${version}.cdx.json`, `${await sbom()}\n`);
  await writeServiceFiles(out, { version, url: values.url, keys: releaseKeys.keys });
  await writeSums(out);
  if (values.sign !== undefined) await sign(`${out}/SHA256SUMS`, values.sign);
  console.log(`Release ${version} is in ${out}`);
}

/** Writes `install.sh` and the files that it installs next to the executable. */
export async function writeServiceFiles(out: string, installer: Installer): Promise<void> {
  await Deno.writeTextFile(`${out}/install.sh`, await installScript(installer), { mode: 0o755 });
  for (const [name, path] of Object.entries(SERVICE_FILES)) {
    await Deno.copyFile(new URL(path, root), `${out}/${name}`);
  }
}

async function printInstallScript(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { key: { type: "string" }, url: { type: "string", default: "" } },
  });
  const keys = values.key === undefined ? releaseKeys.keys : [await Deno.readTextFile(values.key)];
  const script = await installScript({ version: manifest.version, url: values.url, keys });
  await new Blob([script]).stream().pipeTo(Deno.stdout.writable);
}

/** @throws {ReleaseError} When two builds of the same source differ. */
async function buildTwice(file: string, target: string): Promise<void> {
  const again = `${file}.again`;
  for (const output of [file, again]) {
    await run("./compile.sh", ["--output", output, "--target", target]);
  }
  const [first, second] = [await sha256(file), await sha256(again)];
  await Deno.remove(again);
  if (first !== second) {
    throw new ReleaseError(`Two builds for ${target} differ: SHA-256 ${first} and ${second}`);
  }
}

/** The bill of materials of this checkout, as JSON text. */
export async function sbom(): Promise<string> {
  const lock: LockFile = JSON.parse(await Deno.readTextFile(new URL("deno.lock", root)));
  const document = billOfMaterials(lock, await productImports(), {
    name: "longshore",
    version: manifest.version,
    license: manifest.license,
    timestamp: await commitTime(),
    denoVersion: Deno.version.deno,
  });
  return JSON.stringify(document, null, 2);
}

/** Time of the commit, ISO 8601 in UTC. */
async function commitTime(): Promise<string> {
  return new Date(await run("git", ["log", "-1", "--format=%cI"])).toISOString();
}

/** The specifiers of `deno.json` that product code imports. */
async function productImports(): Promise<string[]> {
  const texts = await Promise.all((await sources(PRODUCT)).map((path) => Deno.readTextFile(path)));
  const imported = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([^."][^"]*)"/g)].map(([, name]) =>
        name!.split("/").slice(0, name!.startsWith("@") ? 2 : 1).join("/")
      )
    ),
  );
  return Object.entries(manifest.imports)
    .filter(([name]) => imported.has(name))
    .map(([, specifier]) => specifier)
    .sort();
}

async function sources(paths: readonly string[]): Promise<URL[]> {
  const found: URL[] = [];
  for (const path of paths) {
    if (/\.tsx?$/.test(path)) found.push(new URL(path, root));
    else if (!/\.\w+$/.test(path)) {
      const names = (await Array.fromAsync(Deno.readDir(new URL(path, root)))).map(({ name }) =>
        name
      );
      found.push(...await sources(names.sort().map((name) => `${path}/${name}`)));
    }
  }
  return found;
}

/** @throws {ReleaseError} When `longshore self-update` would not trust signatures with this key. */
async function assertBuiltIn(publicKeyFile: string): Promise<void> {
  const algorithmAndKey = (text: string) => text.trim().split(" ", 2).join(" ");
  const { keys }: { keys: string[] } = releaseKeys;
  const publicKey = algorithmAndKey(await Deno.readTextFile(publicKeyFile));
  if (!keys.some((key) => algorithmAndKey(key) === publicKey)) {
    throw new ReleaseError(
      `services/release/release_keys.json does not list the key of ${publicKeyFile}; add and commit it`,
    );
  }
}

/** Writes the checksums of all files of the directory, in the form that `sha256sum -c` reads. */
export async function writeSums(directory: string): Promise<void> {
  const names = (await Array.fromAsync(Deno.readDir(directory))).map(({ name }) => name).sort();
  const lines = await Promise.all(
    names.map(async (name) => `${await sha256(`${directory}/${name}`)}  ${name}\n`),
  );
  await Deno.writeTextFile(`${directory}/SHA256SUMS`, lines.join(""));
}

/** Signs a file; the signature goes next to it, as `FILE.sig`. */
export async function sign(file: string, key: string): Promise<void> {
  await run("ssh-keygen", ["-Y", "sign", "-f", key, "-n", "file", file]);
}

async function emptyDirectory(path: string): Promise<string> {
  await Deno.mkdir(path, { recursive: true });
  for await (const { name } of Deno.readDir(path)) {
    throw new ReleaseError(`${path} is not empty: it contains ${name}`);
  }
  return await Deno.realPath(path);
}
