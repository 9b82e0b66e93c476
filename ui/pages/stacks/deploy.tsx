/** Deploys stacks, as jobs whose steps are shown. @module */

import { api } from "../../api/client.ts";
import { plain } from "../../base/text.ts";
import { reportJob } from "../../state/jobs.ts";
import { jobs } from "../../state/live.ts";

/** Whether a stack is being deployed. */
export const isDeploying = (name: string): boolean =>
  [...jobs.value.values()].some(({ kind, target, endedAt }) =>
    kind === "stack.deploy" && target === name && endedAt === null
  );

/**
 * Deploys the stored sources, and reports the end.
 *
 * @param expectedVersion The version that the user sees; nothing is deployed if another is current.
 */
export const deployStack = (name: string, expectedVersion?: number): Promise<void> =>
  reportJob(
    () =>
      api("POST /api/stacks/{name}/deploy", {
        path: { name },
        body: expectedVersion === undefined ? {} : { expectedVersion },
      }),
    `Deployed ${plain(name)}`,
  );
