/** The steps that bring data back, for a deploy. @module */

import type { Deps } from "../../deps.ts";
import type { DataRun } from "../../updates/data/steps.ts";
import { inspectIfThere } from "../../updates/run/members.ts";
import { isAnyOldUp, oldOnesOf, stopAside, stopNewOnes } from "../../updates/run/swap.ts";
import { listMembers } from "../members.ts";
import type { LoadedStack } from "../plan/stored.ts";
import { createdOf, pairsOf, startStep } from "./back.ts";
import { dependentPairs } from "./dependents.ts";
import type { DeployJob, PlannedDeploy } from "./job.ts";
import { stopWithHooks } from "./stop.ts";

export function dataRunOf(
  deps: Deps,
  job: DeployJob,
  { project }: LoadedStack,
  { services, removed, dependents = [], existing, undone }: PlannedDeploy,
): DataRun {
  const replaced = [
    ...services.flatMap(({ key, replaced }) => replaced.map((each) => ({ ...each, key }))),
    ...dependents.map((each) => ({ ...each, key: null })),
  ];
  const olds = [...removed, ...replaced];
  const started = services.flatMap((work) => work.started.map(({ id }) => id));
  const fresh = () => services.flatMap(({ key }) => createdOf(job, key)?.fresh ?? []);
  return {
    job,
    undone,
    replaced: [...olds.map(({ oldId }) => oldId), ...started],
    notes: {
      update: `before the deploy of ${job.target}`,
      undo: `written by ${job.target} before it went back`,
    },
    hasStarted: () => services.some(({ key }) => job.hasBegun(startStep(key))),
    async own() {
      // Also new ones of a step that was interrupted.
      const members = (await listMembers(deps.engine, project.name)).map(({ Id }) => Id);
      return [
        ...members.filter((id) => !existing.includes(id)),
        ...olds.map(({ oldId }) => oldId),
        ...dependentPairs(job).flatMap((pair) => [...oldOnesOf(pair), pair.newId]),
        ...started,
      ];
    },
    async stopOld(signal) {
      const members = olds.toReversed().map(({ oldId: id, key: service }) => ({ id, service }));
      await stopWithHooks(deps, project, members, signal);
    },
    async stopNew() {
      await stopNewOnes(deps, [...pairsOf(job, services), ...dependentPairs(job)]);
      for (const id of [...fresh().map(({ id }) => id), ...started].toReversed()) {
        const container = await inspectIfThere(deps.engine, id);
        if (container) await stopAside(deps, container);
      }
    },
    isAnyOldUp: () => isAnyOldUp(deps, olds.map((each) => ({ ...each, newId: "" }))),
  };
}
