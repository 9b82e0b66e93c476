/** /api/stacks/:name/update @module */

import * as z from "zod";
import { PULL_POLICIES } from "../../services/images/pull_policy.ts";
import { DATA_CHOICES } from "../../services/updates/labels.ts";
import { startStackUpdate } from "../../services/updates/run/start_stack.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES } from "../contract/shapes.ts";
import { Job } from "../contract/job.ts";
import { StackParams } from "../stacks/shapes.ts";
import { REHEARSAL, Verification } from "./shapes.ts";

export const stackUpdateEndpoints = (deps: Deps) => [
  endpoint("POST /api/stacks/:name/update", {
    operationId: "updateStack",
    scope: "stack",
    destructive: true,
    summary: "Update a stack",
    description: "Starts a job: it pulls all images of a compose project, except those that were " +
      "built or loaded on the host and came from no registry, then updates one container after " +
      "another as `POST /api/containers/{id}/update` does, those first on which " +
      "others depend. The old containers are removed only when the last new one works: the first " +
      "failure puts all of them back. With `atomic: false`, each container is final at once, and " +
      "the first failure ends the job. Longshore's own container is left out.",
    role: "operator",
    permission: "stacks:update",
    params: StackParams,
    body: Verification.omit({ logPatternMustNotAppear: true, monitors: true }).extend({
      atomic: z.boolean().default(true),
      pull: z.enum(PULL_POLICIES).default("always"),
      data: z.enum(DATA_CHOICES).optional().meta({
        description:
          "As with one container, for each of them; `undo` is refused for a volume that " +
          "containers share",
      }),
      force: z.boolean().default(false).meta({
        description: "As with one container",
      }),
      ...REHEARSAL,
    }).meta({ id: "StackUpdate", example: { atomic: true } }),
    returns: Job,
    status: 202,
    failures: {
      403: "Containers that this token cannot access depend on the stack",
      404: "The stack does not exist",
      409: "Another action is in progress, it is a Swarm stack, or data could not be brought back",
      ...ENGINE_FAILURES,
    },
  }, ({ params, body, note, caller }) => {
    note.targets = [params.name];
    note.command = JSON.stringify(body);
    return startStackUpdate(deps, { ...body, name: params.name, actor: caller });
  }),
];
