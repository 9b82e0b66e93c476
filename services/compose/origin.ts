/** Origin of the sources of a stack that another program has deployed. @module */

/** Places of the sources of a stack that another program has deployed. */
export const ORIGIN_KINDS = ["host", "mount", "generated", "text"] as const;

/** The place where the sources of a stack were found that another program has deployed. */
export interface SourceOrigin {
  /**
   * - `host`: a directory of the host.
   * - `mount`: a volume or directory that another container has mounted.
   * - `generated`: described from the containers.
   * - `text`: sent by a user.
   */
  kind: (typeof ORIGIN_KINDS)[number];
  /** Of the Compose file, as the labels of the containers name it; `null` without one. */
  path: string | null;
  /** Name of the container with the mount. */
  through?: string | undefined;
}
