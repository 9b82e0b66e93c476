/** The member's side of `hub_link.ts`: it keeps what its hub has blocked. @module */

import { type Membership, updateMembership } from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { hubCheck } from "../enrolment/note_keys.ts";
import type { Control } from "../link/control.ts";
import type { OpenLink } from "../link/open_link.ts";
import { BLOCKS_MAX, hashOf } from "./blocks.ts";
import { keepBlock, keptBlocks, openKept } from "./kept.ts";

type MemberDeps = Pick<Deps, "changes" | "db" | "fleet" | "log">;

/** Processes messages of the hub about blocks and waves, in their order. */
export type ReceiveFromHub = (message: Control, link: Pick<OpenLink, "tell">) => void;

/** Resource whose changes clients follow: what is blocked is part of the updates. */
const UPDATES_RESOURCE = "/api/updates";

export function createReceiver(deps: MemberDeps, membership: Membership): ReceiveFromHub {
  const { fleet, log } = deps;
  /** Texts that the hub has told first. */
  const told = new Set<string>();
  let queue = Promise.resolve();
  const inOrder = (work: () => Promise<void>) => {
    queue = queue.then(work).catch((error) => {
      log.error("message of the hub failed", errorFields(error));
    });
  };
  return (message, link) => {
    if (message.type === "answer") fleet.hub.questions.answer(message.id, message.refusal);
    else if (message.type === "block") {
      if (told.size < BLOCKS_MAX) told.add(message.text);
      inOrder(() => keep(deps, membership, message.text));
    } else if (message.type === "blocks") {
      inOrder(() => compare(deps, membership, { message, link, told }));
    }
  };
}

async function keep(
  deps: MemberDeps,
  membership: Membership,
  text: string,
): Promise<void> {
  const block = await openKept(hubCheck(deps, membership), text);
  if (!block) {
    return deps.log.warn("block with a wrong signature ignored", { hub: membership.hubName });
  }
  if (!keepBlock(deps, "hub", block)) return;
  deps.log.info(block.isBlocked ? "image blocked by the hub" : "image allowed by the hub", {
    digest: block.digest,
  });
  deps.changes.record(UPDATES_RESOURCE);
}

async function compare(
  deps: MemberDeps,
  { hostId }: Membership,
  { message, link, told }: {
    message: Control<"blocks">;
    link: Pick<OpenLink, "tell">;
    told: ReadonlySet<string>;
  },
): Promise<void> {
  const { db, fleet } = deps;
  if (!fleet.membership?.asksHub) {
    updateMembership(db, hostId, { asksHub: true });
    fleet.refresh();
  }
  const kept = keptBlocks(deps, "hub");
  const isSame = message.hash === await hashOf(kept);
  if (!isSame && !message.isAll) return link.tell({ type: "blocks_wanted" });
  if (!isSame) {
    for (const { text } of kept) if (!told.has(text)) link.tell({ type: "block", text });
  }
  link.tell({ type: "synced" });
}
