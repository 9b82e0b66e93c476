/**
 * /api/containers/:id/terminal and /attach: interactive programs in containers over a WebSocket.
 *
 * @module
 */

import * as z from "zod";
import {
  assertGranted,
  assertOrigin,
  issueTerminalTicket,
  refusalOf,
  type TerminalRequest,
} from "../../services/containers/terminal/access.ts";
import { createSessionWatch } from "../../services/access/oidc/recheck.ts";
import { SIZE_MAX } from "../../services/containers/terminal/control.ts";
import { attachToContainer, startShell } from "../../services/containers/terminal/program.ts";
import { runTerminal } from "../../services/containers/terminal/session.ts";
import { namesOf } from "../../services/containers/reads.ts";
import type { Deps } from "../../services/deps.ts";
import { type Endpoint, endpoint, type Input, rawEndpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES, Timestamp } from "../contract/shapes.ts";
import { limitUnfinished } from "../pipeline/received_bytes.ts";
import { upgradeWebSocket } from "../pipeline/web_socket.ts";
import { ContainerParams } from "./shapes.ts";

/** Longest command, in characters. */
const COMMAND_MAX = 500;

const MESSAGES =
  `Binary messages carry input and output. Text messages carry JSON: the client sends \
\`{"resize":[cols,rows]}\`, and the last message of the service is \`{"exit":code}\` or \
\`{"error":"sentence"}\`. At most 10 terminals are open at a time. A terminal is closed after \
\`TERMINAL_IDLE_MINUTES\` without input, and within a second after the login is revoked, the role is \
lost or the address is refused.

Needs \`TERMINAL=admin\`. A browser must send the service's own \`Origin\` or one of \
\`CORS_ORIGINS\`. The audit log has the start and the end, not what was typed.`;

const Size = z.object({
  cols: z.int().min(1).max(SIZE_MAX).meta({ example: 120 }),
  rows: z.int().min(1).max(SIZE_MAX).meta({ example: 40 }),
});

const TerminalTicket = z.object({
  ticket: z.string().meta({ example: "aALvzyRj9xb9L3EVNkaaJolTlLIPA0PkJ4firVEXDLQ" }),
  expiresAt: Timestamp,
}).meta({ id: "TerminalTicket" });

const TicketQuery = z.object({
  ticket: z.string().max(100).optional().meta({
    description: "A ticket for this terminal, which can be used once",
  }),
});

const TICKET_FAILURES = {
  403: "Terminals are off, the role is not admin, or the login is older than 12 hours",
  404: "The container does not exist",
  409: "The container is not running",
  ...ENGINE_FAILURES,
  503: "10 terminals are open, or the engine is not reachable",
};

const SOCKET_FAILURES = {
  400: "The request is not a WebSocket handshake",
  401: "The ticket is missing, used or expired, or it is for another container or endpoint",
  403: "The origin is not allowed, terminals are off, the role is not admin, or the login is " +
    "older than 12 hours",
  404: "The container does not exist",
  ...ENGINE_FAILURES,
  503: "10 terminals are open, or the engine is not reachable",
};

export const terminalEndpoints = (deps: Deps): Endpoint[] => [
  endpoint("POST /api/containers/:id/terminal/ticket", {
    operationId: "createTerminalTicket",
    scope: "container",
    summary: "Create a terminal ticket",
    description: "A ticket for one new shell in this container, valid for 30 seconds: connect to " +
      "`/api/containers/{id}/terminal?ticket=...`. The first of `command`, `bash`, `sh` and `ash` " +
      "that exists is started, as `user` or as the container's own user. The logs record the " +
      "command: do not pass secrets in it.",
    role: "admin",
    runsPrograms: true,
    params: ContainerParams,
    body: Size.extend({
      command: z.string().min(1).max(COMMAND_MAX).optional().meta({ example: "bash -l" }),
      user: z.string().regex(/^[\w.][\w.-]{0,63}(:[\w.][\w.-]{0,63})?$/, {
        error: "must be a user or user:group, as names or numbers",
      }).optional().meta({ example: "root" }),
    }).meta({ id: "TerminalOptions" }),
    returns: TerminalTicket,
    failures: TICKET_FAILURES,
  }, ({ params, body, note, caller }) => {
    if (body.command !== undefined) note.command = body.command;
    return issueTerminalTicket(deps, caller, { kind: "shell", ref: params.id, ...body });
  }),

  rawEndpoint("GET /api/containers/:id/terminal", {
    operationId: "openTerminal",
    summary: "Open a terminal",
    description: `A new shell in the container, over a WebSocket. ${MESSAGES} When the client ` +
      "disconnects, the shell gets SIGHUP.",
    ...socketContract("A WebSocket to a new shell"),
  }, (input) => openSocket(deps, "shell", input)),

  endpoint("POST /api/containers/:id/attach/ticket", {
    operationId: "createAttachTicket",
    scope: "container",
    summary: "Create an attach ticket",
    description: "A ticket to connect to the main process of this container, valid for 30 " +
      "seconds: connect to `/api/containers/{id}/attach?ticket=...`.",
    role: "admin",
    runsPrograms: true,
    params: ContainerParams,
    body: Size.meta({ id: "TerminalSize" }),
    returns: TerminalTicket,
    failures: TICKET_FAILURES,
  }, ({ params, body, caller }) => {
    return issueTerminalTicket(deps, caller, { kind: "attach", ref: params.id, ...body });
  }),

  rawEndpoint("GET /api/containers/:id/attach", {
    operationId: "attachToContainer",
    summary: "Attach to the main process",
    description: `Connects to the main process of the container over a WebSocket. ${MESSAGES} ` +
      "The process keeps running when the client disconnects. Input is dropped unless the " +
      "container was created with an open standard input.",
    ...socketContract("A WebSocket to the main process"),
  }, (input) => openSocket(deps, "attach", input)),
];

function socketContract(description: string) {
  return {
    role: "admin",
    runsPrograms: true,
    scope: "container",
    acceptsTicket: "terminal",
    upgrades: true,
    params: ContainerParams,
    query: TicketQuery,
    status: 101,
    replies: { 101: { description } },
    returns: z.undefined(),
    produces: "application/octet-stream",
    failures: SOCKET_FAILURES,
  } as const;
}

async function openSocket(
  deps: Deps,
  kind: TerminalRequest["kind"],
  { params: { id }, caller, request, recordPhase }: Input<{ id: string }, unknown, unknown>,
): Promise<Response> {
  const { headers } = request;
  assertOrigin(deps, { origin: headers.get("origin"), host: headers.get("host") });
  const grant = await assertGranted(deps, caller, { kind, ref: id });
  const start = kind === "shell" ? startShell : attachToContainer;
  const targets = namesOf(deps, [id, grant.containerId]);
  // Not after the upgrade, when the client can no longer get a status.
  deps.terminals.assertFree();
  const { socket, response } = upgradeWebSocket(request, deps.terminals.pongTimeoutS);
  limitUnfinished(request, socket);
  const watchSession = createSessionWatch(deps, caller.familyId);
  void runTerminal(deps, {
    socket,
    start: (signal) => start(deps, grant, signal),
    refusal: () => {
      watchSession();
      return refusalOf(deps, caller);
    },
    record: (phase, entry) => recordPhase(phase, { targets, ...entry }),
  });
  return response;
}
