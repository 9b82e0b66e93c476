/**
 * A load tool for HTTP/1.1 over TCP and Unix sockets, so that the service and the engine are measured
 * with the same tool.
 *
 * @module
 */

export type Target =
  | { transport: "tcp"; hostname: string; port: number }
  | { transport: "unix"; path: string };

export interface LoadResult {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Responses with a status other than 200 and 201. */
  failures: number;
  /** Size of the last response in bytes, including headers. */
  answerBytes: number;
}

const encoder = new TextEncoder();
const HEAD_END = encoder.encode("\r\n\r\n");
const LAST_CHUNK = encoder.encode("0\r\n\r\n");

/**
 * Requests `path` (or sends `body` to it as JSON) on `connections` kept-alive connections, one request
 * after the other on each, for `seconds`, or until each has sent `requests`.
 */
export async function load(
  target: Target,
  { path, headers = {}, body, connections, seconds = Infinity, requests = Infinity }: {
    path: string;
    headers?: Record<string, string>;
    body?: string;
    connections: number;
    seconds?: number;
    requests?: number;
  },
): Promise<LoadResult> {
  const bytes = encoder.encode(body).length;
  const all = {
    host: "localhost",
    ...(body !== undefined && {
      "content-type": "application/json",
      "content-length": String(bytes),
    }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const method = body === undefined ? "GET" : "POST";
  const request = encoder.encode(
    [`${method} ${path} HTTP/1.1`, ...lines, "", body ?? ""].join("\r\n"),
  );
  const latencies: number[] = [];
  const outcome = { failures: 0, answerBytes: 0 };
  const end = performance.now() + seconds * 1000;
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, async () => {
    using connection = await connect(target);
    const buffer = new Uint8Array(256 * 1024);
    for (let sentSoFar = 0; sentSoFar < requests && performance.now() < end; sentSoFar++) {
      const sent = performance.now();
      await connection.write(request);
      const answer = await readAnswer(connection, buffer);
      latencies.push(performance.now() - sent);
      outcome.answerBytes = answer.bytes;
      if (!answer.ok) outcome.failures++;
    }
  }));
  const elapsed = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    requestsPerSecond: latencies.length / elapsed,
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? NaN,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? NaN,
    ...outcome,
  };
}

function connect(target: Target): Promise<Deno.Conn> {
  return target.transport === "tcp" ? Deno.connect(target) : Deno.connect(target);
}

async function readAnswer(
  connection: Deno.Conn,
  buffer: Uint8Array,
): Promise<{ ok: boolean; bytes: number }> {
  let filled = 0;
  let bodyAt = -1;
  let length = -1;
  let ok = false;
  // A chunked body may be longer than the buffer; only its end is kept.
  let dropped = 0;
  for (;;) {
    const count = await connection.read(buffer.subarray(filled));
    if (count === null) throw new Error("the connection was closed");
    filled += count;
    if (bodyAt < 0) {
      const at = indexOf(buffer.subarray(0, filled), HEAD_END);
      if (at < 0) continue;
      bodyAt = at + HEAD_END.length;
      const head = new TextDecoder().decode(buffer.subarray(0, bodyAt)).toLowerCase();
      ok = /^http\/1\.1 20[01]/.test(head);
      const given = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
      length = given === undefined ? -1 : Number(given);
    }
    const bytes = dropped + filled;
    if (length >= 0 ? bytes >= bodyAt + length : endsWith(buffer.subarray(0, filled), LAST_CHUNK)) {
      return { ok, bytes };
    }
    if (filled === buffer.length) {
      buffer.copyWithin(0, filled - LAST_CHUNK.length);
      dropped += filled - LAST_CHUNK.length;
      filled = LAST_CHUNK.length;
    }
  }
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.indexOf(wanted[0]!); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (wanted.every((byte, i) => bytes[at + i] === byte)) return at;
  }
  return -1;
}

function endsWith(bytes: Uint8Array, wanted: Uint8Array): boolean {
  return bytes.length >= wanted.length &&
    wanted.every((byte, i) => bytes[bytes.length - wanted.length + i] === byte);
}
