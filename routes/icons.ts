/** /api/icons: images of containers. @module */

import * as z from "zod";
import { listIcons } from "../services/containers/icons.ts";
import { visibleTo } from "../services/containers/visible.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { ENGINE_FAILURES } from "./contract/shapes.ts";

const Icon = z.object({
  id: z.string().meta({
    description: "As in `icon` of containers; the same for equal images",
    example: "Xw3vJ0kQm5rYt2LbA9cZfg",
  }),
  url: z.string().meta({
    description: "PNG or WebP as a `data:` URL, at most 16 KiB and 512 by 512 pixels",
    example: "data:image/png;base64,iVBORw0KGgo=",
  }),
}).meta({ id: "Icon" });

export const iconEndpoints = (deps: Deps) => [
  endpoint("GET /api/icons", {
    operationId: "listIcons",
    summary: "List container icons",
    description: "The different images in the labels `longshore.icon` and `homepage.icon` of the " +
      "containers, at most 200. Only `data:` URLs count; addresses are never fetched.",
    role: "viewer",
    permission: "containers:read",
    scope: "filtered",
    returns: z.object({ icons: z.array(Icon) }).meta({ id: "IconList" }),
    failures: ENGINE_FAILURES,
  }, async ({ caller }) => ({ icons: await listIcons(visibleTo(deps, caller)) })),
];
