/**
 * Serves the streams that a hub opens: joins each with the private socket of this member. All that is
 * added is the id of the stream, which the note of a large body names.
 *
 * @module
 */

import { ByteReader } from "../../../engine/byte_reader.ts";
import { Intake } from "../../stream/intake.ts";
import type { Accept, LinkStream } from "../link/stream.ts";
import { STREAM_HEADER } from "../notes/note.ts";

/** Both ends of a copy, as a connection and a stream have them. */
type Ends = Pick<LinkStream, "read" | "write" | "closeWrite" | "close">;

/** Longest wait for the head of a request, in milliseconds. */
const HEAD_MS = 30_000;

/** Bytes that are read at a time. */
const BUFFER_BYTES = 32 * 1024;

const encoder = new TextEncoder();

/** Intakes of requests by the id of their stream, as its header has it. */
export type Intakes = Map<string | null, Intake>;

/** @param connect Connects to the private socket, which it opens on first use. */
export function createAccept(connect: () => Promise<Ends>, intakes: Intakes = new Map()): Accept {
  return async (stream) => {
    let inner: Ends | undefined;
    const intake = new Intake();
    const id = String(stream.id);
    intakes.set(id, intake);
    try {
      const reader = new ByteReader(stream);
      const head = await readHead(stream, reader);
      inner = await connect();
      await writeAll(inner, encoder.encode(withStream(head, stream.id)));
      await join(stream, { reader, inner, intake });
    } catch {
      // Either end is gone: the other one sees it.
    } finally {
      // A later link may have a stream with this id.
      if (intakes.get(id) === intake) intakes.delete(id);
      closeQuietly(stream);
      if (inner) closeQuietly(inner);
    }
  };
}

async function readHead(stream: LinkStream, reader: ByteReader): Promise<string> {
  const timer = setTimeout(() => closeQuietly(stream), HEAD_MS);
  try {
    return await reader.readHead();
  } finally {
    clearTimeout(timer);
  }
}

/** The head with the id of its stream, in place of any that the hub sent. */
function withStream(head: string, id: number): string {
  const lines = head.split("\r\n")
    .filter((line) => !line.toLowerCase().startsWith(STREAM_HEADER));
  return [...lines, `${STREAM_HEADER}: ${id}`, "", ""].join("\r\n");
}

/** A request on its way to the private socket. */
interface Incoming {
  reader: ByteReader;
  inner: Ends;
  intake: Intake;
}

/** Copies both ways until the application has answered. */
async function join(stream: LinkStream, incoming: Incoming): Promise<void> {
  const { inner, intake } = incoming;
  const sending = send(incoming).catch(() => closeQuietly(inner));
  try {
    const buffer = new Uint8Array(BUFFER_BYTES);
    for (let count = await inner.read(buffer); count !== null; count = await inner.read(buffer)) {
      await writeAll(stream, buffer.subarray(0, count));
    }
    await stream.closeWrite();
  } finally {
    closeQuietly(inner);
    closeQuietly(stream);
    intake.end();
    await sending;
  }
}

async function send({ reader, inner, intake }: Incoming): Promise<void> {
  for (;;) {
    const some = await reader.readSome(BUFFER_BYTES);
    await intake.opened();
    if (!some) return await inner.closeWrite();
    await writeAll(inner, some);
  }
}

async function writeAll(to: Pick<Ends, "write">, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

/** A connection may be closed already, which Deno reports as an error. */
function closeQuietly(end: Pick<Ends, "close">): void {
  try {
    end.close();
  } catch {
    // It is closed.
  }
}
