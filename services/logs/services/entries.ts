/**
 * Lines of a service's log. The engine sends the pieces of all tasks on one connection, each as
 * `TIME DETAILS TEXT`; the details name the node and the task.
 *
 * @module
 */

import type { LogFrame } from "../lines.ts";
import { leadingStamp, type Stamp } from "../stamp.ts";

export interface ServiceEntry {
  stamp: Stamp;
  stream: LogFrame["stream"];
  taskId: string;
  nodeId: string;
  text: string;
}

/** Longest text of a line, in bytes. */
const TEXT_BYTES_MAX = 64 * 1024;

/** The engine stores longer lines in pieces of this length, in bytes. */
const PIECE_BYTES = 16 * 1024;

/** Longest details, in bytes. */
const DETAILS_BYTES_MAX = 4 * 1024;

const SPACE = 32;
const LINE_FEED = 10;

const decoder = new TextDecoder();

/** A piece of a line, without its line feed. */
interface Piece extends Omit<ServiceEntry, "text"> {
  bytes: Uint8Array;
  isLast: boolean;
}

/** Joins the pieces of each task. Bytes that do not begin with a time and details are left out. */
export async function* serviceEntries(
  frames: AsyncIterable<LogFrame>,
  { tty }: { tty: boolean },
): AsyncGenerator<ServiceEntry, void, undefined> {
  const open = new Map<string, Piece>();
  for await (const frame of tty ? wholeLines(frames) : frames) {
    const piece = parsePiece(frame, tty);
    if (!piece) continue;
    const key = `${piece.taskId} ${piece.stream}`;
    const begun = open.get(key);
    open.delete(key);
    const line = begun ? { ...begun, bytes: joined(begun.bytes, piece.bytes) } : piece;
    if (piece.isLast) yield toEntry(line);
    else open.set(key, line);
  }
  for (const line of open.values()) yield toEntry(line);
}

const toEntry = ({ bytes, isLast: _, ...entry }: Piece): ServiceEntry => ({
  ...entry,
  text: decoder.decode(bytes).replace(/\r$/, ""),
});

function parsePiece({ stream, bytes }: LogFrame, isWhole: boolean): Piece | undefined {
  const { stamp, length } = leadingStamp(bytes);
  const end = bytes.subarray(0, length + DETAILS_BYTES_MAX).indexOf(SPACE, length);
  if (!stamp || end < 0) return undefined;
  const details = new Map(
    decoder.decode(bytes.subarray(length, end)).split(",")
      .map((pair): [string, string] => {
        const [name = "", value = ""] = pair.split("=");
        return [name, value];
      }),
  );
  const taskId = details.get("com.docker.swarm.task.id");
  if (taskId === undefined) return undefined;
  const isEnded = bytes.at(-1) === LINE_FEED;
  const text = bytes.subarray(end + 1, isEnded ? -1 : undefined);
  return {
    stamp,
    stream,
    taskId,
    nodeId: details.get("com.docker.swarm.node.id") ?? "",
    bytes: text.slice(0, TEXT_BYTES_MAX),
    isLast: isWhole || isEnded || text.length < PIECE_BYTES,
  };
}

function joined(begin: Uint8Array, end: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.min(begin.length + end.length, TEXT_BYTES_MAX));
  bytes.set(begin);
  bytes.set(end.subarray(0, bytes.length - begin.length), begin.length);
  return bytes;
}

/** Frames of a terminal begin and end anywhere. */
async function* wholeLines(
  frames: AsyncIterable<LogFrame>,
): AsyncGenerator<LogFrame, void, undefined> {
  let rest: Uint8Array = new Uint8Array();
  for await (const { bytes } of frames) {
    let from = 0;
    for (let end; (end = bytes.indexOf(LINE_FEED, from)) >= 0; from = end + 1) {
      yield { stream: "stdout", bytes: joined(rest, bytes.subarray(from, end)) };
      rest = new Uint8Array();
    }
    rest = joined(rest, bytes.subarray(from));
  }
  if (rest.length > 0) yield { stream: "stdout", bytes: rest };
}
