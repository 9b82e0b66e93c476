/** The steps by which a job changes one service. @module */

import {
  type Service,
  serviceInspect,
  type ServiceSpec,
  serviceUpdate,
} from "../../engine/swarm.ts";
import { sha256 } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import { JobEnd, type JobRun } from "../jobs/kind.ts";
import { authFor } from "./actions.ts";
import { converge, type ServiceResult } from "./converge.ts";
import { awaitLeader } from "./leader.ts";
import { retryOutOfSequence } from "./sequence.ts";

/**
 * Changes a service and waits for the outcome. Continues after a restart of Longshore.
 *
 * @param options.number Distinguishes the steps of a job on several services.
 * @param options.rollback The change is a return to the version before the last update.
 * @throws {JobEnd} As `converge()`.
 */
export async function changeService(
  deps: Deps,
  job: Pick<JobRun, "hasBegun" | "id" | "progress" | "signal" | "step">,
  id: string,
  change: (spec: ServiceSpec) => ServiceSpec | Promise<ServiceSpec>,
  { number, rollback }: { number?: number; rollback?: "previous" } = {},
): Promise<ServiceResult> {
  const { engine } = deps;
  const suffix = number === undefined ? "" : ` ${number}`;
  const before = await job.step(`read${suffix}`, () =>
    awaitLeader(job.signal, async () => {
      const { Spec, PreviousSpec, UpdateStatus } = await serviceInspect(engine, id);
      return {
        previous: hashOf(PreviousSpec),
        spec: hashOf(Spec),
        startedAt: UpdateStatus?.StartedAt,
      };
    }));
  const mark = `${job.id}${suffix}`;
  let isRepeated = job.hasBegun(`change${suffix}`);
  const update = async () => {
    const service = await serviceInspect(engine, id);
    if (rollback && isRolledBack(service, before)) return null;
    if (!rollback && isRepeated && isDone(service, mark, before)) return null;
    const spec = rollback ? service.Spec : marked(await change(service.Spec), mark);
    const auth = authFor(deps, spec);
    isRepeated = true;
    await serviceUpdate(engine, id, service.Version.Index, spec, { auth, rollback });
    return null;
  };
  await job.step(
    `change${suffix}`,
    () => awaitLeader(job.signal, () => retryOutOfSequence(update)),
  );
  const isRollback = rollback !== undefined;
  return await job.step(
    `wait${suffix}`,
    () => converge(deps, job, id, { StartedAt: before.startedAt }, { isRollback }),
  );
}

/** Label of a service: the job that changed it last. */
const JOB_LABEL = "longshore.job";

const marked = (spec: ServiceSpec, mark: string): ServiceSpec => ({
  ...spec,
  Labels: { ...spec.Labels, [JOB_LABEL]: mark },
});

/** Whether an earlier attempt has changed the service, also if Swarm has rolled that back. */
const isDone = (
  { Spec, UpdateStatus }: Service,
  mark: string,
  { startedAt }: { startedAt?: string | undefined },
): boolean =>
  Spec.Labels?.[JOB_LABEL] === mark ||
  UpdateStatus?.StartedAt !== startedAt &&
    UpdateStatus?.State?.startsWith("rollback_") === true;

/**
 * Whether an earlier attempt has returned the service to its earlier version.
 *
 * @throws {JobEnd} `failed` if it has another earlier version now.
 */
function isRolledBack(
  { Spec, PreviousSpec }: Service,
  { previous }: { previous: string },
): boolean {
  if (hashOf(Spec) === previous) return true;
  if (hashOf(PreviousSpec) === previous) return false;
  throw new JobEnd("failed", `Another program has changed ${Spec.Name} meanwhile`);
}

const hashOf = (spec: ServiceSpec | null | undefined) => sha256(JSON.stringify(spec ?? null));
