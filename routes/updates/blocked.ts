/** /api/updates/blocked: images that failed as an update. @module */

import * as z from "zod";
import { liftBlock, listBlocked } from "../../services/updates/run/blocked.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Timestamp } from "../contract/shapes.ts";

const BlockedUpdate = z.object({
  id: z.string(),
  containerName: z.string().meta({ example: "web" }),
  digest: z.string().meta({
    description: "Of the manifest, or the image's id; `*` blocks all updates of the container",
    example: "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
  }),
  image: z.string().meta({ example: "nginx:1.27" }),
  reason: z.string().meta({ example: "web exited with code 1" }),
  jobId: z.string(),
  createdAt: Timestamp,
}).meta({ id: "BlockedUpdate" });

export const blockedUpdateEndpoints = (deps: Deps) => [
  endpoint("GET /api/updates/blocked", {
    operationId: "listBlockedUpdates",
    summary: "List blocked updates",
    description:
      "Images that failed as the update of a container and are not tried again, newest " +
      "first. A block ends when it is deleted, or when an update to another image succeeds.",
    role: "viewer",
    permission: "containers:read",
    returns: z.object({ blocked: z.array(BlockedUpdate) }).meta({ id: "BlockedUpdateList" }),
  }, () => ({ blocked: listBlocked(deps) })),

  endpoint("DELETE /api/updates/blocked/:id", {
    operationId: "deleteBlockedUpdate",
    summary: "Delete a blocked update",
    description: "The image may be installed again, also automatically.",
    role: "operator",
    permission: "containers:update",
    returns: Done,
    failures: { 404: "The block does not exist" },
  }, ({ params, note }) => {
    const { containerName, image } = liftBlock(deps, params.id);
    note.targets = [containerName, image];
  }),
];
