/** /api/icons: images of containers. @module */

import * as z from "zod";
import { isImage } from "../services/containers/icon_image.ts";
import {
  iconName,
  listIcons,
  listUploadedIcons,
  removeIcon,
  uploadIcon,
} from "../services/containers/icons.ts";
import { visibleTo } from "../services/containers/visible.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, ENGINE_FAILURES, Timestamp } from "./contract/shapes.ts";

/** A red dot. */
const EXAMPLE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";

const Icon = z.object({
  id: z.string().meta({
    description: "As in `icon` of containers; the same for equal images",
    example: "Xw3vJ0kQm5rYt2LbA9cZfg",
  }),
  url: z.string().meta({
    description: "PNG or WebP as a `data:` URL, at most 16 KiB and 512 by 512 pixels",
    example: EXAMPLE,
  }),
}).meta({ id: "Icon" });

const NOT_AN_IMAGE = "must be a PNG or WebP image of at most 512 by 512 pixels";

const NewIcon = z.object({
  name: z.string().max(80).transform((text, context) => {
    const name = iconName(text);
    if (name !== undefined) return name;
    context.addIssue("must have letters, digits, dots, dashes and underscores only");
    return z.NEVER;
  }).meta({
    description: "As labels name it. Case and the extension of a file are ignored",
    example: "grafana.png",
  }),
  url: z.string().max(16_384).refine(isImage, { error: NOT_AN_IMAGE }).meta({
    description: "PNG or WebP as a `data:` URL, at most 16 KiB and 512 by 512 pixels",
    example: EXAMPLE,
  }),
}).meta({ id: "NewIcon" });

const UploadedIcon = z.object({
  name: z.string().meta({ example: "grafana" }),
  url: z.string(),
  createdAt: Timestamp,
}).meta({ id: "UploadedIcon" });

export const iconEndpoints = (deps: Deps) => [
  endpoint("GET /api/icons", {
    operationId: "listIcons",
    summary: "List container icons",
    description: "The different images of the containers, at most 200: those in the labels " +
      "`longshore.icon` and `homepage.icon` as `data:` URLs, and uploaded ones that these labels " +
      "name. Addresses are never fetched.",
    role: "viewer",
    permission: "containers:read",
    scope: "filtered",
    returns: z.object({ icons: z.array(Icon) }).meta({ id: "IconList" }),
    failures: ENGINE_FAILURES,
  }, async ({ caller }) => ({ icons: await listIcons(visibleTo(deps, caller)) })),

  endpoint("GET /api/icons/uploaded", {
    operationId: "listUploadedIcons",
    summary: "List uploaded icons",
    description: "By name, also those that are not used.",
    role: "viewer",
    permission: "settings:read",
    returns: z.object({ icons: z.array(UploadedIcon) }).meta({ id: "UploadedIconList" }),
  }, () => ({ icons: listUploadedIcons(deps) })),

  endpoint("POST /api/icons/uploaded", {
    operationId: "uploadIcon",
    summary: "Upload an icon",
    description: "Containers whose label `longshore.icon` or `homepage.icon` has this name are " +
      "shown with it. Replaces the icon of that name.",
    role: "admin",
    permission: "settings:write",
    body: NewIcon,
    status: 201,
    returns: UploadedIcon,
    failures: { 409: "There are 200 icons" },
  }, ({ body }) => uploadIcon(deps, body)),

  endpoint("DELETE /api/icons/uploaded/:name", {
    operationId: "deleteIcon",
    summary: "Delete an icon",
    role: "admin",
    permission: "settings:write",
    returns: Done,
    failures: { 404: "The icon does not exist" },
  }, ({ params }) => removeIcon(deps, params.name)),
];
