/** /api/fleet/hosts/:id/api/…: requests that are passed on to a host of this hub. @module */

import * as z from "zod";
import { assertMayDo } from "../../services/access/caller.ts";
import { assertOrigin, assertTerminalAllowed } from "../../services/containers/terminal/access.ts";
import type { Deps } from "../../services/deps.ts";
import { AppError } from "../../services/errors.ts";
import { leaveForHost } from "../../services/fleet/away/pending.ts";
import { AUDITED_HEADER } from "../../services/fleet/notes/note.ts";
import { toClient } from "../../services/fleet/passing/headers.ts";
import {
  findHost,
  type PassedRequest,
  type PassedResponse,
  passOn,
} from "../../services/fleet/passing/pass.ts";
import type { PassingHost } from "../../services/fleet/passing/sides.ts";
import { passTerminal } from "../../services/fleet/passing/terminal.ts";
import { issueTicket } from "../../services/live/tickets.ts";
import { type Endpoint, type Input, rawEndpoint, type RawResponse } from "../contract/endpoint.ts";
import { PathText } from "../contract/shapes.ts";
import { targetOf } from "../pipeline/request_url.ts";
import { limitUnfinished } from "../pipeline/received_bytes.ts";
import { isHandshake, upgradeWebSocket } from "../pipeline/web_socket.ts";
import { readBody } from "./body.ts";
import { Pending } from "./shapes.ts";

const Params = z.object({
  id: PathText.meta({ description: "Id or name of the host", example: "edge-7" }),
  path: z.string().max(4_000).meta({ example: "containers/web/stop" }),
});

type PassInput = Input<z.output<typeof Params>, unknown, unknown>;

/** Query parameter that says how long a request may wait for a host that is away. */
const LATER = "later";

/** Query parameters that are for the hub. */
const OWN_PARAMETERS = ["ticket", LATER];

const DESCRIPTION = "The request is sent to the host over its link, as the calling user, and the " +
  "host's answer is the answer: its status, its body, event streams, uploads and terminals too. " +
  "The host allows its hub's users at most what its `FLEET_ALLOW` says, and never changes of " +
  "accounts, tokens, identity, license or its fleet.";

const HostAnswer = z.unknown().meta({
  id: "HostAnswer",
  description: "What the endpoint of the host returns",
});

const HostRequest = z.unknown().meta({
  id: "HostRequest",
  description: "What the endpoint of the host takes, of any type and size",
  example: { action: "restart" },
});

const LATER_DESCRIPTION =
  " With `?later=` and a time of up to `30d`, such as `12h`, a deploy or an " +
  "update for a host that is away is stored (202): it runs when the host is back, unless what the " +
  "caller saw has changed there. Its result is in `GET /api/fleet/pending`.";

const CONTRACT = {
  role: "viewer",
  scope: "open",
  forwards: true,
  params: Params,
  returns: HostAnswer,
  produces: "application/json",
  failures: {
    404: "The host is unknown, or it answered so",
    502: "The host refused the note of the hub, or its answer is not HTTP",
    503: "The host is away or does not answer, or too many requests are being passed on to it",
  },
} as const;

const LEFT = { 202: { description: "It waits for the host", returns: Pending } };

export const passingEndpoints = (deps: Deps): Endpoint[] => [
  rawEndpoint("GET /api/fleet/hosts/:id/api/:path{.+}", {
    operationId: "readFromHost",
    summary: "Read from a host",
    description: `${DESCRIPTION} With a handshake, it is a WebSocket.`,
    acceptsTicket: true,
    ...CONTRACT,
  }, (input) => answerRead(deps, input)),

  rawEndpoint("POST /api/fleet/hosts/:id/api/:path{.+}", {
    operationId: "postToHost",
    summary: "Post to a host",
    description: `${DESCRIPTION} Tickets are issued by the hub.${LATER_DESCRIPTION}`,
    replies: LEFT,
    body: HostRequest,
    ...CONTRACT,
  }, (input) => answerPost(deps, input)),

  rawEndpoint("PUT /api/fleet/hosts/:id/api/:path{.+}", {
    operationId: "putToHost",
    summary: "Put to a host",
    description: `${DESCRIPTION} With \`?later=\` as with POST.`,
    replies: LEFT,
    body: HostRequest,
    ...CONTRACT,
  }, (input) => answerWrite(deps, input)),

  rawEndpoint("DELETE /api/fleet/hosts/:id/api/:path{.+}", {
    operationId: "deleteFromHost",
    summary: "Delete from a host",
    description: DESCRIPTION,
    ...CONTRACT,
  }, (input) => answerWrite(deps, input)),
];

