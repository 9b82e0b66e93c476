/** /api/images: list, details, transfer, tags, delete, prune. @module */

import * as z from "zod";
import { getImage, tagImage } from "../services/images/detail.ts";
import { exportImage } from "../services/images/export.ts";
import { loadImages } from "../services/images/load.ts";
import { startPull } from "../services/images/pull.ts";
import { listImages, pruneImages, removeImage } from "../services/images/images.ts";
import { visibleTo } from "../services/containers/visible.ts";
import { AppError } from "../services/errors.ts";
import type { Deps } from "../services/deps.ts";
import { attachment } from "./contract/attachment.ts";
import { endpoint, rawEndpoint } from "./contract/endpoint.ts";
import { lengthOf, readUpload } from "./pipeline/upload.ts";
import { ContainerState } from "./containers/shapes.ts";
import { Job } from "./contract/job.ts";
import { ENGINE_FAILURES, queryBoolean, Timestamp, Warning } from "./contract/shapes.ts";

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
  warning: Warning,
}).meta({ id: "Image" });

const ImageDetail = z.object({
  ...Image.shape,
  architecture: z.string().meta({ example: "amd64" }),
  os: z.string().meta({ example: "linux" }),
  variant: z.string().nullable().meta({ example: "v8" }),
  config: z.object({
    entrypoint: z.array(z.string()),
    command: z.array(z.string()),
    workingDir: z.string(),
    user: z.string(),
    env: z.array(z.object({ name: z.string(), value: z.string() })).meta({
      description: "Values are redacted unless the caller is an admin",
    }),
    exposedPorts: z.array(z.string()).meta({ example: ["80/tcp"] }),
    volumes: z.array(z.string()),
    labels: z.record(z.string(), z.string()),
  }).meta({ description: "Defaults for its containers" }),
  history: z.array(z.object({
    createdAt: Timestamp.nullable(),
    createdBy: z.string().meta({
      description: "The instruction of the build; values of variables and arguments are redacted " +
        "unless the caller is an admin",
    }),
    size: z.int().meta({ description: "Bytes" }),
    comment: z.string(),
    tags: z.array(z.string()),
  })).meta({ description: "Layers, newest first" }),
  usedBy: z.array(z.object({ id: z.string(), name: z.string(), state: ContainerState })).meta({
    description: "The containers that use it, in any state",
  }),
}).meta({ id: "ImageDetail" });

const Reference = z.string().min(1).max(512).meta({
  description: "`[registry/]repository[:tag][@digest]`; the default tag is `latest`",
  example: "registry.example:5000/team/app:1",
});

const PullBody = z.object({
  image: Reference,
  platform: z.string().regex(/^[a-z0-9]+\/[a-z0-9]+(?:\/[a-z0-9]+)?$/, {
    error: "must be os/architecture or os/architecture/variant",
  }).max(100).optional().meta({
    description: "Default: the platform of the host",
    example: "linux/arm64/v8",
  }),
}).meta({ id: "ImagePull" });

/**
 * Media types of an archive. curl sends the last one with `--data-binary` unless it is told
 * otherwise.
 */
const ARCHIVE_TYPES = [
  "application/x-tar",
  "application/gzip",
  "application/x-gzip",
  "application/octet-stream",
  "application/x-www-form-urlencoded",
];

const UNKNOWN = { 404: "The image does not exist" };

const deleted = z.array(z.string()).meta({ description: "Ids of images and layers" });
const untagged = z.array(z.string())
  .meta({ description: "Removed tags", example: ["shop/web:1"] });

