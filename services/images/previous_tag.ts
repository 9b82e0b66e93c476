/**
 * Names that keep the images from before an update, see `services/updates/run/previous.ts`.
 *
 * @module
 */

/** The repository of all such names. */
const PREVIOUS_REPOSITORY = "longshore-previous";

/** Length of the part of an image's id that is its tag. */
const TAG_LENGTH = 12;

/**
 * The name that keeps an image, e.g. `longshore-previous/web:2c26b46b68ff`. Container names may have
 * characters that repositories may not; the tag keeps such names apart.
 */
export function previousTag(containerName: string, imageId: string): { name: string; tag: string } {
  const repository = containerName.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return {
    name: `${PREVIOUS_REPOSITORY}/${repository || "container"}`,
    tag: imageId.replace(/^sha256:/, "").slice(0, TAG_LENGTH),
  };
}

/** Whether a name of an image is one of these; Podman adds `localhost/`. */
export const isPreviousTag = (name: string): boolean =>
  name.replace(/^localhost\//, "").startsWith(`${PREVIOUS_REPOSITORY}/`);
