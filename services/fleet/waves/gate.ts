/** The gate of updates on a member, and on the hub itself. @module */

import type { Deps } from "../../deps.ts";
import { selectBlocksOfDigest } from "../../../db/fleet_blocks.ts";
import type { UpdateGate } from "../../updates/gate.ts";
import { type Block, describeBlock } from "./block.ts";
import { blockOfImage } from "./kept.ts";

export function createUpdateGate(deps: Pick<Deps, "db" | "fleet">): UpdateGate {
  const blockOf: UpdateGate["blockOf"] = (image) => {
    const block: Block | undefined = blockOfImage(deps, image);
    return block && describeBlock(block);
  };
  return {
    get isNeeded() {
      return deps.fleet.membership !== undefined || deps.fleet.isHub;
    },
    blockOf,
    platformsOf: (digest) => selectBlocksOfDigest(deps.db, digest).map(({ platform }) => platform),
    async refusalOf({ digest, platform, image }) {
      const blocked = blockOf({ digest, platform });
      if (blocked !== undefined) return blocked;
      const { membership, hub } = deps.fleet;
      // A hub that has never said so is of an older version, or has not accepted this host yet.
      if (!membership?.asksHub) return undefined;
      const { link } = hub;
      if (!link) return `It waits for the hub ${membership.hubName}, which is away`;
      const answer = await hub.questions.ask((id) =>
        link.tell({ type: "ask", id, digest, platform, image })
      );
      if (answer === undefined) return `The hub ${membership.hubName} does not answer`;
      return answer ?? undefined;
    },
  };
}
