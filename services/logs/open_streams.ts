/** The open log streams. @module */

import type { Holder } from "../access/shares.ts";
import type { Container } from "../containers/inventory.ts";
import type { StreamChunk } from "../stream/chunks.ts";

export interface LogStreamRequest {
  /** Missing for streams of the service itself. */
  holder?: Holder;
  /** The first containers. */
  containers: readonly Container[];
  /** Selects the containers of the stream at a later time; the stream ends without it. */
  select?: ((containers: readonly Container[]) => Container[]) | undefined;
  /** Number of last lines of each container, or all. */
  tail: number | undefined;
  /** Only lines from this time on: Unix seconds with nine decimal places. */
  since: string | undefined;
  /** Id of the last frame that the client received. */
  lastEventId: string | undefined;
  /** Selects lines. A slow one is run in slices. */
  filter: { selects(line: LogLineFields): boolean; isSlow: boolean } | undefined;
  /**
   * Lines beyond the memory of a stream are read again later, instead of dropped, as long as the
   * client catches up.
   */
  isComplete?: boolean;
  /** Whether the client is still authorized. Called every second; its stream ends if not. */
  isValid: () => boolean;
}

/** Fields of a line that a filter uses. */
export interface LogLineFields {
  stream: "stdout" | "stderr";
  message: string;
  level: string | null;
}

export interface LogStreams {
  /** Number of connected clients. */
  readonly readers: number;
  readonly followed: number;
  /**
   * Connects a client.
   *
   * @throws {AppError} `unavailable` if there are too many clients or containers, or the service is
   * stopping; `too_many_requests` above the share of the account or token. The error of the engine if the log of the only container cannot be read.
   */
  open(request: LogStreamRequest): Promise<ReadableStream<StreamChunk>>;
  /** Ends the streams of clients that are no longer authorized. */
  endUnauthorized(): void;
  /** Continues at once with a container that was started. */
  wake(containerId: string): void;
  /** Checks clients and containers for changes; called every second. */
  tick(): void;
  /** Ends all streams and refuses new ones. */
  close(): void;
}
