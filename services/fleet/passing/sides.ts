/** Both sides of passed-on requests: this installation as a hub, and as a member. @module */

import type { Deps } from "../../deps.ts";
import type { Accept, Link } from "../link/stream.ts";
import type { Sign } from "../notes/note.ts";
import { createNonces, type Nonces } from "../notes/nonces.ts";
import type { NoteParties } from "../notes/verify.ts";
import { createPassages, type Passages } from "./passages.ts";

/** A host of this hub. */
export interface PassingHost {
  id: string;
  name: string;
  /** Its state in words, e.g. `away since 2026-01-01T14:02:00Z`. */
  state: string;
}

/** This installation as a hub. */
export interface HubSide {
  /** Its key for links, as members know it. */
  key(): Promise<string>;
  sign: Sign;
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
  readonly nonces: Nonces;
  readonly passages: Passages;
}

export const createPassing = (deps: Pick<Deps, "accounts" | "now">): Passing => ({
  hub: () => undefined,
  member: () => undefined,
  nonces: createNonces(),
  passages: createPassages(deps),
});
