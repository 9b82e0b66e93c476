/** /api/fleet/pending: what was left for hosts that are away. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { listPending, removePending } from "../../services/fleet/away/pending.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done } from "../contract/shapes.ts";
import { Pending } from "./shapes.ts";

export const pendingEndpoints = (deps: Deps) => [
  endpoint("GET /api/fleet/pending", {
    operationId: "listFleetPending",
    summary: "List requests for away hosts",
    description:
      "Deploys and updates that were left with `?later=` for hosts that were away, the " +
      "oldest first. Those that have ended are kept for a week.",
    scope: "hosts",
    role: "viewer",
    permission: "fleet:read",
    returns: z.object({ pending: z.array(Pending) }).meta({ id: "FleetPendingList" }),
  }, ({ caller }) => ({ pending: listPending(deps, caller) })),

  endpoint("DELETE /api/fleet/pending/:id", {
    operationId: "deleteFleetPending",
    summary: "Delete a request",
    description:
      "A host that has it already continues, and so does one to which it is carried in " +
      "a file.",
    role: "admin",
    permission: "fleet:write",
    returns: Done,
    failures: { 404: "The request does not exist" },
  }, ({ params, note }) => {
    note.target = removePending(deps, params.id);
  }),
];
