/**
 * Passes the bytes of connections on: from a TCP port to a Unix socket, as a proxy on another host opens
 * it; as a program, from a Unix socket to a TCP port, which leads out of a sandbox:
 * `tcp_relay.ts SOCKET PORT`.
 *
 * @module
 */

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
  const accepting = relay(listener, () => Deno.connect({ transport: "unix", path: socketPath }), {
    open,
    onRelay: (ended) => {
      accepted++;
      relays.push(ended);
    },
  });
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

async function relay(
  listener: Deno.Listener,
  connect: () => Promise<Deno.Conn>,
  { open, onRelay }: { open?: Set<Deno.Conn>; onRelay?: (ended: Promise<unknown>) => void } = {},
): Promise<void> {
  for await (const client of listener as AsyncIterable<Deno.Conn>) {
    const target = await connect();
    open?.add(client).add(target);
    const ended = Promise.allSettled([
      client.readable.pipeTo(target.writable),
      target.readable.pipeTo(client.writable),
    ]);
    onRelay?.(ended);
  }
}

if (import.meta.main) {
  const [path = "", port] = Deno.args;
  const listener = Deno.listen({ transport: "unix", path });
  await relay(
    listener as unknown as Deno.Listener,
    () => Deno.connect({ hostname: "127.0.0.1", port: Number(port) }),
  );
}
