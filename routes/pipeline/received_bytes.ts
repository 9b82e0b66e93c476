/**
 * Limits of what a connection may send after a request that became a WebSocket: the runtime takes messages
 * of 64 MiB before it shows the first byte.
 *
 * @module
 */

const limiters = new WeakMap<Request, (bytes: number) => void>();

/** Names the function that limits the connection of a request. */
export function provideByteLimit(request: Request, limit: (bytes: number) => void): void {
  limiters.set(request, limit);
}

/**
 * Closes the connection of a request when it has received more than so many bytes from now on.
 *
 * @param bytes `Infinity` lifts the limit.
 */
export function limitReceivedBytes(request: Request, bytes: number): void {
  limiters.get(request)?.(bytes);
}

/** Limit of what a client sends before a message ends: it may have any number of fragments. */
const UNFINISHED_MAX = 8 * 1024 * 1024;

/**
 * Closes the connection of a WebSocket whose client sends a message without an end: the runtime keeps its
 * fragments in memory.
 */
export function limitUnfinished(
  request: Request,
  socket: Pick<WebSocket, "addEventListener">,
): void {
  const allow = () => limitReceivedBytes(request, UNFINISHED_MAX);
  socket.addEventListener("message", allow);
  allow();
}
