import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import type { Bytes } from "../../../../services/fleet/link/noise.ts";
import {
  createSession,
  HEADER_BYTES,
  PIECES_MAX,
  ProtocolError,
  type Session,
  STREAMS_MAX,
  UNREAD_MAX,
  WINDOW_BYTES,
} from "../../../../services/fleet/link/yamux.ts";
import type { LinkStream } from "../../../../services/fleet/link/stream.ts";

type Random = () => number;

/** A small generator (xorshift), so that a failure can be repeated by its seed. */
function randomOf(seed: number): Random {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Frames wait until `deliver` takes one of a random direction. */
function createPair(accept: (stream: LinkStream) => void, random: Random = () => 0) {
  const queues: { frame: Bytes; resolve: () => void }[][] = [[], []];
  const create = (at: 0 | 1): Session =>
    createSession({
      isClient: at === 0,
      send: (frame) =>
        new Promise((resolve) => {
          queues[at]!.push({ frame, resolve });
        }),
      accept: at === 0 ? undefined : accept,
    });
  const sessions = [create(0), create(1)] as const;
  return {
    opener: sessions[0],
    accepter: sessions[1],
    /** Delivers everything, including what answers to it. */
    async deliver(): Promise<void> {
      for (let idle = 0; idle < 20;) {
        const full = [0, 1].filter((at) => queues[at]!.length > 0);
        if (full.length === 0) {
          idle++;
          await Promise.resolve();
          continue;
        }
        idle = 0;
        const at = full[Math.floor(random() * full.length)]!;
        const { frame, resolve } = queues[at]!.shift()!;
        sessions[1 - at]!.receive(frame);
        resolve();
        if (random() < 0.5) await Promise.resolve();
      }
    },
  };
}

async function readAll(stream: LinkStream): Promise<Uint8Array> {
  const parts: number[] = [];
  const into = new Uint8Array(10_000);
  for (let count = await stream.read(into); count !== null; count = await stream.read(into)) {
    for (const byte of into.subarray(0, count)) parts.push(byte);
  }
  return Uint8Array.from(parts);
}

for (const seed of [1, 7, 42, 2026]) {
  Deno.test(`Streams carry all bytes in order, whatever is delivered first (seed ${seed})`, async () => {
    const random = randomOf(seed);
    const pair = createPair((stream) => {
      // An echo that reads all before it answers, which needs no credit in the other direction.
      void readAll(stream).then(async (bytes) => {
        await stream.write(bytes);
        await stream.closeWrite();
      });
    }, random);
    const sent: Uint8Array[] = [];
    const received: Promise<Uint8Array>[] = [];
    for (let at = 0; at < 8; at++) {
      const bytes = crypto.getRandomValues(new Uint8Array(Math.floor(random() * 60_000)));
      sent.push(bytes);
      const stream = pair.opener.open();
      received.push(readAll(stream));
      void stream.write(bytes).then(() => stream.closeWrite());
    }

    await pair.deliver();

    deepEqual(await Promise.all(received), sent);
    deepEqual([pair.opener.size, pair.accepter.size], [0, 0]);
  });
}

Deno.test("A writer waits for credit, and other streams pass it", async () => {
  const accepted: LinkStream[] = [];
  const pair = createPair((stream) => accepted.push(stream));
  const slow = pair.opener.open();
  let hasWritten = false;
  void slow.write(new Uint8Array(WINDOW_BYTES + 1)).then(() => hasWritten = true);
  await pair.deliver();
  equal(hasWritten, false);

  const quick = pair.opener.open();
  await Promise.all([quick.write(new Uint8Array(1)), pair.deliver()]);
  equal(await accepted[1]!.read(new Uint8Array(10)), 1);

  for (let read = 0; read < WINDOW_BYTES;) {
    read += (await accepted[0]!.read(new Uint8Array(WINDOW_BYTES)))!;
  }
  await pair.deliver();
  equal(hasWritten, true);
});

Deno.test("A closed stream fails at both ends, and its late bytes are ignored", async () => {
  const accepted: LinkStream[] = [];
  const pair = createPair((stream) => accepted.push(stream));
  const stream = pair.opener.open();
  await pair.deliver();
  const [peer] = accepted as [LinkStream];
  const reading = rejects(peer.read(new Uint8Array(1)), Deno.errors.ConnectionReset);
  const own = rejects(stream.read(new Uint8Array(1)), Deno.errors.BadResource);
  const late = peer.write(new Uint8Array(5)).catch(() => {});
  stream.close();
  await pair.deliver();
  await Promise.all([reading, own, late]);
  await rejects(stream.write(new Uint8Array(1)), Deno.errors.BadResource);
  deepEqual([pair.opener.size, pair.accepter.size], [0, 0]);
});

Deno.test("What a peer sent before its end is read after it has closed the stream", async () => {
  let accepted: LinkStream | undefined;
  const pair = createPair((stream) => accepted = stream);
  const stream = pair.opener.open();
  await pair.deliver();
  const sending = (async () => {
    await accepted!.write(Uint8Array.of(1, 2, 3));
    await accepted!.closeWrite();
    accepted!.close();
  })();
  await pair.deliver();
  await sending;
  deepEqual(await readAll(stream), Uint8Array.of(1, 2, 3));
  await rejects(stream.write(Uint8Array.of(4)), Deno.errors.BrokenPipe);
  stream.close();
  equal(pair.opener.size, 0);
});

Deno.test("The end of a link ends its streams with the reason", async () => {
  const pair = createPair(() => {});
  const stream = pair.opener.open();
  const reading = rejects(stream.read(new Uint8Array(1)), /The link has ended: gone/);
  pair.opener.end("gone");
  await reading;
  throws(() => pair.opener.open(), /gone/);
});

Deno.test("open() refuses more than the limit of streams, and an aborted signal", () => {
  const session = createSession({ isClient: false, send: () => Promise.resolve() });
  throws(() => session.open(AbortSignal.abort()), { name: "AbortError" });
  for (let count = 0; count < STREAMS_MAX; count++) session.open();
  throws(() => session.open(), /Limit of 1000 streams reached/);
});

function frame(type: number, flags: number, id: number, length: number, data = 0, version = 0) {
  const bytes = new Uint8Array(HEADER_BYTES + data);
  bytes[0] = version;
  bytes[1] = type;
  new DataView(bytes.buffer).setUint16(2, flags);
  new DataView(bytes.buffer).setUint32(4, id);
  new DataView(bytes.buffer).setUint32(8, length);
  return bytes;
}

const SYN = frame(1, 1, 1, 0);
for (
  const { wrong, frames, reason } of [
    { wrong: "a short frame", frames: [new Uint8Array(11)], reason: /too short/ },
    { wrong: "another version", frames: [frame(0, 0, 1, 0, 0, 1)], reason: /version 1/ },
    { wrong: "an unknown type", frames: [frame(4, 0, 0, 0)], reason: /type 4/ },
    { wrong: "unknown flags", frames: [frame(0, 16, 1, 0)], reason: /flags 16/ },
    { wrong: "a wrong length", frames: [SYN, frame(0, 0, 1, 5, 4)], reason: /length/ },
    { wrong: "credit with data", frames: [SYN, frame(1, 0, 1, 4, 4)], reason: /length/ },
    { wrong: "data of the session", frames: [frame(0, 0, 0, 1, 1)], reason: /wrong stream/ },
    { wrong: "a ping of a stream", frames: [frame(2, 1, 1, 1)], reason: /wrong stream/ },
    { wrong: "an unasked answer", frames: [frame(2, 2, 0, 1)], reason: /not sent/ },
    { wrong: "an unopened stream", frames: [frame(0, 0, 3, 1, 1)], reason: /3 is not open/ },
    { wrong: "a stream of this side", frames: [frame(1, 1, 2, 0)], reason: /2 cannot be opened/ },
    { wrong: "a stream twice", frames: [SYN, SYN], reason: /already open/ },
    { wrong: "an older stream", frames: [frame(1, 1, 3, 0), SYN], reason: /1 cannot be opened/ },
    {
      wrong: "data after the end",
      frames: [frame(1, 5, 1, 0), frame(0, 0, 1, 1, 1)],
      reason: /after its end/,
    },
    { wrong: "two ends", frames: [frame(1, 5, 1, 0), frame(0, 4, 1, 0)], reason: /ended twice/ },
    {
      wrong: "too much credit",
      frames: [SYN, frame(1, 0, 1, 2 ** 31)],
      reason: /credit is limited/,
    },
    {
      wrong: "data beyond the window",
      frames: [SYN, ...Array.from({ length: 5 }, () => frame(0, 0, 1, 60_000, 60_000))],
      reason: /window exceeded/,
    },
    {
      wrong: "too many streams",
      frames: Array.from({ length: STREAMS_MAX + 1 }, (_, at) => frame(1, 1, 2 * at + 1, 0)),
      reason: /Limit of 1000 streams exceeded/,
    },
    {
      wrong: "pings whose answers are not read",
      frames: Array.from({ length: 5_000 }, () => frame(2, 1, 0, 7)),
      reason: /does not read/,
    },
    { wrong: "the end of the session", frames: [frame(3, 0, 0, 0)], reason: /has ended/ },
  ]
) {
  Deno.test(`A session refuses ${wrong}`, () => {
    const session = createSession({
      isClient: false,
      send: () => new Promise(() => {}),
      accept: () => {},
    });
    const receiveAll = () => frames.forEach((each) => session.receive(each));
    throws(receiveAll, (error: Error) => {
      match(error.message, reason);
      return error instanceof ProtocolError;
    });
  });
}

Deno.test("A session closes the streams that hold the most beyond its limit, and no other", async () => {
  const accepted: LinkStream[] = [];
  const session = createSession({
    isClient: false,
    send: () => Promise.resolve(),
    accept: (stream) => void accepted.push(stream),
  });
  const count = UNREAD_MAX / WINDOW_BYTES + 1;
  // The first one is a terminal.
  session.receive(frame(1, 1, 1, 0));
  session.receive(frame(0, 0, 1, 9, 9));
  for (let at = 1; at < count; at++) {
    const id = 2 * at + 1;
    session.receive(frame(1, 1, id, 0));
    for (let part = 0; part < 8; part++) {
      session.receive(frame(0, 0, id, WINDOW_BYTES / 8, WINDOW_BYTES / 8));
    }
  }
  equal(session.size, count - 1);
  equal(await accepted[0]!.read(new Uint8Array(100)), 9);
  await rejects(accepted[1]!.read(new Uint8Array(1)), Deno.errors.BadResource);
  // Reading makes room again.
  const into = new Uint8Array(WINDOW_BYTES);
  for (let read = 0; read < WINDOW_BYTES;) read += (await accepted[2]!.read(into))!;
  session.receive(frame(0, 0, 5, WINDOW_BYTES, WINDOW_BYTES));
  equal(session.size, count - 1);
});

Deno.test("Many short frames are held as few pieces, in order, also after a read of a part", async () => {
  const accepted: LinkStream[] = [];
  const session = createSession({
    isClient: false,
    send: () => Promise.resolve(),
    accept: (stream) => void accepted.push(stream),
  });
  session.receive(SYN);
  const sent = Uint8Array.from({ length: 5_000 }, (_, at) => at % 251);
  for (const byte of sent) {
    const each = frame(0, 0, 1, 1, 1);
    each[HEADER_BYTES] = byte;
    session.receive(each);
  }
  const into = new Uint8Array(sent.length);
  const first = (await accepted[0]!.read(into.subarray(0, 3)))!;
  let reads = 0;
  for (let at = first; at < sent.length; reads++) {
    at += (await accepted[0]!.read(into.subarray(at)))!;
  }
  deepEqual(into, sent);
  equal(reads <= PIECES_MAX, true);
});

Deno.test("A side without accept() refuses streams", () => {
  const session = createSession({ isClient: false, send: () => Promise.resolve() });
  throws(() => session.receive(SYN), /accepts no streams/);
});

Deno.test("Random frames end a session with a reason, or do nothing", () => {
  const random = randomOf(99);
  let refused = 0;
  for (let round = 0; round < 300; round++) {
    const session = createSession({
      isClient: false,
      send: () => Promise.resolve(),
      accept: () => {},
    });
    try {
      for (let count = 0; count < 20; count++) {
        const length = Math.floor(random() * 4);
        // Half of them nearly right, so that they pass the first checks.
        session.receive(
          random() < 0.5
            ? frame(random() * 4, random() * 16, random() * 4, random() < 0.8 ? length : 9, length)
            : Uint8Array.from({ length: random() * 30 }, () => random() * 256),
        );
      }
    } catch (error) {
      equal((error as Error).name, "ProtocolError");
      refused++;
    }
  }
  equal(refused > 290, true);
});