async function answerRead(deps: Deps, input: PassInput): Promise<RawResponse> {
  const { caller, request } = input;
  const host = findHost(deps, caller, input.params.id);
  if (isHandshake(request)) return await openTerminal(deps, host, input);
  if (caller.passed) throw new AppError("unauthorized", "The ticket is for a terminal");
  const sent = passedRequest(host, input);
  const passed = await passOn(deps, host, sent);
  if (passed.head.headers.has(AUDITED_HEADER)) {
    Object.assign(input.note, { audited: true, target: host.name, command: `GET ${sent.target}` });
  }
  if (!request.headers.has("authorization")) assertForTicket(passed);
  return toResponse(host, passed);
}

/** Tickets are for streams and downloads, and no token for all that a host lets its users read. */
function assertForTicket({ head: { headers }, end }: PassedResponse): void {
  if (headers.get("content-type")?.startsWith("text/event-stream")) return;
  if (headers.get("content-disposition")?.startsWith("attachment")) return;
  end();
  throw new AppError("unauthorized", "The ticket is for event streams and downloads");
}

async function answerPost(deps: Deps, input: PassInput): Promise<RawResponse> {
  const { caller, note, params: { id }, request } = input;
  const host = findHost(deps, caller, id);
  const path = routeIn(request);
  if (path === "/api/stream/ticket") {
    note.unaudited = true;
    assertMayDo(caller, "viewer", "system:read");
    return json(200, issueTicket(deps, caller));
  }
  return path.endsWith("/ticket")
    ? await answerTicket(deps, host, input)
    : await answerWrite(deps, input);
}

async function answerWrite(deps: Deps, input: PassInput): Promise<RawResponse> {
  const { caller, note, params: { id }, request } = input;
  const host = findHost(deps, caller, id);
  const passed = passedRequest(host, input);
  note.target = host.name;
  note.command = `${request.method} ${passed.target}`;
  const wait = new URL(request.url).searchParams.get(LATER);
  return wait === null || deps.passing.hub()?.link(host.id)
    ? await pass(deps, host, passed)
    : await leave(deps, host, { passed, wait });
}

/** Leaves a request for a host that is away. */
async function leave(
  deps: Deps,
  { id }: PassingHost,
  { passed, wait }: { passed: PassedRequest; wait: string },
): Promise<RawResponse> {
  const { method, target, caller } = passed;
  const body = await passed.readBody!();
  if (body && "stream" in body) throw new AppError("too_large", "body: is too large for later");
  const text = body ? new TextDecoder().decode(body.bytes) : "";
  const left = leaveForHost(deps, id, { method, path: target, body: text, caller, wait });
  return json(202, Pending.parse(left));
}

/** Keeps the host's ticket for a terminal, and issues one of the hub instead. */
async function answerTicket(
  deps: Deps,
  host: PassingHost,
  input: PassInput,
): Promise<RawResponse> {
  assertTerminalAllowed(deps, input.caller);
  const [pathname = ""] = targetIn(input.request).split("?");
  if (!pathname.endsWith("/ticket")) {
    throw new AppError("not_found", "The path of a ticket must be written without escapes");
  }
  const answer = await answerWrite(deps, input);
  if (answer.status !== 200) return answer;
  const issued = TicketAnswer.safeParse(await jsonOf(answer));
  if (!issued.success) throw new AppError("bad_gateway", `Host ${host.name} issued no ticket`);
  const { ticket, expiresAt } = issued.data;
  const path = pathname.slice(0, -"/ticket".length);
  const passed = { hostId: host.id, path, ticket };
  return json(200, { ...issueTicket(deps, input.caller, passed), expiresAt });
}

