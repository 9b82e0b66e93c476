/** /api/updates/check: ask the registries now. @module */

import * as z from "zod";
import { startCheck } from "../../services/updates/check/job.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES } from "../contract/shapes.ts";
import { Job } from "../contract/job.ts";

const IMAGES_MAX = 500;

export const updateCheckEndpoints = (deps: Deps) => [
  endpoint("POST /api/updates/check", {
    operationId: "checkUpdates",
    summary: "Check for image updates",
    description: "Asks the registries of the images, as a job whose result has the counts " +
      "`checked`, `updateAvailable` and `failed`. Works while periodic checks are off. Images " +
      "that came from no registry are not looked up.",
    role: "operator",
    permission: "containers:update",
    body: z.object({
      images: z.array(z.string().min(1).max(512)).min(1).max(IMAGES_MAX).optional().meta({
        description: "Default: all images in use, unless the labels of their containers turn " +
          "checks off",
      }),
      newerVersions: z.boolean().default(false).meta({
        description: "Whether to list newer versions of all of them",
      }),
    }).meta({ id: "UpdateCheck", example: { images: ["nginx:1.27"] } }),
    returns: Job,
    status: 202,
    failures: { ...ENGINE_FAILURES, 409: "A check is running" },
  }, ({ body, caller }) => startCheck(deps, caller, body)),
];
