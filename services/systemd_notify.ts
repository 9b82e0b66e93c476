/**
 * Tells systemd how the service is doing: ready, stopping, still alive (sd_notify(3)).
 *
 * @module
 */

/** What can be told. A status is one line for `systemctl status`. */
export type SystemdState =
  | "READY=1"
  | "STOPPING=1"
  | "WATCHDOG=1"
  | `EXTEND_TIMEOUT_USEC=${number}`
  | `STATUS=${string}`;

/** The runtime's datagram sockets; there only with `--unstable-net`, and not in its types. */
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
 * Sends `states` as one notification, without waiting for anything to come back.
 *
 * @param socketPath `NOTIFY_SOCKET`: a path, or an abstract name that begins with `@`. Undefined
 * where systemd does not wait for notifications; then nothing is sent.
 * @throws {Error} When it cannot be sent. The service itself is not harmed by that.
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
  // The sender needs an address too. An abstract one leaves no file behind.
  const sender = listenDatagram(unixAddress(`@longshore-${crypto.randomUUID()}`));
  try {
    await sender.send(new TextEncoder().encode(text), unixAddress(socketPath));
  } finally {
    sender.close();
  }
}

/**
 * How often to send `WATCHDOG=1`, in milliseconds: half the time after which systemd takes the
 * service for dead, as sd_watchdog_enabled(3) advises.
 *
 * @param watchdogUsec `WATCHDOG_USEC`.
 * @returns Undefined where systemd watches nothing.
 */
export function watchdogPeriodMs(watchdogUsec: string | undefined): number | undefined {
  const usec = /^[1-9]\d{0,15}$/.test(watchdogUsec ?? "") ? Number(watchdogUsec) : undefined;
  return usec === undefined ? undefined : Math.max(1, Math.floor(usec / 2000));
}

/** Linux writes an abstract name with a NUL in front; `@` stands for it in text. */
function unixAddress(path: string): UnixAddress {
  return { transport: "unixpacket", path: path.replace(/^@/, "\0") };
}
