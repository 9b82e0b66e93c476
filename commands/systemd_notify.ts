/** Notifies systemd of the state of the service: ready, stopping, alive (sd_notify(3)). @module */

/** A notification. `STATUS` is one line for `systemctl status`. */
export type SystemdState =
  | "READY=1"
  | "STOPPING=1"
  | "WATCHDOG=1"
  | `EXTEND_TIMEOUT_USEC=${number}`
  | `STATUS=${string}`;

/** The runtime's datagram sockets, which need `--unstable-net` and are not in its types. */
interface DatagramRuntime {
  listenDatagram?: (options: UnixAddress) => {
    send(data: Uint8Array, to: UnixAddress): Promise<number>;
    close(): void;
  };
}

interface UnixAddress {
  transport: "unixpacket";
  path: string;
}

/**
 * Sends `states` as one notification. There is no reply.
 *
 * @param socketPath `NOTIFY_SOCKET`: a path, or an abstract name that begins with `@`. Undefined
 * if systemd does not expect notifications; then nothing is sent.
 * @throws {Error} If it cannot be sent.
 */
export async function notifySystemd(
  socketPath: string | undefined,
  ...states: SystemdState[]
): Promise<void> {
  if (!socketPath) return;
  if (!/^[/@]./.test(socketPath)) throw new Error(`Not a notification socket: ${socketPath}`);

  const { listenDatagram } = Deno as DatagramRuntime;
  if (listenDatagram === undefined) {
    throw new Error("Notifying systemd needs the runtime's --unstable-net");
  }
  const text = states.map((state) => state.replaceAll("\n", " ")).join("\n");
  // The sender needs an address, too. An abstract one leaves no file behind.
  const sender = listenDatagram(unixAddress(`@longshore-${crypto.randomUUID()}`));
  try {
    await sender.send(new TextEncoder().encode(text), unixAddress(socketPath));
  } finally {
    sender.close();
  }
}

/**
 * Returns the interval of `WATCHDOG=1`, in milliseconds: half of systemd's timeout, as
 * sd_watchdog_enabled(3) advises.
 *
 * @param watchdogUsec `WATCHDOG_USEC`.
 * @returns `undefined` without a watchdog.
 */
export function watchdogPeriodMs(watchdogUsec: string | undefined): number | undefined {
  const usec = /^[1-9]\d{0,15}$/.test(watchdogUsec ?? "") ? Number(watchdogUsec) : undefined;
  return usec === undefined ? undefined : Math.max(1, Math.floor(usec / 2000));
}

/** Linux writes an abstract name with a NUL in front; `@` stands for it in text. */
function unixAddress(path: string): UnixAddress {
  return { transport: "unixpacket", path: path.replace(/^@/, "\0") };
}
