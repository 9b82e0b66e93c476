/** /api/containers/:id: pause, unpause, kill. @module */

import * as z from "zod";
import {
  killContainer,
  pauseContainer,
  unpauseContainer,
} from "../../services/containers/signals.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ActionResult, ContainerParams, UNKNOWN } from "./shapes.ts";

const KillOptions = z.object({
  signal: z.string()
    .regex(/^((SIG)?[A-Z][A-Z0-9]{1,9}([+-]\d{1,2})?|[1-9]|[1-5]\d|6[0-4])$/i, {
      error: "must be the name of a signal such as SIGHUP, or a number from 1 to 64",
    })
    .default("SIGKILL"),
}).meta({ id: "KillOptions", example: { signal: "SIGHUP" } });

const REFUSED = "Another action is in progress, the container is not running, or it is the " +
  "service's own";

export const containerSignalEndpoints = (deps: Deps) => [
  endpoint("POST /api/containers/:id/pause", {
    operationId: "pauseContainer",
    scope: "container",
    destructive: true,
    summary: "Pause a container",
    description: "Suspends all processes; memory and connections are kept.",
    role: "operator",
    permission: "containers:pause",
    params: ContainerParams,
    returns: ActionResult,
    failures: { ...UNKNOWN, 409: REFUSED },
  }, ({ params }) => pauseContainer(deps, params.id)),

  endpoint("POST /api/containers/:id/unpause", {
    operationId: "unpauseContainer",
    scope: "container",
    summary: "Resume a paused container",
    role: "operator",
    permission: "containers:pause",
    params: ContainerParams,
    returns: ActionResult,
    failures: { ...UNKNOWN, 409: "Another action is in progress, or the container is not paused" },
  }, ({ params }) => unpauseContainer(deps, params.id)),

  endpoint("POST /api/containers/:id/kill", {
    operationId: "killContainer",
    scope: "container",
    destructive: true,
    summary: "Send a signal to a container",
    description:
      "The first process gets the signal, which ends it unless the program handles it. " +
      "`SIGKILL` ends it at once; use stop to let it finish.",
    role: "operator",
    permission: "containers:stop",
    params: ContainerParams,
    body: KillOptions,
    returns: ActionResult,
    failures: { ...UNKNOWN, 409: REFUSED },
  }, ({ params, body, note }) => {
    note.command = body.signal;
    return killContainer(deps, params.id, body.signal);
  }),
];
