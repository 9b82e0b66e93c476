/**
 * The containers of one service: which of them a deploy keeps, starts and removes, and which it
 * creates. The plan and the deploy both decide with it.
 *
 * @module
 */

import type { ContainerInspect } from "../../../engine/containers.ts";
import { readMark } from "../../containers/marks.ts";
import { nameOf } from "../../updates/recreate/replace.ts";
import { isTask } from "../../updates/run/verdict.ts";
import { containerNameOf } from "../deploy/container.ts";
import { restartPolicyOf } from "../deploy/host_config.ts";
import { LABEL } from "../labels.ts";
import type { Project, Service } from "../load/resolve.ts";

export interface Replicas {
  wanted: number;
  /** By number. */
  kept: ContainerInspect[];
  /** Those with the highest numbers, and what a replacement left behind. */
  superfluous: ContainerInspect[];
  /** Numbers of the containers that do not exist. */
  missing: number[];
  /** Those of `kept` that have to be started. */
  stopped: ContainerInspect[];
  /** Those of `kept` that did their work and are not started again. */
  completed: ContainerInspect[];
}

/** @param containers Those of the project. */
export function replicasOf(
  project: Project,
  key: string,
  containers: readonly ContainerInspect[],
): Replicas {
  const service = project.services[key];
  const wanted = service ? scaleOf(service) : 0;
  const rankOf = (each: ContainerInspect) => rank(project, key, each);
  const own = containers.filter((each) => serviceOf(each) === key)
    .sort((a, b) => numberOf(a) - numberOf(b) || rankOf(a) - rankOf(b));
  // Of several with a number, those with another name than the best do not count.
  const best = new Map(own.toReversed().map((each) => [numberOf(each), each]));
  const kept = own.filter((each) => {
    const first = best.get(numberOf(each))!;
    return each === first || (rankOf(each) === rankOf(first) && !isLeftover(each));
  }).slice(0, wanted);
  const used = new Set(kept.map(numberOf));
  const missing: number[] = [];
  for (let number = 1; kept.length + missing.length < wanted; number++) {
    if (!used.has(number)) missing.push(number);
  }
  const down = kept.filter(({ State }) => !State.Running && !State.Paused);
  const completed = service && isOneOff(project, key)
    ? down.filter(({ State }) => State.Status === "exited" && State.ExitCode === 0)
    : [];
  const stopped = down.filter((each) => !completed.includes(each));
  return {
    wanted,
    kept,
    superfluous: own.filter((each) => !kept.includes(each)),
    missing,
    stopped,
    completed,
  };
}

/** The number of containers that a service shall have. */
export const scaleOf = ({ scale, deploy }: Service): number => scale ?? deploy?.replicas ?? 1;

/**
 * Whether the file says that a service ends by itself: `restart: "no"` is written there, or another
 * service waits for its completion. Without either, an exit with 0 may be a stop by a user. One that
 * shares a namespace with another service has to run for it.
 */
function isOneOff({ services }: Project, key: string): boolean {
  const sharesIt = ({ ipc, network_mode, pid }: Service) =>
    [ipc, network_mode, pid].includes(`service:${key}`);
  if (Object.values(services).some(sharesIt)) return false;
  const policy = restartPolicyOf(services[key]!);
  if (policy?.Name === "no") return true;
  const isAwaited = ({ depends_on }: Service) =>
    depends_on?.[key]?.condition === "service_completed_successfully";
  return isTask(policy) && Object.values(services).some(isAwaited);
}

export const serviceOf = ({ Config }: ContainerInspect) => Config.Labels?.[LABEL.service] ?? "";

export const numberOf = ({ Config }: ContainerInspect) =>
  Number(Config.Labels?.[LABEL.containerNumber] ?? 0);

/** 0 for the name that the service gives, 2 for what a replacement left behind, 1 otherwise. */
function rank(project: Project, key: string, container: ContainerInspect): number {
  if (isLeftover(container)) return 2;
  const isNamed = Object.hasOwn(project.services, key) &&
    nameOf(container) === containerNameOf(project, key, numberOf(container));
  return isNamed ? 0 : 1;
}

/** Whether a replacement that could not be completed left it behind. */
const isLeftover = (container: ContainerInspect) => readMark(nameOf(container)) !== undefined;
