/**
 * Recorded hosts of a fleet: they speak the real protocol of a link, and answer with the recorded lists
 * of a real host. Many of them share a process; `fleet.ts` starts it with its settings as the argument.
 *
 * @module
 */

import { ByteReader } from "../engine/byte_reader.ts";
import { type Channel, dialEnrolment, dialLink } from "../services/fleet/link/channel.ts";
import { decodeToken } from "../services/fleet/enrolment/token.ts";
import { retryMs } from "../services/fleet/enrolment/retries.ts";
import { toText } from "../services/fleet/enrolment/keys.ts";
import type { Connection } from "../services/fleet/link/connection.ts";
import { dial } from "../services/fleet/link/dial.ts";
import { createLink } from "../services/fleet/link/link.ts";
import { createKeyPair } from "../services/fleet/link/noise.ts";
import type { LinkStream } from "../services/fleet/link/stream.ts";
import { VERSION } from "../services/version.ts";
import { sleep } from "../services/waiting.ts";
import { testApp } from "../tests/helpers/test_app.ts";

/**
 * - `steady`: answers at once
 * - `late`: sends each message 5 seconds late
 * - `garbage`: sends 1 MB of random bytes a second, as its lists or, after their end, as messages
 */
export type Behaviour = "steady" | "late" | "garbage";

export interface RecordedHosts {
  /** An invite for all of them. */
  token: string;
  names: string[];
  behaviour: Behaviour;
  /** Frames of a feed: all lists, and the frame that follows every 15 seconds. */
  feed: { first: string; current: string };
}

const LATE_MS = 5_000;
const GARBAGE = { bytes: 62_500, pauseMs: 62.5 };
const CURRENT_MS = 15_000;
const TICK_MS = 5_000;

const encoder = new TextEncoder();
const never = new AbortController().signal;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const random = () => crypto.getRandomValues(new Uint8Array(GARBAGE.bytes));

const { token, names, behaviour, feed } = JSON.parse(Deno.args[0]!) as RecordedHosts;
const { deps } = testApp({ config: { fleetInsecure: "on" } });
const invite = decodeToken(token);
const clock = { wallMs: () => Date.now(), steadyMs: () => performance.now() };

for (const name of names) await repeat(() => createHost(name));
console.log("joined");

/** Until it succeeds: the hub limits how many hosts connect at the same time. */
async function repeat(attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await pause(200);
    }
  }
}

async function createHost(name: string): Promise<void> {
  const keys = await createKeyPair();
  const connection = await dial(deps, invite.address, never);
  const channel = await dialEnrolment(connection, {
    keys,
    invite: { id: invite.inviteId, secret: invite.secret },
    assertHub: () => Promise.resolve(),
  });
  const noteKey = toText((await createKeyPair()).publicKey);
  await channel.sendControl({ type: "enrol", name, machine: "bench", version: VERSION, noteKey });
  await channel.receiveControl("enrolled");
  connection.close("enrolled");
  void keepLink(keys, channel.peerKey);
}

type Keys = Awaited<ReturnType<typeof createKeyPair>>;

/** Dials again and again, as a member does. */
async function keepLink(keys: Keys, hubKey: Channel["peerKey"]): Promise<never> {
  let challenge: { counter: number; proof: string } | null = null;
  for (let failures = 0;;) {
    try {
      const connection = await dial(deps, invite.address, never);
      const channel = await dialLink(connection, { keys, hubKey });
      await channel.sendControl({ type: "hello", version: VERSION, challenge });
      const welcome = await channel.receiveControl("welcome");
      challenge = welcome.challenge;
      await channel.sendControl({ type: "kept", counter: challenge.counter });
      await serve(connection, channel);
      failures = 0;
    } catch {
      failures++;
    }
    await pause(retryMs("ended", failures, Math.random()));
  }
}

async function serve(connection: Connection, channel: Channel): Promise<void> {
  const link = createLink(behaviour === "late" ? late(channel) : channel, {
    ...{ peer: toText(channel.peerKey), isClient: true, onControl: () => {}, clock },
    accept: (stream) => answer(stream, connection),
  });
  const over = new AbortController();
  link.closed.then(() => over.abort());
  for (; !over.signal.aborted; await sleep(TICK_MS, over.signal)) link.tick();
}

const late = (channel: Channel): Channel => ({
  ...channel,
  send: (...message) => pause(LATE_MS).then(() => channel.send(...message)),
  sendControl: (message) => pause(LATE_MS).then(() => channel.sendControl(message)),
});

async function answer(stream: LinkStream, connection: Connection): Promise<void> {
  const head = await new ByteReader(stream).readHead();
  if (!head.startsWith("GET /api/feed ")) {
    await write(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
    return await write(stream, "content-length: 2\r\nconnection: close\r\n\r\n{}");
  }
  const type = "content-type: text/event-stream\r\n";
  await write(stream, `HTTP/1.1 200 OK\r\n${type}transfer-encoding: chunked\r\n\r\n`);
  if (behaviour === "garbage") return await sendGarbage(stream, connection);
  await writeChunk(stream, encoder.encode(feed.first));
  for (;;) {
    await pause(CURRENT_MS);
    await writeChunk(stream, encoder.encode(feed.current));
  }
}

async function sendGarbage(stream: LinkStream, connection: Connection): Promise<void> {
  try {
    for (;; await pause(GARBAGE.pauseMs)) await writeChunk(stream, random());
  } catch {
    // The hub does not take it as a list any more.
    for (;; await pause(GARBAGE.pauseMs)) await connection.send(random());
  }
}

async function writeChunk(stream: LinkStream, bytes: Uint8Array): Promise<void> {
  await write(stream, `${bytes.length.toString(16)}\r\n`);
  await stream.write(bytes);
  await write(stream, "\r\n");
}

async function write(stream: LinkStream, text: string): Promise<void> {
  await stream.write(encoder.encode(text));
}
