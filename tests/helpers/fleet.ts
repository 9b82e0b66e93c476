/** A hub and a member in one process: both are the real application, joined by a link in memory. @module */

import { ByteReader } from "../../engine/byte_reader.ts";
import { serveFleet } from "../../commands/fleet_socket.ts";
import type { Link, LinkStream } from "../../services/fleet/link/stream.ts";
import { checkWith, type Sign, signWith } from "../../services/fleet/notes/note.ts";
import type { PassingHost } from "../../services/fleet/passing/sides.ts";
import { type CallOptions, type TestApp, testApp, type TestAppOptions } from "./test_app.ts";

/** Bytes that one side may send before the other reads them. */
const WINDOW_BYTES = 256 * 1024;

export const HUB = "key-of-the-hub";
export const MEMBER = "key-of-the-member";

/** Bytes in one direction, as those of a stream of a link. */
function pipe() {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let isEnded = false;
  let isBroken = false;
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  return {
    async read(into: Uint8Array): Promise<number | null> {
      for (;;) {
        // As with a link, what has arrived is read before the end.
        const piece = pieces[0];
        if (piece) {
          const count = Math.min(piece.length, into.length);
          into.set(piece.subarray(0, count));
          if (count < piece.length) pieces[0] = piece.subarray(count);
          else pieces.shift();
          size -= count;
          change();
          return count;
        }
        if (isBroken) throw new Deno.errors.ConnectionReset("the stream was closed");
        if (isEnded) return null;
        await changed.promise;
      }
    },
    async write(bytes: Uint8Array): Promise<number> {
      while (size >= WINDOW_BYTES && !isBroken) await changed.promise;
      if (isBroken || isEnded) throw new Deno.errors.BrokenPipe("the stream was closed");
      pieces.push(bytes.slice());
      size += bytes.length;
      change();
      return bytes.length;
    },
    end() {
      isEnded = true;
      change();
    },
    break() {
      isBroken = true;
      change();
    },
    /** The writer has closed the stream: what it sent before its end can still be read. */
    abandon() {
      if (!isEnded) isBroken = true;
      change();
    },
  };
}

/** Both ends of a stream. */
export function streamPair(id: number): [LinkStream, LinkStream] {
  const there = pipe();
  const back = pipe();
  const end = (reads: ReturnType<typeof pipe>, writes: ReturnType<typeof pipe>): LinkStream => ({
    id,
    read: reads.read,
    write: writes.write,
    closeWrite: () => Promise.resolve(writes.end()),
    close() {
      reads.break();
      writes.abandon();
    },
  });
  return [end(back, there), end(there, back)];
}

export interface TestFleet extends AsyncDisposable {
  hub: TestApp;
  member: TestApp;
  /** The hub's side of the link; `undefined` while the member is away. */
  link: Link | undefined;
  host: PassingHost;
  /** Signs with the hub's key. */
  sign: Sign;
  /** Number of streams that are open. */
  readonly open: number;
  /** Opens a stream to the member, as the hub does. */
  stream(): LinkStream;
  /** Sends a request to the hub for the member, e.g. `("GET", "/api/containers")`. */
  pass(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Response>;
}

export async function testFleet(
  { hub: ofHub = {}, member: ofMember = {} }: { hub?: TestAppOptions; member?: TestAppOptions } =
    {},
): Promise<TestFleet> {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-fleet-" });
  const hub = testApp(ofHub);
  const member = testApp({
    ...ofMember,
    config: { fleetAllow: "admin", ...ofMember.config, dataDir },
  });
  const keys = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  const { privateKey, publicKey } = keys as CryptoKeyPair;
  const served = serveFleet(member.deps, member.app);
  const running = new Set<Promise<void>>();
  let streams = 0;
  const clock = { offset: 0, roundTrip: 1 };
  const closed = new Promise<string>(() => {});
  const atMember: Link = {
    peer: HUB,
    open: () => Promise.reject(new Error("only hubs open streams")),
    ...{ clock, closed, silentMs: 0 },
    close: () => {},
  };
  const stream = () => {
    const [near, far] = streamPair(++streams);
    const serving = member.deps.passing.accept!(far, atMember).finally(() =>
      running.delete(serving)
    );
    running.add(serving);
    return near;
  };
  const fleet: TestFleet = {
    hub,
    member,
    host: {
      id: "host-7",
      name: "edge-7",
      labels: { site: "kiel" },
      state: "is away since 2026-01-01T00:00:00.000Z",
    },
    link: {
      peer: MEMBER,
      open: () => Promise.resolve(stream()),
      ...{ clock, closed, silentMs: 0 },
      close: () => {},
    },
    sign: signWith(privateKey),
    stream,
    get open() {
      return running.size;
    },
    pass: (method, path, ...rest) => hub.fetch(method, `/api/fleet/hosts/edge-7${path}`, ...rest),
    async [Symbol.asyncDispose]() {
      await Promise.all(running);
      await served.shutdown();
      hub[Symbol.dispose]();
      member[Symbol.dispose]();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
  hub.deps.passing.hub = () => ({
    key: () => Promise.resolve(HUB),
    sign: (bytes) => fleet.sign(bytes),
    link: () => fleet.link,
    findHost: (ref) => [fleet.host.id, fleet.host.name].includes(ref) ? fleet.host : undefined,
  });
  member.deps.passing.member = () => ({
    hubName: "hub-1",
    parties: () =>
      Promise.resolve({ host: MEMBER, hub: { key: HUB, check: checkWith(publicKey) } }),
  });
  return fleet;
}

/** A host that answers each request with a script, e.g. with garbage. Returns the heads so far. */
export function scriptHost(
  fleet: TestFleet,
  script: (stream: LinkStream, head: string, reader: ByteReader) => Promise<void> | void,
): string[] {
  const heads: string[] = [];
  const { link } = fleet;
  fleet.link = {
    ...link!,
    open: async () => {
      const [near, far] = streamPair(heads.length + 1);
      const serve = async () => {
        const reader = new ByteReader(far);
        const head = await reader.readHead();
        heads.push(head);
        await script(far, head, reader);
      };
      // The hub has closed the stream.
      serve().catch(() => {});
      return await Promise.resolve(near);
    },
  };
  return heads;
}

/** Sends text as a host. */
export const sendText = async (stream: LinkStream, text: string): Promise<void> =>
  void await stream.write(new TextEncoder().encode(text));
