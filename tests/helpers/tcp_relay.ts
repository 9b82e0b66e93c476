/** A TCP port in front of a Unix socket, as a proxy on another host opens it. @module */

export interface TcpRelay extends AsyncDisposable {
  port: number;
  /** Connections so far. */
  readonly accepted: number;
}

/** Listens on loopback and passes every connection on as it is. */
export function startTcpRelay(socketPath: string): TcpRelay {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const relays: Promise<unknown>[] = [];
  let accepted = 0;
  const accepting = (async () => {
    for await (const client of listener) {
      accepted++;
      const target = await Deno.connect({ transport: "unix", path: socketPath });
      open.add(client).add(target);
      relays.push(Promise.allSettled([
        client.readable.pipeTo(target.writable),
        target.readable.pipeTo(client.writable),
      ]));
    }
  })();
  return {
    port: listener.addr.port,
    get accepted() {
      return accepted;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const each of open) {
        try {
          each.close();
        } catch {
          // Its streams have closed it.
        }
      }
      await Promise.all(relays);
    },
  };
}
