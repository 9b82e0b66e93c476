/**
 * The container image of a release: the layers of a base image and one of ours, as an OCI layout in a
 * tar archive. No engine takes part, and the same input gives the same bytes.
 *
 * Source of the formats: https://github.com/opencontainers/image-spec (layout, index, manifest,
 * config). `manifest.json` is that of `docker save`, for `docker load` of all versions.
 *
 * @module
 */

import { ReleaseError, run, sha256 } from "./programs.ts";

const MEDIA = "application/vnd.oci.image";

/** Names of processors in images, by their name in targets. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "amd64", aarch64: "arm64" };

/** Owner of the data directory, and user of the program; see `deploy/container_entry.sh`. */
const OWNER = 65532;

/** Health checks are an extension of Docker. */
const HEALTHCHECK = {
  Test: ["CMD", "longshore", "healthcheck"],
  Interval: 30_000_000_000,
  Timeout: 5_000_000_000,
  StartPeriod: 20_000_000_000,
};

const ENVIRONMENT = [
  "DATA_DIR=/data",
  "LONGSHORE_RUNTIME_DIR=/opt/longshore",
  // As the self-extracting file sets it: an idle service is some 2 MB smaller.
  "MALLOC_ARENA_MAX=1",
  "MALLOC_TRIM_THRESHOLD_=131072",
];

/** Content of an image. */
export interface ImageSource {
  version: string;
  /** E.g. `x86_64-unknown-linux-gnu`. */
  target: string;
  /** OCI layout of the base image: a directory or a tar archive. */
  base: string;
  /** The executable for the target. */
  executable: string;
  /** Time of the released commit, ISO 8601. */
  created: string;
  /** Level of `gzip` for our layer, 1 (fastest) to 9; default: 6. */
  level?: number;
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { architecture: string; os: string };
}

interface Manifest {
  config: Descriptor;
  layers: Descriptor[];
}

interface Config {
  architecture: string;
  config?: { Env?: string[] };
  rootfs: { type: string; diff_ids: string[] };
  history?: unknown[];
}

/**
 * Writes the image of a target to an archive.
 *
 * @throws {ReleaseError} If the base has no image for the target or is damaged.
 */
