/**
 * Files in a container, read and written through the engine.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { ifThere } from "./errors.ts";
import { segment } from "./path.ts";

/**
 * Whether a path exists in a container or its volumes. Files in a tmpfs are not visible.
 *
 * @param path Absolute, as the container sees it.
 * @returns `false` also if the container does not exist.
 */
export async function containerHasPath(
  engine: Engine,
  id: string,
  path: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  const response = await ifThere(
    engine.request("HEAD", `/containers/${segment("container", id)}/archive`, {
      query: { path },
      signal,
    }).then((response) => response.bytes()),
  );
  return response !== undefined;
}

/**
 * Extracts a tar archive in a container, which need not run. Missing directories are created.
 *
 * @param path An existing directory, as the container sees it.
 * @throws {EngineError} 404 if the container or the directory does not exist; 400 if the container's
 * root file system is read-only.
 */
export async function containerExtract(
  engine: Engine,
  id: string,
  { path, archive, signal }: {
    path: string;
    archive: Uint8Array<ArrayBuffer>;
    signal?: AbortSignal | undefined;
  },
): Promise<void> {
  const response = await engine.request("PUT", `/containers/${segment("container", id)}/archive`, {
    query: { path },
    headers: { "Content-Type": "application/x-tar" },
    upload: new Blob([archive]).stream(),
    signal,
    long: true,
  });
  await response.bytes();
}
