/**
 * Files in a container, read through the engine.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { ifThere } from "./errors.ts";
import { segment } from "./path.ts";

/**
 * Whether a path exists in a container, its volumes included; what a tmpfs holds is not seen.
 *
 * @param path Absolute, as the container sees it.
 * @returns `false` also where there is no such container.
 */
export async function containerHasPath(
  engine: Engine,
  id: string,
  path: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  const answer = await ifThere(
    engine.request("HEAD", `/containers/${segment("container", id)}/archive`, {
      query: { path },
      signal,
    }).then((response) => response.bytes()),
  );
  return answer !== undefined;
}
