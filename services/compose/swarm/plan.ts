/** The plan of a Swarm stack: its sources compared with the services and networks of the swarm. @module */

import { type Network, networkList } from "../../../engine/networks.ts";
import { type Service, serviceList } from "../../../engine/swarm.ts";
import { type Caller, includesRole } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { onManager } from "../../swarm/access.ts";
import { STACK_LABEL } from "../../swarm/services.ts";
import { SWARM_ONLY } from "../load/service_checks.ts";
import { type PlannedChange, serviceChange } from "../plan/change.ts";
import type { PlanOptions } from "../plan/options.ts";
import { completeSources, loadDeployable } from "../given_sources.ts";
import { issueText } from "../load/scope.ts";
import { assertServices, type LoadedStack, recordStack, secretValues } from "../plan/stored.ts";
import type { StackSources } from "../validate.ts";
import { shownPlan } from "../plan/shown.ts";
import { compared, reasonsOf } from "./compared.ts";
import { serviceNameOf, serviceSpec } from "./spec.ts";
import { assertRunnable, unsupportedKeys } from "./unsupported.ts";
import { namesOf, readMissing, type StackValue, valuesOf } from "./values.ts";

type PlanDeps = Parameters<typeof recordStack>[0] & Pick<Deps, "engine" | "secrets">;

/** Services and networks of a stack in the swarm. */
export interface SwarmState {
  /** Services of the stack by name. */
  services: ReadonlyMap<string, Service>;
  /** Names of the other services of the swarm. */
  otherServices: ReadonlySet<string>;
  /** All networks of the engine. */
  networks: readonly Network[];
}

export interface SwarmPlan {
  changes: PlannedChange[];
  warnings: string[];
}

/**
 * @param values Those that a deploy uses.
 * @throws {AppError} `conflict` on an engine that does not manage a swarm, and as `readMissing()`.
 */
export function readState(
  { engine }: Pick<Deps, "engine">,
  stack: string,
  values: readonly StackValue[] = [],
): Promise<SwarmState> {
  return onManager({ engine }, async () => {
    const [services, networks] = await Promise.all([
      serviceList(engine),
      networkList(engine),
      readMissing({ engine }, values),
    ]);
    const nameOf = ({ ID, Spec: { Name } }: Service) => Name ?? ID;
    const isOwn = ({ Spec: { Labels } }: Service) => Labels?.[STACK_LABEL] === stack;
    return {
      services: new Map(services.filter(isOwn).map((service) => [nameOf(service), service])),
      otherServices: new Set(services.filter((service) => !isOwn(service)).map(nameOf)),
      networks,
    };
  });
}

/**
 * Compares the current sources of a Swarm stack with the swarm. Changes nothing but to record an edit
 * on disk.
 *
 * @throws {AppError} As `openStack()` and {@linkcode readState}; `invalid` for an unknown service among
 * the options; `conflict` for settings with which Swarm cannot run a service, and as `planSwarm()`.
 */
export async function planSwarmStack(
  deps: PlanDeps,
  { role }: Pick<Caller, "role">,
  name: string,
  options: PlanOptions = {},
): Promise<SwarmPlan & { version: number }> {
  const stack = await recordStack(deps, name, "swarm");
  assertServices(stack, options);
  assertRunnable(deps.config, stack.project);
  const values = await valuesOf(deps, stack);
  const plan = planSwarm(stack, values, await readState(deps, name, values), options);
  const hidden = includesRole(role, "admin") ? [] : stack.secretValues;
  return shownPlan({ ...plan, version: stack.version }, hidden);
}

/**
 * Compares sources that a user sent with the swarm. Changes nothing.
 *
 * @throws {AppError} As {@linkcode planSwarmStack}; `invalid` for sources that cannot be deployed.
 */
export async function planGivenSwarm(
  deps: PlanDeps,
  caller: Pick<Caller, "role">,
  name: string,
  given: StackSources,
  options: PlanOptions,
): Promise<SwarmPlan> {
  const loaded = await loadDeployable(deps, await completeSources(deps, caller, name, given), name);
  assertServices(loaded, options);
  assertRunnable(deps.config, loaded.project);
  const stack = { ...loaded, warnings: loaded.warnings.map(issueText) };
  const values = await valuesOf(deps, stack);
  const plan = planSwarm(stack, values, await readState(deps, name, values), options);
  const hidden = includesRole(caller.role, "admin")
    ? []
    : secretValues(loaded.project, loaded.values);
  return shownPlan(plan, hidden);
}

/**
 * Pure.
 *
 * @throws {AppError} `conflict` for an external network that does not exist, and for a new service
 * whose name another one has.
 */
export function planSwarm(
  { project, warnings }: Pick<LoadedStack, "project" | "warnings">,
  values: readonly StackValue[],
  { services, otherServices, networks }: SwarmState,
  { removeOrphans = false, services: only, recreate = "changed" }: PlanOptions = {},
): SwarmPlan {
  const networkNames = new Map(networks.map(({ Id, Name }) => [Id, Name]));
  const names = namesOf(values);
  const planService = (key: string): PlannedChange => {
    const name = serviceNameOf(project, key);
    const current = services.get(name);
    if (!current && otherServices.has(name)) {
      throw new AppError("conflict", `Another service has the name ${name}`);
    }
    if (!current) return serviceChange(key, "create");
    const { deploy } = project.services[key]!;
    const options = { hasFailureAction: deploy?.update_config?.failure_action !== undefined };
    const reasons = reasonsOf(
      compared(current.Spec, networkNames, options),
      compared(serviceSpec(project, key, names), networkNames, options),
    );
    const isChanged = recreate === "always" || reasons.length > 0 && recreate !== "never";
    return serviceChange(key, isChanged ? "recreate" : "none", reasons);
  };
  const known = new Set(Object.keys(project.services).map((key) => serviceNameOf(project, key)));
  const orphans = [...services.keys()].filter((name) => !known.has(name)).sort();
  return {
    changes: [
      ...planNetworks(project, networks),
      ...Object.keys(project.services).filter((key) => !only || only.includes(key)).map(
        planService,
      ),
      ...orphans.map((name) =>
        serviceChange(name.slice(project.name.length + 1), removeOrphans ? "remove" : "none", [{
          path: name,
          from: "running",
          to: null,
          text: `${name} is not in the Compose file`,
        }])
      ),
    ],
    warnings: [...unsupportedKeys(project), ...warnings.filter((text) => !isAboutCompose(text))],
  };
}

/** Whether a warning is about Compose, which has no swarm. */
const isAboutCompose = (text: string) =>
  text.includes(SWARM_ONLY) || text.includes("only Swarm stacks have external ones");

function planNetworks(
  { networks, services }: LoadedStack["project"],
  existing: readonly Network[],
): PlannedChange[] {
  const used = new Set(Object.values(services).flatMap((each) => Object.keys(each.networks ?? {})));
  return Object.entries(networks).filter(([key]) => used.has(key)).map(
    ([key, { name, external }]) => {
      const isThere = existing.some(({ Name }) => Name === name);
      if (external && !isThere) {
        throw new AppError("conflict", `The external network ${name} does not exist`);
      }
      return { kind: "network", name: key, action: isThere ? "none" : "create", reasons: [] };
    },
  );
}
