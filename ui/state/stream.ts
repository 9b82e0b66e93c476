/**
 * Reads server-sent events (WHATWG HTML, 9.2) with the access token in a header, which the browser's
 * own `EventSource` cannot send. Reconnects by itself.
 *
 * @module
 */

import { ApiError, refusalOf, send } from "../api/client.ts";
import { apiUrl } from "./root.ts";
import { session } from "./session.ts";

export interface StreamFrame {
  type: string;
  id: string | undefined;
  /** JSON. Copying it to other tabs is much cheaper as text. */
  json: string;
}

export interface StreamOptions {
  signal: AbortSignal;
  /** Below the service's root. */
  path?: string;
  /** Id of the last event that was received before. */
  lastEventId?: string | undefined;
  onFrame: (frame: StreamFrame) => void;
  onState: (state: "live" | "reconnecting") => void;
  /** Called when the service refuses the stream, which is not tried again; otherwise it is. */
  onRefusal?: (error: ApiError) => void;
}

/** The service sends something every 15 seconds; a longer silence is a lost connection. */
const SILENCE_MAX_MS = 40_000;

const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 5_000;

/** Reads until the signal aborts or the session ends. */
export async function followStream(options: StreamOptions): Promise<void> {
  const { signal, onFrame, onState } = options;
  let lastEventId = options.lastEventId;
  let retryMs = RETRY_FIRST_MS;
  while (!signal.aborted && session.peek()) {
    try {
      await readOnce(options.path ?? "api/stream", lastEventId, signal, () => {
        retryMs = RETRY_FIRST_MS;
        onState("live");
      }, (frame) => {
        lastEventId = frame.id ?? lastEventId;
        onFrame(frame);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError || error instanceof TypeError || isAbort(error))) throw error;
      if (options.onRefusal && error instanceof ApiError && REFUSALS.includes(error.status)) {
        return options.onRefusal(error);
      }
      onState("reconnecting");
      await pause(retryMs * (0.75 + Math.random() / 2), signal);
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
    }
  }
}

/** Waiting does not help: not valid, not permitted, not there, or the log cannot be read. */
const REFUSALS = [400, 403, 404, 409];

const isAbort = (error: unknown) => error instanceof DOMException && error.name === "AbortError";

/** Returns when the service ends the stream, e.g. because the token has expired. */
async function readOnce(
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
  onOpen: () => void,
  onFrame: (frame: StreamFrame) => void,
): Promise<void> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restart = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  };
  restart();
  try {
    const response = await send(apiUrl(path), {
      headers: { ...(lastEventId !== undefined && { "last-event-id": lastEventId }) },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok || !response.body) throw await refusalOf(response);
    onOpen();
    const parse = createParser(onFrame);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      restart();
      parse(value);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a function that takes the stream's text in pieces of any size. */
export function createParser(onFrame: (frame: StreamFrame) => void): (text: string) => void {
  let rest = "";
  let type = "message";
  let id: string | undefined;
  let data: string[] = [];
  return (text) => {
    rest += text;
    if (!text.includes("\n")) return; // A long line arrives in many pieces.
    const lines = rest.split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) onFrame({ type, id, json: data.join("\n") });
        [type, id, data] = ["message", undefined, []];
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line)!;
      if (field === "event") type = value!;
      else if (field === "id") id = value!;
      else if (field === "data") data.push(value!);
    }
  };
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
