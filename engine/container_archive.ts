/**
 * Files in a container, read through the engine.
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
