/**
 * Connections to the very addresses that were checked, within a time.
 *
 * @module
 */

import { type OutboundDeps, OutboundError, type OutboundReach, resolveOutbound } from "./url.ts";

/** The least time that one of several addresses gets, in milliseconds. */
const ATTEMPT_MS_MIN = 1_000;

/** The call's time, and what it has open. */
export interface Limit {
  signal: AbortSignal;
  endMs: number;
  /** Closed when the time is over, so that nothing waits on it any longer. */
  closes: { close(): void } | undefined;
}

/**
 * Does `work` within its time.
 *
 * @throws The signal's reason, or {@linkcode OutboundError} `timeout`.
 */
export async function withTimeLimit<T>(
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  work: (limit: Limit) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const limit: Limit = {
    signal: end.signal,
    endMs: performance.now() + timeoutMs,
    closes: undefined,
  };
  const stop = (reason: unknown) => {
    end.abort(reason);
    close(limit);
  };
  const onAbort = () => stop(signal!.reason);
  const timer = setTimeout(
    () => stop(new OutboundError("timeout", `No answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    return await work(limit);
  } catch (error) {
    // What the closed connection says then is of no interest.
    if (end.signal.aborted) throw end.signal.reason;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    close(limit);
  }
}

/** Closes what is open, if anything. */
export function close(limit: Limit): void {
  try {
    limit.closes?.close();
  } catch { /* it was closed by the other side's failure */ }
  limit.closes = undefined;
}

/**
 * Opens a TCP connection to an address that was checked; the caller closes it.
 *
 * @throws {OutboundError}
 */
export async function outboundConnect(
  deps: OutboundDeps,
  target: {
    host: string;
    port: number;
    reach: OutboundReach;
    timeoutMs: number;
    signal?: AbortSignal | undefined;
  },
): Promise<Deno.TcpConn> {
  return await withTimeLimit(target, async (limit) => {
    const conn = await connect(deps, target, limit);
    limit.closes = undefined;
    return conn;
  });
}

/** Connects to one checked address after the other until one answers. */
export async function connect(
  deps: OutboundDeps,
  { host, port, reach }: { host: string; port: number; reach: OutboundReach },
  limit: Limit,
): Promise<Deno.TcpConn> {
  const addresses = await resolveOutbound(deps, host, reach, limit.signal);
  let failure: unknown;
  for (const [index, hostname] of addresses.entries()) {
    limit.signal.throwIfAborted();
    const leftMs = limit.endMs - performance.now();
    const attemptMs = Math.max(ATTEMPT_MS_MIN, leftMs / (addresses.length - index));
    try {
      return limit.closes = await connectWithin(hostname, port, attemptMs, limit.signal);
    } catch (error) {
      failure = error;
    }
  }
  limit.signal.throwIfAborted();
  const refused = failure instanceof Deno.errors.ConnectionRefused;
  throw new OutboundError(
    "network",
    `${host}:${port} ${refused ? "refused the connection" : "cannot be reached"}`,
    { cause: failure },
  );
}

/** A connection that comes too late is closed. */
async function connectWithin(
  hostname: string,
  port: number,
  ms: number,
  signal: AbortSignal,
): Promise<Deno.TcpConn> {
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(new Deno.errors.TimedOut());
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end, { once: true });
  const connecting = Deno.connect({ hostname, port });
  try {
    return await Promise.race([connecting, ended.promise]);
  } catch (error) {
    connecting.then((conn) => conn.close(), () => {});
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

/** Begins TLS; the certificate has to be valid for the name of the URL, not for the address. */
export async function secured(plain: Deno.TcpConn, url: URL, limit: Limit): Promise<Deno.TlsConn> {
  try {
    const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
    const conn = await Deno.startTls(plain, { hostname, alpnProtocols: ["http/1.1"] });
    limit.closes = conn;
    await conn.handshake();
    return conn;
  } catch (cause) {
    close(limit);
    limit.signal.throwIfAborted();
    throw new OutboundError("tls", `${url.host}: ${tlsProblem(cause)}`, { cause });
  }
}

function tlsProblem(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : "";
  if (/NotValidForName|not valid for name/i.test(text)) {
    return "the certificate is for another name";
  }
  if (/expired/i.test(text)) return "the certificate has expired";
  if (/NotValidYet|not valid yet/i.test(text)) return "the certificate is not valid yet";
  if (/UnknownIssuer|CaUsedAsEndEntity|certificate/i.test(text)) {
    return "the certificate is not trusted";
  }
  return "TLS could not be established";
}
