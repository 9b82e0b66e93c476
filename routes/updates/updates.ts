/** /api/updates: newer images of the containers. @module */

import * as z from "zod";
import { listUpdates, UPDATE_STATUSES, VERSION_LEVELS } from "../../services/updates/check/list.ts";
import { UPDATE_POLICIES } from "../../services/updates/labels.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES, Timestamp } from "../contract/shapes.ts";

const DIGEST = `sha256:${"4f1c".repeat(16)}`;

const ImageUpdate = z.object({
  image: z.string().meta({
    description: "As the containers refer to it, in its canonical spelling; or an image id",
    example: "docker.io/library/nginx:1.27",
  }),
  registry: z.string().nullable().meta({ example: "docker.io" }),
  repository: z.string().nullable().meta({ example: "library/nginx" }),
  tag: z.string().nullable().meta({ example: "1.27" }),
  digest: z.string().nullable().meta({
    description: "Of the image that the containers run; of an outdated one, if they differ",
    example: DIGEST,
  }),
  latestDigest: z.string().nullable().meta({
    description: "What the registry had at `lastGoodAt`",
    example: DIGEST,
  }),
  status: z.enum(UPDATE_STATUSES).meta({
    description: "`pulled`: the newer image is on the host, and a container does not run it. " +
      "`pinned`: the reference is a digest or an image id. `local`: the image came from no " +
      "registry. `unknown`: see `reason`",
  }),
  reason: z.string().nullable().meta({
    description: "Why the status is `unknown`: `not checked yet`, `unreachable`, " +
      "`unauthorized`, `not found`, `invalid answer`, or `rate limited until` a time. With " +
      "another status: why `newerVersions` may be incomplete",
  }),
  firstSeenAt: Timestamp.nullable().meta({
    description: "When this service first saw `latestDigest`; updates wait for a minimum age",
  }),
  newerVersions: z.array(z.object({
    tag: z.string().meta({ example: "1.28" }),
    level: z.enum(VERSION_LEVELS),
  })).meta({
    description: "Newest first. Listed for containers with `longshore.update.level` or " +
      "`longshore.update.tags`, and on request",
  }),
  rateLimitRemaining: z.int().nullable().meta({
    description: "Requests that the registry still allows, if it says so",
  }),
  containers: z.array(z.object({
    id: z.string(),
    name: z.string(),
    stack: z.string().nullable(),
    policy: z.enum(UPDATE_POLICIES).meta({
      description: "That of the labels, else that of the settings",
    }),
    blocked: z.boolean().meta({
      description: "Whether `latestDigest` failed as its update and is not tried again",
    }),
    problems: z.array(z.string()).meta({
      description: "Labels with an invalid value; such a container is not updated automatically",
    }),
  })),
  services: z.array(z.object({
    name: z.string().meta({ example: "shop_web" }),
    stack: z.string().nullable(),
    digest: z.string().meta({ description: "That the service has pinned" }),
    isOutdated: z.boolean(),
  })).meta({ description: "Services of a Swarm, also those whose tasks run on other nodes" }),
  checkedAt: Timestamp.nullable(),
  lastGoodAt: Timestamp.nullable().meta({ description: "Of the last successful check" }),
  nextCheckAt: Timestamp.nullable().meta({
    description: "null while the image is not checked periodically",
  }),
}).meta({ id: "ImageUpdate" });

export const updateEndpoints = (deps: Deps) => [
  endpoint("GET /api/updates", {
    operationId: "listUpdates",
    scope: "filtered",
    summary: "List image updates",
    description: "One entry for each image that a container uses, by reference, as of the last " +
      "check. A failed check does not change what is known. This request contacts no registry.",
    role: "viewer",
    permission: "containers:read",
    query: z.object({
      status: z.enum(UPDATE_STATUSES).optional().meta({
        description: "Only images with this status",
      }),
    }),
    returns: z.object({ updates: z.array(ImageUpdate) }).meta({ id: "ImageUpdateList" }),
    failures: ENGINE_FAILURES,
  }, async ({ caller, query: { status } }) => ({
    updates: await listUpdates(deps, caller, status),
  })),
];
