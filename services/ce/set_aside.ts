/**
 * How a container is told that a rebuild has set aside: stopped and renamed, to go back to it
 * when the new one cannot be started.
 *
 * @module
 */

/** Stands in the name of a container that is set aside, after its own name. */
export const ASIDE_MARK = "-longshore-old-";

export function isSetAside({ name }: { name: string }): boolean {
  return name.includes(ASIDE_MARK);
}
