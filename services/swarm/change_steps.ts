/** The steps by which a job changes one service. @module */

import { serviceInspect, type ServiceSpec, serviceUpdate } from "../../engine/swarm.ts";
import { sha256 } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import type { JobRun } from "../jobs/kind.ts";
import { authFor } from "./actions.ts";
import { converge, type ServiceResult } from "./converge.ts";
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
  job: Pick<JobRun, "hasBegun" | "progress" | "signal" | "step">,
  id: string,
  change: (spec: ServiceSpec) => ServiceSpec | Promise<ServiceSpec>,
  { number, rollback }: { number?: number; rollback?: "previous" } = {},
): Promise<ServiceResult> {
  const { engine } = deps;
  const suffix = number === undefined ? "" : ` ${number}`;
  const before = await job.step(`read${suffix}`, async () => {
    const { Spec, UpdateStatus } = await serviceInspect(engine, id);
    return { spec: hashOf(Spec), startedAt: UpdateStatus?.StartedAt };
  });
  const isRepeated = job.hasBegun(`change${suffix}`);
  await job.step(`change${suffix}`, () =>
    retryOutOfSequence(async () => {
      const service = await serviceInspect(engine, id);
      // An earlier process has changed it before it could record that.
      if (isRepeated && hashOf(service.Spec) !== before.spec) return null;
      const spec = await change(service.Spec);
      const auth = authFor(deps, spec);
      await serviceUpdate(engine, id, service.Version.Index, spec, { auth, rollback });
      return null;
    }));
  const isRollback = rollback !== undefined;
  return await job.step(
    `wait${suffix}`,
    () => converge(deps, job, id, { StartedAt: before.startedAt }, { isRollback }),
  );
}

const hashOf = (spec: ServiceSpec) => sha256(JSON.stringify(spec));