export async function writeImage(archive: string, source: ImageSource): Promise<void> {
  const architecture = ARCHITECTURES[source.target.split("-")[0]!];
  if (architecture === undefined) throw new ReleaseError(`No image for ${source.target}`);
  const work = await Deno.makeTempDir({ prefix: "longshore-image-" });
  try {
    const layout = `${work}/layout`;
    await Deno.mkdir(`${layout}/blobs/sha256`, { recursive: true });
    const base = await openLayout(source.base, `${work}/base`);
    const manifest = await findManifest(base, architecture);
    const config: Config = await readBlob(base, manifest.config);
    for (const layer of manifest.layers) await copyBlob(base, layout, layer);
    const layer = await writeLayer(work, source);
    manifest.layers.push(await addBlob(layout, layer.path, `${MEDIA}.layer.v1.tar+gzip`));
    await writeIndex(layout, manifest, ownConfig(config, layer.diffId, source), source);
    await archiveDirectory(archive, layout, Date.parse(source.created) / 1000);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** @returns The directory of the layout, into which an archive is unpacked. */
async function openLayout(path: string, directory: string): Promise<string> {
  if ((await Deno.stat(path)).isDirectory) return await Deno.realPath(path);
  await Deno.mkdir(directory);
  await run("tar", ["-xf", await Deno.realPath(path), "-C", directory]);
  return directory;
}

async function findManifest(layout: string, architecture: string): Promise<Manifest> {
  const index: { manifests: Descriptor[] } = JSON.parse(
    await Deno.readTextFile(`${layout}/index.json`),
  );
  const queue = [...index.manifests];
  for (let each; (each = queue.shift()) !== undefined;) {
    if (each.platform !== undefined && each.platform.architecture !== architecture) continue;
    const found: Partial<Manifest> & { manifests?: Descriptor[] } = await readBlob(layout, each);
    if (found.manifests) queue.push(...found.manifests);
    else if (found.config && found.layers) {
      const config: Config = await readBlob(layout, found.config);
      if (config.architecture === architecture) {
        return { config: found.config, layers: found.layers };
      }
    }
  }
  throw new ReleaseError(`${layout} has no image for ${architecture}`);
}

const blob = (layout: string, digest: string) => {
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new ReleaseError(`Unknown digest ${digest}`);
  return `${layout}/blobs/${digest.replace(":", "/")}`;
};

async function assertIntact(path: string, { digest }: Descriptor): Promise<void> {
  if (`sha256:${await sha256(path)}` !== digest) throw new ReleaseError(`${path} is damaged`);
}

async function readBlob<T>(layout: string, descriptor: Descriptor): Promise<T> {
  const path = blob(layout, descriptor.digest);
  await assertIntact(path, descriptor);
  return JSON.parse(await Deno.readTextFile(path));
}

async function copyBlob(from: string, to: string, descriptor: Descriptor): Promise<void> {
  await Deno.copyFile(blob(from, descriptor.digest), blob(to, descriptor.digest));
  await assertIntact(blob(to, descriptor.digest), descriptor);
}

/** Moves a file into the layout. */
async function addBlob(layout: string, path: string, mediaType: string): Promise<Descriptor> {
  const { size } = await Deno.stat(path);
  const digest = `sha256:${await sha256(path)}`;
  await Deno.rename(path, blob(layout, digest));
  return { mediaType, digest, size };
}

async function addJson(layout: string, value: unknown, mediaType: string): Promise<Descriptor> {
  const path = `${layout}/new.json`;
  await Deno.writeTextFile(path, JSON.stringify(value));
  return await addBlob(layout, path, mediaType);
}

/** @returns The compressed layer with the program, and the digest of its content. */
async function writeLayer(
  work: string,
  { executable, created, level = 6 }: ImageSource,
): Promise<{ path: string; diffId: string }> {
  const files = `${work}/files`;
  const program = `${files}/usr/local/lib/longshore/longshore`;
  const entry = new URL("../container_entry.sh", import.meta.url).pathname;
  for (const name of ["usr/local/bin", "usr/local/lib/longshore", "opt/longshore", "data"]) {
    await Deno.mkdir(`${files}/${name}`, { recursive: true });
  }
  await run("install", ["-m", "755", entry, `${files}/usr/local/bin/longshore`]);
  await run("install", ["-m", "755", await Deno.realPath(executable), program]);
  await unpackRuntime(program, `${files}/opt/longshore`);
  await run("chmod", ["-R", "u=rwX,go=rX", files]);
  await Deno.chmod(`${files}/data`, 0o700);

  const path = `${work}/layer.tar`;
  const time = Date.parse(created) / 1000;
  await tar(["-cf", path, "-C", files, "usr", "opt"], 0, time);
  // The owner of a directory becomes that of a new volume in its place.
  await tar(["-rf", path, "-C", files, "data"], OWNER, time);
  const diffId = `sha256:${await sha256(path)}`;
  await run("gzip", ["-n", `-${level}`, path]);
  return { path: `${path}.gz`, diffId };
}

/** Unpacks what unpacks itself, so that the container's own file system can be read-only. */
async function unpackRuntime(program: string, directory: string): Promise<void> {
  using file = await Deno.open(program);
  const start = new Uint8Array(2);
  await file.read(start);
  if (new TextDecoder().decode(start) !== "#!") return;
  await run(program, ["version"], { LONGSHORE_RUNTIME_DIR: directory });
  for await (const { name } of Deno.readDir(directory)) {
    if (name.startsWith("cache-")) await Deno.remove(`${directory}/${name}`, { recursive: true });
  }
}

function ownConfig(base: Config, diffId: string, { created, version }: ImageSource) {
  return {
    ...base,
    created,
    config: {
      ...base.config,
      Env: [...base.config?.Env ?? [], ...ENVIRONMENT],
      Entrypoint: ["longshore"],
      Cmd: ["serve"],
      ExposedPorts: { "3000/tcp": {} },
      Volumes: { "/data": {} },
      Healthcheck: HEALTHCHECK,
      Labels: {
        "org.opencontainers.image.title": "Longshore",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "MIT",
      },
    },
    rootfs: { type: "layers", diff_ids: [...base.rootfs.diff_ids, diffId] },
    history: [...base.history ?? [], { created, created_by: `longshore ${version}` }],
  };
}

async function writeIndex(
  layout: string,
  { layers }: Manifest,
  config: ReturnType<typeof ownConfig>,
  { version }: ImageSource,
): Promise<void> {
  const added = await addJson(layout, config, `${MEDIA}.config.v1+json`);
  const mediaType = `${MEDIA}.manifest.v1+json`;
  const manifest = { schemaVersion: 2, mediaType, config: added, layers };
  const descriptor: Descriptor = {
    ...await addJson(layout, manifest, mediaType),
    platform: { architecture: config.architecture, os: "linux" },
  };
  const name = `longshore:${version}`;
  // Podman names what it loads by the first one, containerd by the second one.
  const annotations = {
    "org.opencontainers.image.ref.name": name,
    "io.containerd.image.name": `docker.io/library/${name}`,
  };
  const path = ({ digest }: Descriptor) => blob("", digest).slice(1);
  const files = {
    "oci-layout": { imageLayoutVersion: "1.0.0" },
    "index.json": { schemaVersion: 2, manifests: [{ ...descriptor, annotations }] },
    "manifest.json": [
      { Config: path(added), RepoTags: [name], Layers: layers.map(path) },
    ],
  };
  for (const [name, value] of Object.entries(files)) {
    await Deno.writeTextFile(`${layout}/${name}`, JSON.stringify(value));
  }
}

async function archiveDirectory(archive: string, directory: string, time: number): Promise<void> {
  await run("chmod", ["-R", "u=rwX,go=rX", directory]);
  await tar(["-cf", archive, "-C", directory, "."], 0, time);
}

/** Runs GNU tar so that nothing of this machine gets into the archive. */
async function tar(args: string[], owner: number, time: number): Promise<void> {
  const fixed = ["--format=ustar", "--sort=name", "--numeric-owner", `--mtime=@${time}`];
  await run("tar", [...fixed, `--owner=${owner}`, `--group=${owner}`, ...args]);
}
