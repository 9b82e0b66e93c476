/** Deploys stacks, as jobs whose steps are shown. @module */

import { api } from "../../api/client.ts";
import type { Job, StackDeploy, StackDeployPlan } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Fact } from "../../components/facts.tsx";
import { beginJob, reportJob } from "../../state/jobs.ts";
import { jobs } from "../../state/live.ts";
import { StackDialog } from "../updates/stack_dialog.tsx";
import { summaryOf } from "./plan.tsx";

/** Whether a stack is being deployed. */
export const isDeploying = (name: string): boolean =>
  [...jobs.value.values()].some(({ kind, target, endedAt }) =>
    kind === "stack.deploy" && target === name && endedAt === null
  );

/**
 * Deploys the stored sources, and reports the end.
 *
 * @param options.expectedVersion The version that the user sees; nothing is deployed if another is
 * current.
 */
export const deployStack = (name: string, options: StackDeploy = {}): Promise<void> =>
  reportJob(() => startDeploy(name, options), `Deployed ${plain(name)}`);

const startDeploy = (name: string, body: StackDeploy) =>
  api("POST /api/stacks/{name}/deploy", { path: { name }, body }) as Promise<Job>;

/** Asks for the choices of a deploy that may replace containers, and starts it. */
export function DeployDialog({ name, expectedVersion, onClose }: {
  name: string;
  expectedVersion: number;
  onClose: () => void;
}) {
  return (
    <StackDialog<StackDeployPlan>
      title={`Deploy ${plain(name)}`}
      verb="Deploy"
      read={(body, signal) =>
        api("POST /api/stacks/{name}/deploy", {
          path: { name },
          query: { plan: true },
          body: { ...body, expectedVersion },
        }, { signal })}
      facts={(plan) => <Fact name={`Version ${plan.version}`}>{summaryOf(plan)}</Fact>}
      isRehearsed={({ rehearse }) => rehearse}
      end="The containers that are replaced are kept until all new ones work. If one fails, all of them return."
      later={{
        path: `api/stacks/${encodeURIComponent(name)}/deploy`,
        body: { expectedVersion },
      }}
      onStart={(choices) =>
        beginJob(
          `The deploy of ${plain(name)}`,
          () => startDeploy(name, { ...choices, expectedVersion }),
        )}
      onClose={onClose}
    />
  );
}
