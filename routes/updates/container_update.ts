/** /api/containers/:id: update to a newer image, and back. @module */

import * as z from "zod";
import { PULL_POLICIES } from "../../services/images/pull_policy.ts";
import { assertChoices } from "../../services/updates/run/choices.ts";
import { assertMonitors } from "../../services/updates/run/monitors.ts";
import { assertMayDo } from "../../services/access/caller.ts";
import { previewUpdate } from "../../services/updates/run/preview.ts";
import { startRollback, startUpdate } from "../../services/updates/run/start.ts";
import type { Deps } from "../../services/deps.ts";
import { ContainerParams } from "../containers/shapes.ts";
import { Job } from "../contract/job.ts";
import { endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES, queryBoolean } from "../contract/shapes.ts";
import { DataChoice, PLAN_PARTS, PlannedRehearsal, REHEARSAL, Verification } from "./shapes.ts";

const UpdateBody = Verification.extend({
  image: z.string().min(1).max(512).optional().meta({
    description: "Default: the reference that the container was created from. Another repository " +
      "than that one requires the role admin or `containers:rebuild`",
    example: "registry.example:5000/team/app:2",
  }),
  pull: z.enum(PULL_POLICIES).optional().meta({
    description: "Default: `always`, but `never` for an image that came from no registry",
  }),
  digest: z.string().regex(/^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$/).optional().meta({
    description:
      "Install only this, e.g. `newDigest` of the plan: the update fails if the tag has " +
      "moved since",
  }),
  data: DataChoice.optional().meta({
    description: "Data in volumes if the update fails: `undo` keeps a snapshot at the default " +
      "backup target and brings it back, `keep` leaves what the new version wrote. Default: the " +
      "label `longshore.update.data`, else the setting `data`",
  }),
  force: z.boolean().default(false).meta({
    description: "Ignores a blocked image, too little room and another platform, and recreates a " +
      "container that already runs the image",
  }),
  ...REHEARSAL,
}).meta({ id: "ContainerUpdate", example: { pull: "always" } });

const Plan = z.object({
  container: z.string().meta({ example: "web" }),
  id: z.string(),
  image: z.string().meta({ example: "nginx:1.27" }),
  currentImageId: z.string(),
  newImageId: z.string().nullable().meta({
    description: "null before the image is pulled. An API token that is limited to stacks or " +
      "containers knows the images of its containers only",
  }),
  newDigest: z.string().nullable().meta({
    description: "What the registry has now, null if it does not answer; without a pull, what " +
      "this host has",
  }),
  recreated: z.array(z.string()).meta({
    description:
      "Containers that are recreated with it, because they share its network or another " +
      "namespace, or are linked to it",
  }),
  watched: z.array(z.string()).meta({
    description: "Containers of its stack that require it to be healthy, and must stay so",
  }),
  replaced: z.array(z.object({
    setting: z.string().meta({ example: "environment" }),
    names: z.array(z.string()).meta({ example: ["NGINX_VERSION"] }),
  })).nullable().meta({
    description: "Settings that come from the new image, because the container has those of its " +
      "image; null before the image is pulled",
  }),
  rehearsal: PlannedRehearsal,
  ...PLAN_PARTS,
  verification: z.object({
    method: z.enum(["health", "stability"]),
    holdSeconds: z.int().meta({ description: "How long it must be healthy, or run" }),
    deadlineSeconds: z.int().meta({ description: "When it counts as failed" }),
  }),
}).meta({ id: "ContainerUpdatePlan" });

const FAILURES = {
  402: "The edition has no uptime monitors",
  403:
    "It is the service's own container, containers that this token cannot access depend on it, or " +
    "the caller may not choose this image or pattern",
  404: "The container does not exist",
  ...ENGINE_FAILURES,
};

export const containerUpdateEndpoints = (deps: Deps) => [
  rawEndpoint("POST /api/containers/:id/update", {
    operationId: "updateContainer",
    scope: "container",
    destructive: true,
    summary: "Update a container",
    description: "Starts a job: it pulls the image, creates the new container, stops the old one " +
      "and gives its name to the new one, which is then observed. If the new one exits, restarts, " +
      "becomes unhealthy or does not become healthy in time, the old container itself returns, and " +
      'the image is blocked for this container. With `data: "undo"`, the volumes return with it; ' +
      "what the new version wrote is kept as a snapshot. The old container is removed only after success. " +
      "What the user set is kept; what came from the old image comes from the new one. With " +
      "`plan`, nothing is done, and the response says what would be.",
    role: "operator",
    permission: "containers:update",
    params: ContainerParams,
    query: z.object({
      plan: queryBoolean({ fallback: false, description: "Only say what would happen" }),
    }),
    body: UpdateBody,
    produces: "application/json",
    returns: Job,
    status: 202,
    replies: { 200: { description: "With `plan`: what would happen", returns: Plan } },
    failures: {
      ...FAILURES,
      409:
        "Another action is in progress, or something stands in the way: a Swarm task, automatic " +
        "removal, a blocked image, too little room, an image for another platform, or the tag has " +
        'moved; with `data: "undo"` a target that fails, no image that can empty volumes, or a ' +
        "volume that other containers use",
    },
  }, async ({ params, query, body, note, caller }) => {
    note.command = JSON.stringify(body);
    await assertChoices(deps, caller, params.id, body);
    await assertMonitors(deps, caller, body.monitors ?? []);
    const { digest: expectedDigest, ...options } = body;
    const request = { ...options, expectedDigest, containerId: params.id, actor: caller };
    return query.plan
      ? Response.json(Plan.parse(await previewUpdate(deps, request)))
      : Response.json(Job.parse(await startUpdate(deps, request)), { status: 202 });
  }),

  endpoint("POST /api/containers/:id/rollback", {
    operationId: "rollBackContainer",
    scope: "container",
    destructive: true,
    summary: "Roll back a container",
    description: "Starts a job that goes back to the image before the last update, by the same " +
      "steps. Data in volumes stays as it is; with `data`, it goes back to before the update, and " +
      "what was written since is kept as a snapshot. The image that is left is blocked for " +
      "automatic updates.",
    role: "operator",
    permission: "containers:update",
    params: ContainerParams,
    body: Verification.extend({
      data: z.boolean().default(false).meta({
        description: 'Requires the role admin or `backup:write`, and an update with `data: "undo"`',
      }),
    }).meta({ id: "ContainerRollback", example: {} }),
    returns: Job,
    status: 202,
    failures: {
      ...FAILURES,
      409: "No previous image or data is kept, or as with an update",
    },
  }, async ({ params, body, note, caller }) => {
    note.command = JSON.stringify(body);
    await assertChoices(deps, caller, params.id, body);
    await assertMonitors(deps, caller, body.monitors ?? []);
    if (body.data) assertMayDo(caller, "admin", "backup:write");
    return await startRollback(deps, { ...body, containerId: params.id, actor: caller });
  }),
];
