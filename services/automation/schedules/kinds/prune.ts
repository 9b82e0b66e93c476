/** Schedules that remove unused objects of the engine. @module */

import { PRUNE_KINDS, prunedKinds, pruneSystem } from "../../../images/prune.ts";
import type { Outcome, ScheduleKind } from "./kind.ts";

/** Options of a schedule without any. */
const DEFAULTS = { olderThanHours: 1, unusedImages: false, includeVolumes: false };

export const engineKind: ScheduleKind = {
  id: "prune",
  title: "Prune the engine",
  description: "Removes stopped containers, unused networks, images and build cache, and volumes " +
    "only if told so",
  actions: [{
    id: "prune",
    title: "Prune",
    description: "Removes unused objects of the engine",
    permission: "system:prune",
  }],
  fields: { prune: "optional" },
  permissions: ({ prune }) => prune?.includeVolumes ? ["volumes:prune"] : [],
  subject: () => "This host",
  isInScope: () => false,
  async run(deps, { options }): Promise<Outcome> {
    const { olderThanHours, unusedImages, ...chosen } = options.prune ?? DEFAULTS;
    const kinds = prunedKinds(chosen);
    const report = await pruneSystem(deps, { dryRun: false, olderThanHours, unusedImages, kinds });
    const errors = PRUNE_KINDS.flatMap((kind) => report[kind].error ?? []);
    if (errors.length === 0) return undefined;
    return { status: "failure", error: errors.join("; ") };
  },
};
