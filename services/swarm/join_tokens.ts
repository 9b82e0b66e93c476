/** Tokens with which other engines join the swarm. @module */

import {
  nodeInspect,
  type NodeRole,
  rotateJoinToken,
  swarmInspect,
} from "../../engine/swarm_nodes.ts";
import { systemInfo } from "../../engine/system.ts";
import type { Deps } from "../deps.ts";
import { onManager } from "./access.ts";
import { retryOutOfSequence } from "./sequence.ts";

export interface JoinToken {
  token: string;
  /** To run on the engine that joins. */
  command: string;
}

export type JoinTokens = Record<NodeRole, JoinToken>;

/** @throws {AppError} `conflict` on an engine that does not manage a swarm. */
export function readJoinTokens({ engine }: Pick<Deps, "engine">): Promise<JoinTokens> {
  return onManager({ engine }, async () => {
    const [{ JoinTokens }, { Swarm }] = await Promise.all([
      swarmInspect(engine),
      systemInfo(engine),
    ]);
    const { ManagerStatus } = await nodeInspect(engine, Swarm?.NodeID ?? "");
    const address = ManagerStatus?.Addr ?? "";
    const toToken = (token = "") => ({
      token,
      command: `docker swarm join --token ${token} ${address}`,
    });
    return { worker: toToken(JoinTokens?.Worker), manager: toToken(JoinTokens?.Manager) };
  });
}

/**
 * Replaces the token of a role; the old one is refused from then on. Nodes that have joined stay.
 *
 * @throws {AppError} `conflict` on an engine that does not manage a swarm.
 */
export async function changeJoinToken(
  { engine }: Pick<Deps, "engine">,
  role: NodeRole,
): Promise<JoinTokens> {
  await onManager({ engine }, () =>
    retryOutOfSequence(async () => {
      await rotateJoinToken(engine, await swarmInspect(engine), role);
    }));
  return await readJoinTokens({ engine });
}
