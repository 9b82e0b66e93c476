/** Links and their streams, as the rest of the fleet uses them. @module */

/** One stream of a link: bytes both ways, used like a TCP connection. */
export interface LinkStream {
  /** Number of the stream in its link, the same at both ends: a note names it for a large body. */
  readonly id: number;
  /** Bytes read into `into`, or null at the end. Throws when the link or the stream is gone. */
  read(into: Uint8Array): Promise<number | null>;
  /** Waits for credit of the stream's window; returns the number of bytes written. */
  write(bytes: Uint8Array): Promise<number>;
  /** Ends our direction; the other side reads null. */
  closeWrite(): Promise<void>;
  /** Ends both directions at once. */
  close(): void;
}

/** An open link to one peer whose key is proved. */
export interface Link {
  /** The peer's static key, base64url (the host's identity). */
  readonly peer: string;
  /**
   * Opens a stream. Only hubs open streams that carry requests.
   *
   * @throws When the link is closed or has 1,000 streams.
   */
  open(signal: AbortSignal): Promise<LinkStream>;
  /** Measured offset of the peer's clock (peer minus ours) and round trip, in milliseconds. */
  readonly clock: { offset: number; roundTrip: number };
  /** Time without a message of the peer, in milliseconds. */
  readonly silentMs: number;
  close(reason: string): void;
  readonly closed: Promise<string>;
}

/** Links of a hub by host id. */
export interface Links {
  link(hostId: string): Link | undefined;
}

/** Decides at a member what happens with a stream that the hub opened. */
export type Accept = (stream: LinkStream, link: Link) => Promise<void>;
