/** Both sides of passed-on requests: this installation as a hub, and as a member. @module */

import type { Caller } from "../../access/caller.ts";
import type { Accept, Link } from "../link/stream.ts";
import type { Nonces } from "../notes/nonces.ts";
import type { NoteParties } from "../notes/verify.ts";

/** A host of this hub. */
export interface PassingHost {
  id: string;
  name: string;
  labels: Readonly<Record<string, string>>;
  /** Its state in words that follow its name, e.g. `is away since 2026-01-01T14:02:00.000Z`. */
  state: string;
}

/** This installation as a hub. */
export interface HubSide {
  /** Its key as a host knows it by name. */
  key(hostId: string): Promise<string>;
  /** Signs with the key that a host has confirmed, or that of its joining; without a host with the newest one. */
  sign(
    bytes: Uint8Array<ArrayBuffer>,
    hostId?: string,
    use?: "confirmed" | "joining",
  ): Promise<Uint8Array>;
  /** The link to a host; `undefined` while it is away. */
  link(hostId: string): Link | undefined;
  /** Finds a host by its id or name. */
  findHost(ref: string): PassingHost | undefined;
}

/** This installation as the member of a hub. */
export interface MemberSide {
  hubName: string;
  parties(): Promise<NoteParties>;
}

/** Without a fleet, there is neither side. */
export interface Passing {
  hub(): HubSide | undefined;
  member(): MemberSide | undefined;
  /** Serves a stream of the hub's link; set by the running service. */
  accept?: Accept;
  /** Answers a request that the hub has left, as its caller; set by the running service. */
  perform?: (request: Request, caller: Caller) => Promise<Response>;
  readonly nonces: Nonces;
  readonly passages: Passages;
}

/** A request that is being passed on. */
export interface Passage {
  /** Aborts when the caller may no longer do what the note said. */
  signal: AbortSignal;
  /** May be called again. */
  end(): void;
}

/** The requests that are being passed on. */
export interface Passages {
  /** Ends those whose caller was logged out, lost the role or the address, or has expired. */
  check(): void;
  /**
   * @param isValid Whether the caller may keep it open; default: as long as their token is valid.
   * @throws {AppError} `forbidden` if the caller may not begin it; `unavailable` or `too_many_requests` above a limit.
   */
  begin(
    caller: Caller,
    host: Pick<PassingHost, "id" | "name" | "labels">,
    isValid?: () => boolean,
  ): Passage;
  /** Their number, for tests. */
  readonly size: number;
}
