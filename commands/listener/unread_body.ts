/** Request bodies that the application has not read. @module */

/** Limits for reading an unread body, in bytes and in milliseconds. */
const UNREAD_BYTES_MAX = 8 * 1024 * 1024;
const UNREAD_MS_MAX = 2_000;

/**
 * Reads the rest of a request's body, e.g. of a request that was refused. With HTTP/2 a client that
 * gets a response before it has sent everything sees a broken stream instead.
 */
export async function drainBody({ body, bodyUsed }: Request): Promise<void> {
  if (body === null || bodyUsed || body.locked) return;
  const reader = body.getReader();
  const giveUp = () => void reader.cancel().catch(() => {});
  const late = setTimeout(giveUp, UNREAD_MS_MAX);
  try {
    for (let left = UNREAD_BYTES_MAX; left > 0;) {
      const { done, value } = await reader.read();
      if (done) return;
      left -= value.byteLength;
    }
    giveUp();
  } catch {
    // The client has disconnected.
  } finally {
    clearTimeout(late);
  }
}
