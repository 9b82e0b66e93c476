/**
 * Messages of a hub and its hosts about blocks. At the beginning of a link, both tell what the other
 * does not have; a hub that was restored from a backup learns from its hosts what came after it.
 *
 *     hub:   blocks {hash}                 that it keeps these
 *     host:  blocks_wanted                 it keeps others
 *     hub:   block …, blocks {hash, isAll} all of them
 *     host:  block …                       those that the hub has not told
 *     host:  synced
 *
 * Afterwards the hub tells each change, and the host asks before automatic updates.
 *
 * @module
 */

import { selectFleetHost } from "../../../db/fleet_hosts.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import type { OpenHost } from "../hosts/fleet.ts";
import type { Control } from "../link/control.ts";
import { refusalOf } from "./answer.ts";
import { BLOCKS_MAX, hashOf } from "./blocks.ts";
import { processReport, tellAll, tellBlock, type WaveDeps } from "./hub.ts";
import { keepBlock, keptBlocks, openKept, ownCheck } from "./kept.ts";

/** Limit of questions of a host in a second. */
const ASKS_MAX = 20;

type TellDeps = Pick<Deps, "db" | "log">;

/** Types of the messages of a host about blocks and waves. */
type FromHost = "ask" | "block" | "blocks_wanted" | "synced";

export const isWaveMessage = (message: Control): message is Control<FromHost> =>
  ["ask", "block", "blocks_wanted", "synced"].includes(message.type);

/** Begins the exchange with a host that is accepted. */
export function offerBlocks(deps: TellDeps, open: OpenHost): void {
  inOrder(deps, open, () => tellHash(deps, open, false));
}

/** Processes a message of a host. Those of one that waits for an admin are left out. */
export function receiveFromHost(
  deps: WaveDeps,
  { id, open, message }: { id: string; open: OpenHost; message: Control<FromHost> },
): void {
  if (open.isPending) return;
  const { waves, link } = open;
  if (message.type === "ask") {
    const second = Math.floor(deps.now().getTime() / 1000);
    waves.asks = waves.second === second ? waves.asks + 1 : 1;
    waves.second = second;
    if (waves.asks > ASKS_MAX) return;
    inOrder(deps, open, () => answer(deps, id, open, message));
  } else if (message.type === "block") {
    if (++waves.told > BLOCKS_MAX) return link.close("the host tells too many blocks");
    inOrder(deps, open, () => learn(deps, id, message.text));
  } else if (message.type === "blocks_wanted") {
    if (waves.hasAll) return;
    waves.hasAll = true;
    inOrder(deps, open, async () => {
      for (const { text } of keptBlocks(deps, "own")) await tellBlock(deps, { id, link }, text);
      await tellHash(deps, open, true);
    });
  } else if (!waves.isSynced) {
    inOrder(deps, open, async () => {
      waves.isSynced = true;
      await processReport(deps, id);
    });
  }
}

function inOrder(deps: TellDeps, { waves }: OpenHost, work: () => Promise<void> | void): void {
  waves.queue = waves.queue.then(work).catch((error) => {
    deps.log.error("message of a host failed", errorFields(error));
  });
}

async function tellHash(deps: TellDeps, { link }: OpenHost, isAll: boolean): Promise<void> {
  link.tell({ type: "blocks", hash: await hashOf(keptBlocks(deps, "own")), isAll });
}

/** Takes back a block that this hub has signed, e.g. before it was restored from a backup. */
async function learn(deps: WaveDeps, id: string, text: string): Promise<void> {
  const block = await openKept(ownCheck(deps), text);
  if (!block || !keepBlock(deps, "own", block)) return;
  deps.log.info("block learned from a host", { host: id, digest: block.digest });
  await tellAll(deps, text, id);
}

function answer(
  deps: WaveDeps,
  hostId: string,
  { link, waves }: OpenHost,
  { id, ...image }: Control<"ask">,
): void {
  const host = selectFleetHost(deps.db, hostId);
  if (!host) return;
  const refusal = waves.isSynced
    ? refusalOf(deps, host, image)
    : "The hub learns from this host what is blocked";
  link.tell({ type: "answer", id, refusal: refusal?.slice(0, 600) ?? null });
}
