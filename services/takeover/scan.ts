/** Scans the host for stacks of other programs. @module */

import { selectStoredStacks } from "../../db/stack_versions.ts";
import type { Deps } from "../deps.ts";
import { listAll } from "../containers/reads.ts";
import type { Container } from "../containers/inventory.ts";
import { unitIn, unitText } from "../containers/units.ts";
import { groupStacks } from "../stacks/groups.ts";
import { candidatesOf } from "./candidates.ts";
import { findDirectories } from "./directories.ts";
import { evaluate, type Evaluated, type ForeignStack } from "./evaluate.ts";
import { findManagers } from "./managers.ts";
import { originsOf } from "./origins.ts";
import { readCandidates } from "./reading.ts";
import type { LooseContainer, Manager, TakeoverReport, TakeoverStack } from "./report.ts";

/** Limit of stacks that a scan reports. */
const STACKS_MAX = 500;

interface ScanOptions {
  signal: AbortSignal;
  onProgress: (progress: { done: number; total: number; stack: string }) => void;
}

/**
 * Reads and plans every stack that has no sources here, and keeps the report in memory. Nothing is
 * started, stopped or written.
 *
 * @throws {EngineUnreachableError}
 */
export async function scan(deps: Deps, options: ScanOptions): Promise<TakeoverReport> {
  const containers = await listAll(deps);
  const stored = new Set(selectStoredStacks(deps.db).map(({ stack }) => stack));
  const stacks = foreignStacks(containers).filter(({ name }) => !stored.has(name));
  const managers = findManagers(containers, stacks);
  const report: TakeoverReport = {
    stacks: await scanStacks(deps, stacks, managers, options),
    ...await findDirectories(deps, takenDirectories(containers)),
    containers: containers.filter(isLoose).map(toLoose),
    managers,
  };
  deps.takeover.store(containers, report);
  return report;
}

async function scanStacks(
  deps: Deps,
  stacks: readonly ForeignStack[],
  managers: readonly Manager[],
  { signal, onProgress }: ScanOptions,
): Promise<TakeoverStack[]> {
  const containers = deps.inventory.list().filter(({ self }) => !self);
  const { stackRoots } = deps.config;
  const readable = stacks.filter((stack) => unitOfStack(stack) === null);
  const looked = new Map(readable.map((stack) => [
    stack,
    candidatesOf(stack.origins, { containers, stackRoots }),
  ]));
  const found = await readCandidates(deps, [...looked.values()].flat(), signal);
  const views: TakeoverStack[] = [];
  for (const [done, stack] of stacks.entries()) {
    signal.throwIfAborted();
    onProgress({ done, total: stacks.length, stack: stack.name });
    const own = looked.get(stack);
    const evaluated = own
      ? await evaluate(deps, stack, found.filter(({ candidate }) => own.includes(candidate)))
      : [];
    views.push(toView(stack, evaluated, managers));
  }
  return views;
}

/** Names that stacks can have here; Compose has no others. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** Compose projects with their containers, newest first. */
export const foreignStacks = (containers: readonly Container[]): ForeignStack[] =>
  groupStacks(containers, undefined).filter(({ kind, name }) =>
    kind === "compose" && NAME.test(name)
  )
    .slice(0, STACKS_MAX)
    .map(({ name, services }) => {
      const ids = new Set(services.flatMap(({ containers }) => containers.map(({ id }) => id)));
      const own = containers.filter(({ id }) => ids.has(id));
      return { name, containers: own, origins: originsOf(own) };
    });

/** The unit of systemd that owns a container of the stack. */
export const unitOfStack = ({ containers }: ForeignStack): string | null =>
  containers.map(({ labels }) => unitIn(labels)).find((unit) => unit !== null) ?? null;

function toView(
  stack: ForeignStack,
  evaluated: readonly Evaluated[],
  managers: readonly Manager[],
): TakeoverStack {
  const { name, containers } = stack;
  const best = evaluated.find(({ plan }) => plan);
  const unit = unitOfStack(stack);
  return {
    name,
    containers: containers.map((each) => each.name).sort(),
    source: best?.source ?? { kind: "none", path: null },
    candidates: evaluated.map(({ source, modifiedAt, plan, error }) => ({
      ...source,
      modifiedAt: modifiedAt === 0 ? null : new Date(modifiedAt).toISOString(),
      plan: plan ?? null,
      error,
    })),
    plan: best?.plan ?? null,
    base: best?.base ?? null,
    configFile: stack.origins[0]?.configFiles[0] ?? null,
    manager: managers.find(({ updates, stacks }) => updates !== "all" && stacks.includes(name))
      ?.name ?? null,
    unit,
    notes: notesOf(stack, best, evaluated, unit),
  };
}

function notesOf(
  { origins }: ForeignStack,
  best: Evaluated | undefined,
  evaluated: readonly Evaluated[],
  unit: string | null,
): string[] {
  if (unit !== null) return [unitText("It", unit)];
  const notes: string[] = [];
  if (origins.length === 0) notes.push("The labels of the containers do not name Compose files");
  else if (!evaluated.some(({ source }) => source.kind !== "generated")) {
    notes.push(`${origins[0]!.configFiles[0]} was not found below STACK_ROOTS or in a volume`);
  }
  if (!best) return notes;
  const { recovered, plan, source, base } = best;
  if (recovered.length > 0) {
    notes.push(`Recovered from the containers, because no file has them: ${recovered.join(", ")}`);
  }
  if (plan && plan.unknown.length > 0) {
    notes.push(`Containers of services that the file does not have: ${plan.unknown.join(", ")}`);
  }
  if (source.kind === "mount" && base !== null) {
    notes.push(`Relative paths stay below ${base}; edits are stored here`);
  }
  return notes;
}

/** Directories of stacks with containers. */
const takenDirectories = (containers: readonly Container[]): Set<string> =>
  new Set(
    foreignStacks(containers).flatMap(({ origins }) => origins.map(({ directory }) => directory)),
  );

const isLoose = ({ composeProject, labels, self }: Container) =>
  !composeProject && !self && !labels["com.docker.stack.namespace"] &&
  !labels["com.docker.swarm.task.id"];

const toLoose = (container: Container): LooseContainer => ({
  id: container.id,
  name: container.name,
  image: container.image,
  unit: unitIn(container.labels),
});
