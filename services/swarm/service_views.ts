/** Services of the swarm as the API shows them. @module */

import type { Grant, PublishedPort, Service, Task, UpdateConfig } from "../../engine/swarm.ts";
import { engineTime } from "../containers/engine_time.ts";
import { pinnedDigest, shortImage, type SwarmMode, toSwarmService } from "./services.ts";
import { type TaskNames, type TaskView, toTaskViews } from "./task_views.ts";

/** A failed task. */
type TaskFailure = Pick<TaskView, "id" | "slot" | "node" | "state" | "exitCode"> & {
  error: string;
  at: string | null;
};

export interface ServiceListItem {
  id: string;
  /** With the stack name as prefix, e.g. `shop_web`. */
  name: string;
  stack: string | null;
  mode: SwarmMode;
  image: string;
  /** Digest that the swarm has pinned, e.g. `sha256:…`. */
  digest: string | null;
  /** Tasks that should run, and those that do. */
  desired: number;
  running: number;
  ports: { protocol: string; target: number; published: number | null; mode: string }[];
  placement: { constraints: string[]; spread: string[]; maxReplicasPerNode: number | null };
  /** The last update; `null` if there was none. */
  update: {
    state: string;
    message: string;
    startedAt: string | null;
    completedAt: string | null;
  } | null;
  /** Whether Swarm has an earlier version. */
  canRollBack: boolean;
  createdAt: string | null;
  updatedAt: string | null;
}

interface UpdateSettings {
  parallelism: number;
  delaySeconds: number;
  failureAction: string;
  monitorSeconds: number;
  maxFailureRatio: number;
  order: string;
}

export interface ServiceDetail extends ServiceListItem {
  /** The last failures of its tasks, newest first. */
  failures: TaskFailure[];
  secrets: string[];
  configs: string[];
  updateSettings: UpdateSettings;
  rollbackSettings: UpdateSettings;
}

/** Most failures that are shown. */
const FAILURES_MAX = 5;

/** @param tasks All tasks of the service. */
export function toListItem(service: Service, tasks: readonly Task[]): ServiceListItem {
  const { Spec, UpdateStatus } = service;
  const current = tasks.filter(({ DesiredState }) => DesiredState === "running");
  const { id, name, stack, mode, desired, running } = toSwarmService(service, current);
  const image = Spec.TaskTemplate?.ContainerSpec?.Image ?? "";
  return {
    id,
    name,
    stack: stack || null,
    mode,
    image: shortImage(image),
    digest: pinnedDigest(image),
    desired,
    running,
    ports: (service.Endpoint?.Ports ?? []).map(toPort),
    placement: placementOf(service),
    update: UpdateStatus?.State
      ? {
        state: UpdateStatus.State,
        message: UpdateStatus.Message ?? "",
        startedAt: engineTime(UpdateStatus.StartedAt),
        completedAt: engineTime(UpdateStatus.CompletedAt),
      }
      : null,
    canRollBack: hasEarlierVersion(service),
    createdAt: engineTime(service.CreatedAt),
    updatedAt: engineTime(service.UpdatedAt),
  };
}

/** @param tasks All tasks of the service. */
export function toDetail(
  service: Service,
  tasks: readonly Task[],
  names: TaskNames,
): ServiceDetail {
  const { Secrets, Configs } = service.Spec.TaskTemplate?.ContainerSpec ?? {};
  return {
    ...toListItem(service, tasks),
    failures: failuresOf(tasks, names),
    secrets: (Secrets ?? []).map(nameOfGrant),
    configs: (Configs ?? []).map(nameOfGrant),
    updateSettings: toSettings(service.Spec.UpdateConfig),
    rollbackSettings: toSettings(service.Spec.RollbackConfig),
  };
}

/** Swarm forgets the earlier version when it rolls back. */
export const hasEarlierVersion = ({ PreviousSpec }: Service): boolean =>
  Object.keys(PreviousSpec ?? {}).length > 0;

const nameOfGrant = ({ SecretName, ConfigName }: Grant) => SecretName ?? ConfigName ?? "";

const toPort = (port: PublishedPort) => ({
  protocol: port.Protocol ?? "tcp",
  target: port.TargetPort ?? 0,
  published: port.PublishedPort || null,
  mode: port.PublishMode ?? "ingress",
});

function placementOf({ Spec }: Service): ServiceListItem["placement"] {
  const { Constraints, Preferences, MaxReplicas } = Spec.TaskTemplate?.Placement ?? {};
  return {
    constraints: Constraints ?? [],
    spread: (Preferences ?? []).flatMap(({ Spread }) => Spread?.SpreadDescriptor || []),
    maxReplicasPerNode: MaxReplicas || null,
  };
}

/** Swarm's defaults are filled in. */
function toSettings(config: UpdateConfig | null | undefined): UpdateSettings {
  return {
    parallelism: config?.Parallelism ?? 1,
    delaySeconds: (config?.Delay ?? 0) / 1e9,
    failureAction: config?.FailureAction ?? "pause",
    monitorSeconds: (config?.Monitor ?? 5e9) / 1e9,
    maxFailureRatio: config?.MaxFailureRatio ?? 0,
    order: config?.Order ?? "stop-first",
  };
}

/** The last failures of tasks, newest first. */
export function failuresOf(tasks: readonly Task[], names: TaskNames): TaskFailure[] {
  const failed = tasks.filter(({ Status }) => Status.Err);
  return toTaskViews(failed, failed, names)
    .sort((a, b) => (b.changedAt ?? "") < (a.changedAt ?? "") ? -1 : 1)
    .slice(0, FAILURES_MAX)
    .map(({ id, slot, node, state, exitCode, error, changedAt }) => ({
      id,
      slot,
      node,
      state,
      exitCode,
      error: error ?? "",
      at: changedAt,
    }));
}
