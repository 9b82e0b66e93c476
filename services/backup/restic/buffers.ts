/** Memory of large buffers. @module */

/**
 * Frees the memory of bytes that fill their buffer; they have the length 0 afterwards. Garbage
 * collection frees it too late: it counts small objects. Without this, a backup takes 100 MB more.
 */
export function free(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}

/** Buffers of the runtime that several small arrays share, in bytes. */
const POOL_BYTES = 8 * 1024;

/** Frees the buffer of bytes that are alone in it, if it is large. */
export function freeBuffer({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > POOL_BYTES) buffer.transfer(0);
}
