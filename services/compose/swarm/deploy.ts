/** Deploys a Swarm stack. Swarm replaces the tasks; each service is waited for before the next one. @module */

import { ifThere } from "../../../engine/errors.ts";
import { networkCreate, networkList } from "../../../engine/networks.ts";
import {
  type Grant,
  type Service,
  serviceCreate,
  serviceList,
  serviceRemove,
  type ServiceSpec,
} from "../../../engine/swarm.ts";
import { definedFields } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { JobEnd, type JobRun } from "../../jobs/kind.ts";
import { authFor } from "../../swarm/actions.ts";
import { changeService } from "../../swarm/change_steps.ts";
import { converge } from "../../swarm/converge.ts";
import { resolveImage, withRollback } from "../../swarm/service_jobs.ts";
import { assertNoneOwn } from "../../swarm/own_service.ts";
import { STACK_LABEL } from "../../swarm/services.ts";
import { type AppliedChange, type DeployResult, withoutSecrets } from "../deploy/job.ts";
import type { Project } from "../load/resolve.ts";
import { startOrderOf } from "../plan/start_order.ts";
import { type LoadedStack, openStack } from "../plan/stored.ts";
import type { SwarmDeployInput } from "./input.ts";
import { planSwarm, readState } from "./plan.ts";
import { serviceNameOf, serviceSpec } from "./spec.ts";
import { assertRunnable } from "./unsupported.ts";
import {
  createValues,
  namesOf,
  readIds,
  removeUnusedValues,
  type StackValue,
  valuesOf,
} from "./values.ts";

type Job = JobRun<SwarmDeployInput>;

/** Result of the step `plan`. */
interface Planned {
  changes: AppliedChange[];
  warnings: string[];
}

/** A service that the deploy has changed. */
interface Done {
  key: string;
  id: string;
  isNew: boolean;
}

/** The failure of a service; result of the step `failure`. */
interface Failure {
  key: string;
  message: string;
  status: JobEnd["status"];
  /** The services that were changed, also a new one that failed. */
  done: Done[];
}

export async function deploySwarmStack(deps: Deps, given: Job): Promise<DeployResult> {
  const { version } = given.input;
  const stack = await openStack(deps, given.target, version, "swarm");
  const job = withoutSecrets(given, stack.secretValues);
  assertRunnable(deps.config, stack.project);
  const values = await valuesOf(deps, stack);
  const { changes, warnings } = await job.step("plan", () => planned(deps, job, stack, values));
  const result = { version, changes, warnings };
  await job.step("networks", () => createNetworks(deps, stack.project, changes));
  await job.step("values", () => createValues(deps, values).then(() => null));
  // The tasks of a service that was removed or rolled back meanwhile would tell nothing any more.
  const failure = job.resultOf("failure") as Failure | undefined ??
    await changeServices(deps, job, stack.project, { changes, values });
  if (failure) throw await rolledBack(deps, job, failure, result);
  await job.step("remove", () => removeOrphans(deps, stack.project, changes));
  await job.step("clean up", () => removeUnusedValues(deps, job.target, values).then(() => null));
  return result;
}

async function planned(
  deps: Deps,
  { input, target }: Job,
  stack: LoadedStack,
  values: readonly StackValue[],
): Promise<Planned> {
  const { recreate, removeOrphans, services } = input;
  const state = await readState(deps, target, values);
  const { changes, warnings } = planSwarm(stack, values, state, {
    recreate,
    removeOrphans,
    ...(services && { services }),
  });
  const changed = changes.filter(({ kind, action }) => kind === "service" && action !== "none")
    .map(({ name }) => state.services.get(serviceNameOf(stack.project, name)));
  assertNoneOwn(deps, changed.filter((service) => service !== undefined));
  return {
    changes: changes.map(({ kind, name, action }) => ({ kind, name, action })),
    warnings,
  };
}

/** Services that are created or changed, those that others depend on first. */
function inOrder(project: Project, changes: readonly AppliedChange[]): AppliedChange[] {
  const byKey = new Map(
    changes.filter(({ kind, action }) =>
      kind === "service" && (action === "create" || action === "recreate")
    ).map((change) => [change.name, change]),
  );
  return startOrderOf(project).flatMap((key) => byKey.get(key) ?? []);
}

async function createNetworks(
  { engine }: Deps,
  { name, networks }: Project,
  changes: readonly AppliedChange[],
): Promise<string[]> {
  const created = [];
  const filters = { label: [`${STACK_LABEL}=${name}`] };
  for (const { kind, name: key, action } of changes) {
    if (kind !== "network" || action !== "create") continue;
    const network = networks[key]!;
    // An earlier process may have created it before it could record that.
    if ((await networkList(engine, { filters })).some(({ Name }) => Name === network.name)) {
      continue;
    }
    const { config, ...ipam } = network.ipam ?? {};
    await networkCreate(engine, {
      body: definedFields({
        Name: network.name,
        Driver: network.driver ?? "overlay",
        Internal: network.internal,
        Attachable: network.attachable,
        EnableIPv6: network.enable_ipv6,
        Options: network.driver_opts,
        Labels: { ...network.labels, [STACK_LABEL]: name },
        IPAM: network.ipam && definedFields({
          Driver: ipam.driver,
          Options: ipam.options,
          Config: (config ?? []).map((part) =>
            definedFields({
              Subnet: part.subnet,
              Gateway: part.gateway,
              IPRange: part.ip_range,
              AuxiliaryAddresses: part.aux_addresses,
            })
          ),
        }),
      }),
    });
    created.push(network.name);
  }
  return created;
}

