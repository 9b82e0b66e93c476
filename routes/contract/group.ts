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

/** A file with endpoints, which exports nothing but what creates them. */
type EndpointModule = Readonly<Record<string, EndpointFactory>>;

export interface EndpointGroup {
  /**
   * The group has every endpoint with one of these paths or below it, and no others. Relative to the
   * edition's prefix.
   */
  paths: readonly string[];
  /** Import the files with the endpoints. */
  modules: readonly (() => Promise<EndpointModule>)[];
}

/** E.g. `group("/api/jobs", () => import("./jobs.ts"))`; see {@linkcode EndpointGroup}. */
export const group = (
  paths: string | readonly string[],
  ...modules: readonly (() => Promise<EndpointModule>)[]
): EndpointGroup => ({ paths: [paths].flat(), modules });

/** Imports a group and creates its endpoints. */
export async function loadEndpoints(
  { modules }: Pick<EndpointGroup, "modules">,
  deps: Deps,
  openApi: () => Promise<string>,
): Promise<Endpoint[]> {
  const loaded = await Promise.all(modules.map((load) => load()));
  return loaded.flatMap(Object.values<EndpointFactory>)
    .flatMap((create) => create(deps, openApi));
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
