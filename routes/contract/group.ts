/**
 * Endpoints that are loaded together, on the first request for one of them: most hosts need only
 * some, and the shapes of all take 10 MB of memory.
 *
 * @module
 */

import type { Deps } from "../../services/deps.ts";
import type { Endpoint } from "./endpoint.ts";

/** Creates the endpoints of a file. @param openApi The API document as JSON. */
type EndpointFactory = (
  deps: Deps,
  openApi: () => Promise<string>,
) => readonly Endpoint[];

export interface EndpointGroup {
  /**
   * The group has every endpoint with one of these paths or below it, and no others. Relative to the
   * edition's prefix.
   */
  paths: readonly string[];
  /** Import the files with the endpoints. */
  parts: readonly (() => Promise<EndpointFactory>)[];
}

/** Imports a group and creates its endpoints. */
export async function loadEndpoints(
  { parts }: Pick<EndpointGroup, "parts">,
  deps: Deps,
  openApi: () => Promise<string>,
): Promise<Endpoint[]> {
  const factories = await Promise.all(parts.map((load) => load()));
  return factories.flatMap((create) => create(deps, openApi));
}

/** Creates the test whether a path belongs to a group. @param prefix The prefix of its edition. */
export function pathTest(
  { prefix, paths }: Pick<EndpointGroup, "paths"> & { prefix: string },
): (path: string) => boolean {
  const roots = paths.map((path) => prefix + path);
  return (path) =>
    roots.some((root) =>
      path.startsWith(root) && (path.length === root.length || path[root.length] === "/")
    );
}
