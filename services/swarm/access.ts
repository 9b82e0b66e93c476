/** Calls that only a manager of a swarm answers, and the refusals of other engines. @module */

import { EngineError } from "../../engine/errors.ts";
import { type EngineInfo, systemInfo } from "../../engine/system.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";

type EngineDeps = Pick<Deps, "engine">;

/** Most managers that a message names. */
const SHOWN_MAX = 20;

/**
 * Does work that needs a manager with a quorum.
 *
 * @throws {AppError} `conflict` on another engine, with the addresses of the managers; and while the
 * swarm has no leader.
 */
export async function onManager<Result>(
  deps: EngineDeps,
  work: () => Promise<Result>,
): Promise<Result> {
  if (deps.engine.kind === "podman") throw withoutSwarm();
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    // The kind is unknown before the first response.
    if ((deps.engine.kind as string) === "podman") throw withoutSwarm();
    if (hasNoLeader(error)) throw withoutQuorum(error);
    if (error.status !== 503) throw error;
    throw refusalOf(await systemInfo(deps.engine)) ?? error;
  }
}

/** Whether the engine manages a swarm that has lost its quorum. */
export const hasNoLeader = (error: unknown): boolean =>
  error instanceof EngineError && error.status >= 500 &&
  /does not have a leader|context deadline exceeded/i.test(error.message);

/** The refusal of an engine that does not manage a swarm; `undefined` for one that does. */
export function refusalOf({ Swarm }: Pick<EngineInfo, "Swarm">): AppError | undefined {
  const state = Swarm?.LocalNodeState ?? "inactive";
  if (state === "active" && Swarm?.ControlAvailable) return undefined;
  return new AppError("conflict", describeState(state, managerAddresses(Swarm)));
}

export const withoutSwarm = () =>
  new AppError("conflict", "Podman has no swarm mode; connect Longshore to a Docker engine");

const withoutQuorum = (cause: unknown) =>
  new AppError(
    "conflict",
    "The swarm has no leader: fewer than half of its managers can be reached; start one of them",
    { cause },
  );

function describeState(state: string, managers: readonly string[]): string {
  switch (state) {
    case "active":
      return managers.length === 0
        ? "This node is a worker of the swarm; use Longshore on a manager"
        : `This node is a worker of the swarm; use Longshore on a manager: ${managers.join(", ")}`;
    case "locked":
      return "The swarm of this node is locked; run docker swarm unlock";
    case "pending":
      return "This node has not joined its swarm yet; try again";
    case "error":
      return "This node cannot reach its swarm; check docker info";
    default:
      return "The engine is not part of a swarm; run docker swarm init or docker swarm join";
  }
}

/** Addresses with ports of the managers that a node knows. */
export const managerAddresses = (swarm: EngineInfo["Swarm"]): string[] =>
  (swarm?.RemoteManagers ?? []).flatMap(({ Addr }) => Addr || []).sort().slice(0, SHOWN_MAX);