const TicketAnswer = z.object({ ticket: z.string().max(200), expiresAt: z.iso.datetime() });

/** Largest answer with a ticket, in bytes. */
const TICKET_ANSWER_MAX = 4_096;

async function jsonOf({ body }: RawResponse): Promise<unknown> {
  let text = "";
  const decoder = new TextDecoder();
  if (body === null || body instanceof Uint8Array) return undefined;
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > TICKET_ANSWER_MAX) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function openTerminal(
  deps: Deps,
  host: PassingHost,
  input: PassInput,
): Promise<RawResponse> {
  const { caller, request, recordPhase } = input;
  const { headers } = request;
  assertOrigin(deps, { origin: headers.get("origin"), host: headers.get("host") });
  assertTerminalAllowed(deps, caller);
  const passed = passedRequest(host, input);
  const { pathname } = new URL(passed.target, "http://host");
  const { passed: ticket } = caller;
  if (ticket?.hostId !== host.id || ticket.path !== pathname) {
    throw new AppError("unauthorized", "A ticket for this terminal is required");
  }
  const target = `${pathname}?ticket=${encodeURIComponent(ticket.ticket)}`;
  const entry = { targets: [host.name], command: `GET ${pathname}`, outcome: "success" } as const;
  const answer = await passTerminal(deps, host, { ...passed, target }, {
    upgrade() {
      const upgraded = upgradeWebSocket(request, deps.terminals.pongTimeoutS);
      limitUnfinished(request, upgraded.socket);
      return upgraded;
    },
    record: (phase) => recordPhase(phase, entry),
  });
  return answer instanceof Response ? answer : toResponse(host, answer);
}

function passedRequest(
  host: PassingHost,
  { assertAllowed, caller, grantedTo, request, requestId }: PassInput,
): PassedRequest {
  return {
    method: request.method,
    target: targetIn(request),
    headers: request.headers,
    ...(request.method !== "GET" && { readBody: () => readBody(request, assertAllowed) }),
    caller,
    permissions: grantedTo(caller.userId, host),
    requestId,
    signal: request.signal,
  };
}

/**
 * Path and query at the host, without the parameters of the hub.
 *
 * @throws {AppError} `not_found` for a path that leads out of `/api/`.
 */
function targetIn(request: Request): string {
  const target = targetOf(request).replace(/^\/api\/fleet\/hosts\/[^/]+/, "");
  const url = new URL(`http://host${target}`);
  // Without one, the query stays as the client encoded it.
  for (const name of OWN_PARAMETERS) {
    if (url.searchParams.has(name)) url.searchParams.delete(name);
  }
  if (!url.pathname.startsWith("/api/")) {
    throw new AppError("not_found", "Only paths below /api/ are passed on");
  }
  return url.pathname + url.search;
}

/** The path at the host as its router reads it: without escapes of ASCII and without slashes after it. */
function routeIn(request: Request): string {
  const [pathname = ""] = targetIn(request).split("?");
  const route = pathname.replace(
    /%([2-7][0-9a-f])/gi,
    (_, code) => String.fromCharCode(parseInt(code, 16)),
  );
  let end = route.length;
  while (route[end - 1] === "/") end--;
  return route.slice(0, end);
}

async function pass(deps: Deps, host: PassingHost, passed: PassedRequest): Promise<RawResponse> {
  return toResponse(host, await passOn(deps, host, passed));
}

function toResponse(
  { id }: PassingHost,
  { head, body }: PassedResponse,
): RawResponse {
  const headers = toClient(head.headers, `/api/fleet/hosts/${id}`);
  return new Response(body, { status: head.status, headers });
}

const json = (status: number, body: unknown): RawResponse => Response.json(body, { status });
