/** /api/feed: the lists of this host by their changes, which a hub follows. @module */

import * as z from "zod";
import { assertMayDo } from "../../services/access/caller.ts";
import type { Deps } from "../../services/deps.ts";
import { openFeed } from "../../services/fleet/copies/feed.ts";
import { rawEndpoint } from "../contract/endpoint.ts";
import { eventStream } from "../pipeline/event_stream.ts";

const EXAMPLE = `event: containers
data: {"isWhole":false,"set":[{"id":"4f1c...","name":"web","state":"running",...}],"removed":[]}

event: current
data: ["host","containers","stacks","alerts","updates"]

`;

/** Permissions of the lists. */
const LISTS = ["containers:read", "stacks:read", "alerts:read"];

export const feedEndpoints = (deps: Deps) => [
  rawEndpoint("GET /api/feed", {
    operationId: "streamLists",
    summary: "Stream lists by changes",
    description: "For a hub, which keeps a copy: server-sent events `host`, `containers`, " +
      "`stacks`, `alerts` (firing ones) and `updates`, first with all rows (`isWhole`), then with " +
      "those that changed, about a second later. `current` names the parts that could just be " +
      "read, at least every 15 seconds. Requires the permissions of all lists.",
    role: "viewer",
    permission: "system:read",
    returns: z.string().meta({ example: EXAMPLE }),
    produces: "text/event-stream",
    failures: {
      429: "The account or API token has its share of the streams",
      503: "Too many clients are connected",
    },
  }, ({ caller }) => {
    for (const permission of LISTS) assertMayDo(caller, "viewer", permission);
    return eventStream(openFeed(deps, caller));
  }),
];
