/**
 * /api/images: list, delete, prune.
 *
 * @module
 */

import * as z from "zod";
import { listImages, pruneImages, removeImage } from "../../services/ce/storage/images.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { ENGINE_FAILURES, queryBoolean, Timestamp } from "../shapes.ts";

/** Only characters of ids, names, tags and digests are allowed. */
const ImageParams = z.object({
  id: z.string().min(1).max(512).regex(/^[\w.:\/@+[\]-]+$/, {
    error: "must be an id or a name with an optional tag",
  }).meta({
    description: "Id, unambiguous prefix of an id, or name; slashes must be encoded as `%2F`",
    example: "registry.example:5000/team/app:1",
  }),
});

const ForceQuery = z.object({
  force: queryBoolean({
    fallback: false,
    description: "Delete it with all of its tags, even if stopped containers use it",
  }),
});

const Image = z.object({
  id: z.string().meta({
    example: "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
  }),
  repoTags: z.array(z.string()),
  repoDigests: z.array(z.string()),
  size: z.int().meta({ description: "Bytes, including layers shared with other images" }),
  createdAt: Timestamp.nullable(),
  created: Timestamp.nullable().meta({ description: "Same as createdAt" }),
  containers: z.int().meta({ description: "Number of containers that use it, in any state" }),
  dangling: z.boolean().meta({ description: "Whether it has no tag" }),
}).meta({ id: "Image" });

const deleted = z.array(z.string()).meta({ description: "Ids of images and layers" });
const untagged = z.array(z.string())
  .meta({ description: "Removed tags", example: ["shop/web:1"] });

export const imageEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/images",
    operationId: "listImages",
    summary: "List images",
    description: "Newest first.",
    role: "viewer",
    permission: "images:read",
    returns: z.object({ images: z.array(Image) }).meta({ id: "ImageList" }),
    failures: ENGINE_FAILURES,
    etag: true,
  }, async () => ({ images: await listImages(deps) })),

  endpoint({
    method: "delete",
    path: "/api/images/:id",
    operationId: "deleteImage",
    summary: "Delete or untag an image",
    description: "An image with several tags loses the given tag; the last tag deletes the image.",
    role: "admin",
    permission: "images:delete",
    params: ImageParams,
    query: ForceQuery,
    returns: z.object({ ok: z.literal(true), deleted, untagged }).meta({ id: "ImageDeletion" }),
    failures: { 404: "The image does not exist", 409: "The image is in use", ...ENGINE_FAILURES },
  }, ({ params, query }) => removeImage(deps, params.id, query)),

  endpoint({
    method: "post",
    path: "/api/images/prune",
    operationId: "pruneImages",
    destructive: true,
    summary: "Prune dangling images",
    description: "Removes images without a tag that no container uses.",
    role: "admin",
    permission: "images:prune",
    returns: z.object({
      spaceReclaimed: z.int().meta({ description: "Bytes", example: 1_984_168 }),
      SpaceReclaimed: z.int().meta({ description: "Same as spaceReclaimed", deprecated: true }),
      deleted,
      untagged,
    }).meta({ id: "ImagePruneResult" }),
    failures: { 409: "Another prune is in progress", ...ENGINE_FAILURES },
  }, async ({ note }) => {
    const removed = await pruneImages(deps);
    note.targets = [...removed.untagged, ...removed.deleted];
    return { ...removed, SpaceReclaimed: removed.spaceReclaimed };
  }),
];
