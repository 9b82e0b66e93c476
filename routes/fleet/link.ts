/** /fleet/link: the WebSocket that hosts of a fleet dial. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { AppError } from "../../services/errors.ts";
import { createAdmission } from "../../services/fleet/hosts/admission.ts";
import { applyChangesOfOthers, createKnownAddresses } from "../../services/fleet/hosts/hosts.ts";
import { serveLink } from "../../services/fleet/hosts/serve.ts";
import { type MessageSocket, UNREAD_MAX } from "../../services/fleet/link/connection.ts";
import { type Endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { limitReceivedBytes } from "../pipeline/received_bytes.ts";
import { isHandshake, upgradeWebSocket } from "../pipeline/web_socket.ts";

/** Time without an answer to a ping of the WebSocket after which it is closed, in seconds. */
const PONG_TIMEOUT_S = 60;

export const linkEndpoints = (deps: Deps): Endpoint[] => {
  const admission = createAdmission(deps.now, createKnownAddresses(deps));
  const applyChanges = applyChangesOfOthers(deps);
  return [
    rawEndpoint("GET /fleet/link", {
      operationId: "openFleetLink",
      summary: "Open a fleet link",
      description: "The WebSocket of a host of the fleet. Its messages are sealed: the host and " +
        "this server prove their keys to each other first, whatever ends TLS in between. Only " +
        "Longshore itself connects here (`longshore join`). At most 20 connections begin in a " +
        "second, 10 of them from addresses that no host has used.",
      role: "public",
      upgrades: true,
      unaudited: true,
      status: 101,
      replies: { 101: { description: "A WebSocket with sealed messages" } },
      returns: z.undefined(),
      produces: "application/octet-stream",
      failures: {
        400: "The request is not a WebSocket handshake",
        404: "This server has no fleet",
        503: "Too many hosts connect at the same time",
      },
    }, ({ request, caller }) => {
      applyChanges();
      if (!deps.fleet.isHub) throw new AppError("not_found", "This server has no fleet");
      // Requests of our own commands and of probes must not use up the places of hosts.
      if (!isHandshake(request)) {
        throw new AppError("invalid", "The request must be a WebSocket handshake");
      }
      let response: Response | undefined;
      admission.run(caller.address, (place) => {
        const { socket, response: upgraded } = upgradeWebSocket(request, PONG_TIMEOUT_S);
        response = upgraded;
        limitReceivedBytes(request, UNREAD_MAX);
        place.giveUp = () => socket.close();
        return serve(deps, socket, caller.address, {
          onFirst: () => delete place.giveUp,
          onProved: () => limitReceivedBytes(request, Infinity),
        });
      });
      return response!;
    }),
  ];
};

/** Resolves when the peer has a link, or is gone: one that was refused has its place until then. */
async function serve(
  deps: Deps,
  socket: WebSocket,
  address: string,
  events: Parameters<typeof serveLink>[3],
): Promise<void> {
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  await serveLink(deps, socket as MessageSocket, address, events);
  if (socket.readyState === WebSocket.CLOSING) await closed;
}
