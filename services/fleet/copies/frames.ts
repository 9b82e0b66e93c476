/** Reads the frames of a host's streams (Server-Sent Events, WHATWG HTML 9.2.6). @module */

/** Longest frame, in characters: all rows of a large host. */
const FRAME_MAX = 2 * 1024 * 1024;

/** Cost of a frame beyond its bytes: a short one may change one row of a long list. */
const FRAME_COST = 1_024;

/** Bytes that a host may send at once, and in each second. */
const BURST_BYTES = 4 * 1024 * 1024;
const SECOND_BYTES = 64 * 1024;

export interface Frame {
  event: string;
  data: string;
  id?: string;
}

/** Bytes that a host may send now, across its connections. */
export interface Budget {
  /** @throws {RangeError} For a host that sends too much. */
  spend(bytes: number): void;
}

/** @param now A clock in milliseconds. */
export function createBudget(now: () => number): Budget {
  let left = BURST_BYTES;
  let at = now();
  return {
    spend(bytes) {
      const elapsed = Math.max(0, now() - at);
      at += elapsed;
      left = Math.min(BURST_BYTES, left + elapsed / 1_000 * SECOND_BYTES) - bytes;
      if (left >= 0) return;
      left = 0;
      throw new RangeError("The host sends too much");
    },
  };
}

/**
 * The frames with data. Each byte is handled once, however they are cut.
 *
 * @param frameMax Longest frame, in characters; default: all rows of a large host.
 * @throws {RangeError} For a frame that is too long, or a host that sends too much.
 */
export async function* readFrames(
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
  { spend }: Budget,
  frameMax = FRAME_MAX,
): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let line: string[] = [];
  let length = 0;
  let frame: Frame = { event: "message", data: "" };
  for await (const bytes of body) {
    spend(bytes.length);
    const [rest = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    line.push(rest);
    length += rest.length;
    for (const next of others) {
      const text = line.join("");
      line = [next];
      length += next.length;
      if (text === "") {
        spend(FRAME_COST);
        if (frame.data !== "") yield frame;
        frame = { event: "message", data: "" };
        length = next.length;
      } else if (text.startsWith("id: ")) frame.id = text.slice("id: ".length);
      else if (text.startsWith("event: ")) frame.event = text.slice("event: ".length);
      else if (text.startsWith("data: ")) frame.data += text.slice("data: ".length);
    }
    if (length > frameMax) throw new RangeError("The host sent a frame that is too long");
  }
}
