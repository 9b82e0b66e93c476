/** What passed-on requests need of the fleet; empty without one. @module */

import type { Deps } from "../../deps.ts";
import type { Accept, Links } from "../link/stream.ts";
import type { Sign } from "../notes/note.ts";
import { createPassages, type Passages } from "./passages.ts";
import { createNonces, type Nonces } from "../notes/nonces.ts";
import type { NoteParties } from "../notes/verify.ts";

/** A host of this hub. */
export interface PassingHost {
  id: string;
  name: string;
  /** Its state in words, e.g. `away since 2026-01-01T14:02:00Z`. */
  state: string;
}

/** This installation as a hub. */
export interface HubSide {
  /** Fingerprint of its key for links. */
  fingerprint: string;
  sign: Sign;
  links: Links;
  /** Finds a host by its id or name. */
  findHost(ref: string): PassingHost | undefined;
}

/** This installation as the member of a hub. */
export interface MemberSide extends NoteParties {
  hubName: string;
}

/** The parts are set when there is a fleet, and removed when it ends. */
export interface Fleet {
  hub?: HubSide | undefined;
  member?: MemberSide | undefined;
  /** Serves a stream of the hub's link; set by the running service. */
  accept?: Accept;
  readonly nonces: Nonces;
  readonly passages: Passages;
}

export const createFleet = (deps: Pick<Deps, "accounts" | "now">): Fleet => ({
  nonces: createNonces(),
  passages: createPassages(deps),
});