/** The specification with the ids of secrets and configs and the digest of the image. */
async function fullSpec(
  deps: Deps,
  { input }: Job,
  project: Project,
  key: string,
  values: readonly StackValue[],
): Promise<ServiceSpec> {
  const spec = serviceSpec(project, key, namesOf(values));
  const ids = await readIds(deps, values);
  const { ContainerSpec = {} } = spec.TaskTemplate ?? {};
  const withIds = (grants: Grant[] | null | undefined) =>
    grants?.map((grant) =>
      grant.SecretName === undefined
        ? { ...grant, ConfigID: ids.get(`config ${grant.ConfigName}`)! }
        : { ...grant, SecretID: ids.get(`secret ${grant.SecretName}`)! }
    );
  const { update_config: update } = project.services[key]!.deploy ?? {};
  const full: ServiceSpec = {
    ...spec,
    TaskTemplate: {
      ...spec.TaskTemplate,
      ContainerSpec: definedFields({
        ...ContainerSpec,
        Image: await resolveImage(deps, ContainerSpec.Image ?? ""),
        Secrets: withIds(ContainerSpec.Secrets),
        Configs: withIds(ContainerSpec.Configs),
      }),
    },
  };
  const isLeft = update?.failure_action !== undefined || input.onFailure !== "rollback";
  return isLeft ? full : withRollback(full);
}

/** Changes the services in their order. @returns The first failure, which is recorded. */
async function changeServices(
  deps: Deps,
  job: Job,
  project: Project,
  { changes, values }: { changes: readonly AppliedChange[]; values: readonly StackValue[] },
): Promise<Failure | undefined> {
  const done: Done[] = [];
  for (const [index, { name: key, action }] of inOrder(project, changes).entries()) {
    const spec = await fullSpec(deps, job, project, key, values);
    try {
      const work = action === "create" ? createService : updateService;
      await work(deps, job, { key, spec, number: index + 1, done });
    } catch (error) {
      if (!(error instanceof JobEnd)) throw error;
      const { message, status } = error;
      return await job.step("failure", () => Promise.resolve({ key, message, status, done }));
    }
  }
}

interface Work {
  key: string;
  spec: ServiceSpec;
  /** Distinguishes the steps of the services. */
  number: number;
  done: Done[];
}

async function createService(deps: Deps, job: Job, { key, spec, number, done }: Work) {
  const { engine } = deps;
  const id = await job.step(`create ${number}`, async () => {
    const found = await findByName(deps, spec.Name!);
    if (!found) return (await serviceCreate(engine, spec, { auth: authFor(deps, spec) })).ID;
    // An earlier process may have created it before it could record that; a rollback removes it.
    if (found.Spec.Labels?.[STACK_LABEL] === job.target) return found.ID;
    throw new JobEnd("failed", `Another service has the name ${spec.Name}`);
  });
  done.push({ key, id, isNew: true });
  await job.step(`started ${number}`, () => converge(deps, job, id, { StartedAt: undefined }));
}

async function updateService(deps: Deps, job: Job, { key, spec, number, done }: Work) {
  const id = (await findByName(deps, spec.Name!))?.ID;
  if (id === undefined) throw new JobEnd("failed", `Service ${spec.Name} was removed meanwhile`);
  const change = (current: ServiceSpec): ServiceSpec => ({
    ...spec,
    TaskTemplate: {
      ...spec.TaskTemplate,
      ForceUpdate: (current.TaskTemplate?.ForceUpdate ?? 0) +
        (job.input.recreate === "always" ? 1 : 0),
    },
  });
  await changeService(deps, job, id, change, { number });
  done.push({ key, id, isNew: false });
}

async function findByName({ engine }: Deps, name: string): Promise<Service | undefined> {
  const found = await serviceList(engine, { filters: { name: [name] } });
  return found.find(({ Spec }) => Spec.Name === name);
}

/** Returns the services that were changed before to their earlier versions. */
async function rolledBack(
  deps: Deps,
  job: Job,
  { key, done, status, message: reason }: Failure,
  result: DeployResult,
): Promise<JobEnd> {
  const message = `${key}: ${reason}`;
  if (job.input.onFailure === "stop") return new JobEnd("failed", message, result);
  if (status === "needs_attention") return new JobEnd(status, message, result);
  try {
    const back = prefixed(job, "rollback");
    for (const [index, { id, isNew }] of done.toReversed().entries()) {
      const number = index + 1;
      if (isNew) {
        await back.step(`remove ${number}`, () => ifThere(serviceRemove(deps.engine, id)));
      } else {
        await changeService(deps, back, id, (spec) => spec, { number, rollback: "previous" });
      }
    }
    // A service whose update was paused has not returned by itself.
    const isBack = status === "rolled_back" || done.some((each) => each.key === key);
    return new JobEnd(isBack ? "rolled_back" : "needs_attention", message, result);
  } catch (cause) {
    if (!(cause instanceof JobEnd)) throw cause;
    return new JobEnd("needs_attention", `${message}; then: ${cause.message}`, result);
  }
}

/** Steps of a rollback have names of their own. */
const prefixed = (job: Job, prefix: string): Job => ({
  ...job,
  step: (name, work) => job.step(`${prefix} ${name}`, work),
  hasBegun: (name) => job.hasBegun(`${prefix} ${name}`),
});

async function removeOrphans(
  { engine }: Deps,
  { name }: Project,
  changes: readonly AppliedChange[],
): Promise<string[]> {
  const removed = changes.filter(({ kind, action }) => kind === "service" && action === "remove")
    .map((change) => `${name}_${change.name}`);
  for (const each of removed) await ifThere(serviceRemove(engine, each));
  return removed;
}
