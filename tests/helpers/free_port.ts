/** Ports for programs that cannot choose one themselves. @module */

/** Below those that the system hands out, so that no other program takes one before it is used. */
const PORTS = { first: 20_000, count: 12_000 };

/** A free port of the loopback address. */
export function freePort(): number {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
