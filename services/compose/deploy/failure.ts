/** Records of a failed deploy, made before its containers are removed. @module */

import type { Deps } from "../../deps.ts";
import { isUp } from "../../updates/recreate/replace.ts";
import { keepCrashLines } from "../../containers/crash_lines.ts";
import { collectEvidence, type Evidence, evidenceLines } from "../../updates/run/evidence.ts";
import { inspectIfThere } from "../../updates/run/members.ts";
import { createdOf } from "./back.ts";
import type { DeployJob, FailedDeploy, PlannedDeploy } from "./job.ts";
import { failureOf } from "./stored_failure.ts";

/** Maximum number of containers with logs in a job: each may have 200 kB. */
const CONTAINERS_MAX = 5;

/** Collects the last lines of the containers that the deploy started and that failed. */
export async function recordFailure(
  deps: Deps,
  job: DeployJob,
  { changes, warnings, services }: PlannedDeploy,
): Promise<Omit<FailedDeploy, "version">> {
  const failure = failureOf(job);
  const evidence = await job.step("read logs", async () => {
    const found: Evidence[] = [];
    for (const { key, started } of services) {
      const { pairs = [], fresh = [] } = createdOf(job, key) ?? {};
      const created = [
        ...pairs.map(({ newId, name }) => ({ id: newId, name })),
        ...fresh,
        ...started,
      ];
      for (const each of created) {
        if (found.length === CONTAINERS_MAX) return found;
        if (each.name === failure.container || await hasFailed(deps, each)) {
          found.push(await collectEvidence(deps.engine, each));
        }
      }
    }
    return found;
  });
  const shown = evidence.find(({ container }) => container === failure.container) ?? evidence[0];
  if (shown) keepCrashLines(deps.crashLines, job.id, evidenceLines(evidence, shown.container));
  return { changes, warnings, evidence };
}

async function hasFailed(
  { engine }: Pick<Deps, "engine">,
  { id }: { id: string },
): Promise<boolean> {
  const container = await inspectIfThere(engine, id);
  if (!container || container.State.Status === "created") return false;
  const { ExitCode, Health } = container.State;
  return Health?.Status === "unhealthy" || (!isUp(container) && ExitCode !== 0);
}
