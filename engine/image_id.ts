/** Ids of images: `sha256:` and 64 hexadecimal digits. @module */

/** Returns the id with its algorithm, which Podman omits. */
export function fullImageId(id: string): string {
  return id.includes(":") ? id : `sha256:${id}`;
}

/** Whether a reference is the image's id or a prefix of it. */
export function isIdOf(reference: string, imageId: string): boolean {
  return /^(?:sha256:)?[0-9a-f]{6,64}$/.test(reference) &&
    fullImageId(imageId).startsWith(fullImageId(reference));
}