export const imageEndpoints = (deps: Deps) => [
  endpoint("GET /api/images", {
    operationId: "listImages",
    scope: "filtered",
    summary: "List images",
    description: "Newest first.",
    role: "viewer",
    permission: "images:read",
    returns: z.object({ images: z.array(Image) }).meta({ id: "ImageList" }),
    failures: ENGINE_FAILURES,
    etag: true,
  }, async ({ caller }) => ({ images: await listImages(visibleTo(deps, caller)) })),

  endpoint("POST /api/images/pull", {
    operationId: "pullImage",
    summary: "Pull an image",
    description: "Starts a job with the progress in bytes, which grows while layers are " +
      "discovered. Its result is `{imageId, repoDigests}`. An interrupted pull continues at the " +
      "next start.",
    role: "admin",
    permission: "images:write",
    body: PullBody,
    returns: Job,
    status: 202,
    failures: { 409: "The image is being pulled already, or there are too many jobs" },
  }, ({ body: { image, platform = null }, caller, note }) => {
    note.targets = [image];
    return startPull(deps, caller, { image, platform });
  }),

  endpoint("POST /api/images/load", {
    operationId: "loadImages",
    summary: "Load images from an archive",
    description:
      "The body is an archive of `docker save`, optionally compressed with gzip. It is " +
      "streamed to the engine and may have up to `IMAGE_UPLOAD_MAX_BYTES` (default 10 GiB). A " +
      "client that sends nothing for 60 seconds, or less than 1 KB per second, gets 400; one that " +
      "disconnects cancels the load. The load is also a job.",
    role: "admin",
    permission: "images:write",
    upload: { types: ARCHIVE_TYPES, bytesMax: () => deps.config.imageUploadMaxBytes },
    returns: z.object({
      job: z.string().meta({ description: "Id of the job" }),
      images: z.array(z.string()).meta({
        description: "Loaded names, and ids of images without a name",
        example: ["registry.example:5000/team/app:1"],
      }),
    }).meta({ id: "LoadedImages" }),
    failures: {
      400: "The engine cannot load the archive, or it is incomplete; the error has the reason",
      409: "The job was cancelled, or there are too many jobs",
      413: "The archive is larger than IMAGE_UPLOAD_MAX_BYTES",
      ...ENGINE_FAILURES,
      503: "The container engine cannot be reached, or its disk is full",
    },
  }, async ({ request, caller, note, assertAllowed }) => {
    const disconnected = new AbortController();
    const onDisconnect = () =>
      disconnected.abort(new AppError("conflict", "The client disconnected"));
    request.signal.addEventListener("abort", onDisconnect);
    const { imageUploadMaxBytes: bytesMax } = deps.config;
    const loaded = await loadImages(deps, caller, { size: lengthOf(request.headers) }, {
      content: readUpload(request, { bytesMax, assertAllowed, onDisconnect }),
      disconnected: disconnected.signal,
    });
    note.targets = loaded.images;
    return loaded;
  }),

  endpoint("GET /api/images/:id", {
    operationId: "getImage",
    scope: "filtered",
    summary: "Get an image",
    role: "viewer",
    permission: "images:read",
    params: ImageParams,
    returns: ImageDetail,
    failures: { ...UNKNOWN, ...ENGINE_FAILURES },
  }, ({ params, caller }) => getImage(visibleTo(deps, caller), params.id, caller)),

  rawEndpoint("GET /api/images/:id/export", {
    operationId: "exportImage",
    audited: true,
    summary: "Export an image",
    description:
      "Streams a tar archive in the format of `docker save`. Given a name, the archive " +
      "has that name only. Admins only, because an image can contain secrets.",
    role: "admin",
    permission: "images:export",
    acceptsTicket: true,
    params: ImageParams,
    returns: z.string().meta({ format: "binary" }),
    produces: "application/x-tar",
    replyHeaders: { "Content-Disposition": "Suggests a file name" },
    failures: {
      ...UNKNOWN,
      ...ENGINE_FAILURES,
      429: "The account or API token has its share of the exports",
      503: "Limit of 8 exports reached, or the container engine cannot be reached",
    },
  }, async ({ params, caller }) => {
    const file = params.id.replace(/[^\w.-]+/g, "_").slice(0, 100);
    return new Response(await exportImage(deps, caller, params.id), {
      headers: {
        "content-type": "application/x-tar",
        "content-disposition": attachment(`${file}.tar`),
      },
    });
  }),

  endpoint("POST /api/images/:id/tag", {
    operationId: "tagImage",
    summary: "Tag an image",
    description: "Adds a name. A name that another image has is moved.",
    role: "admin",
    permission: "images:write",
    params: ImageParams,
    body: z.object({ image: Reference }).meta({ id: "ImageTag" }),
    returns: z.object({ ok: z.literal(true), image: Reference }).meta({ id: "TaggedImage" }),
    failures: { ...UNKNOWN, ...ENGINE_FAILURES },
  }, async ({ params, body, note }) => {
    const tagged = await tagImage(deps, params.id, body.image);
    note.targets = [params.id, tagged.image];
    return tagged;
  }),

  endpoint("DELETE /api/images/:id", {
    operationId: "deleteImage",
    summary: "Delete or untag an image",
    description: "An image with several tags loses the given tag; the last tag deletes the image.",
    role: "admin",
    permission: "images:delete",
    params: ImageParams,
    query: ForceQuery,
    returns: z.object({ ok: z.literal(true), deleted, untagged }).meta({ id: "ImageDeletion" }),
    failures: { ...UNKNOWN, 409: "The image is in use", ...ENGINE_FAILURES },
  }, ({ params, query }) => removeImage(deps, params.id, query)),

  endpoint("POST /api/images/prune", {
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
