/** A base image with programs of this machine and their libraries, as an OCI layout. @module */

import { run, sha256 } from "../../deploy/release/programs.ts";

/** All that the container's entry and a self-extracting executable call. */
const PROGRAMS =
  "sh cat chmod cut find gzip head id ls mkdir mktemp mv rm sha256sum setpriv stat " +
  "sync tail tar uname wc";

const COPY = `
  for name in ${PROGRAMS}; do command -v "$name"; done >"$1/programs"
  { cat "$1/programs"; xargs ldd <"$1/programs" 2>/dev/null; ldd "$2"; } |
    grep -oE '(^|[[:space:]])/[^ :]+' | sort -u | xargs cp -L --parents -t "$1/root"
  [ -e "$1/root/bin" ] || ln -s usr/bin "$1/root/bin"
  mkdir -p "$1/root/tmp" "$1/root/etc" && chmod 1777 "$1/root/tmp"
  tar -cf "$1/layer" -C "$1/root" .`;

/**
 * Writes the layout.
 *
 * @param directory Empty directory for it.
 */
export async function writeBaseImage(directory: string): Promise<void> {
  const work = await Deno.makeTempDir({ prefix: "longshore-base-" });
  await Deno.mkdir(`${work}/root`);
  await Deno.mkdir(`${directory}/blobs/sha256`, { recursive: true });
  try {
    await run("sh", ["-euc", COPY, "sh", work, Deno.execPath()]);
    const layer = await addBlob(directory, `${work}/layer`, "layer.v1.tar");
    const add = async (value: unknown, type: string) => {
      await Deno.writeTextFile(`${work}/json`, JSON.stringify(value));
      return await addBlob(directory, `${work}/json`, type);
    };
    const config = await add({
      architecture: Deno.build.arch === "aarch64" ? "arm64" : "amd64",
      os: "linux",
      config: { Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"] },
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    }, "config.v1+json");
    const manifest = await add({ schemaVersion: 2, config, layers: [layer] }, "manifest.v1+json");
    const index = { schemaVersion: 2, manifests: [manifest] };
    await Deno.writeTextFile(`${directory}/index.json`, JSON.stringify(index));
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function addBlob(directory: string, path: string, type: string) {
  const hash = await sha256(path);
  const { size } = await Deno.stat(path);
  await Deno.copyFile(path, `${directory}/blobs/sha256/${hash}`);
  return { mediaType: `application/vnd.oci.image.${type}`, digest: `sha256:${hash}`, size };
}
