/** /fleet/link and /fleet/hub: the WebSockets that hosts of a fleet dial, and their hub. @module */

import * as z from "zod";
import { addressGroup } from "../../services/access/address_group.ts";
import type { Deps } from "../../services/deps.ts";
import { AppError } from "../../services/errors.ts";
import { acceptsHub } from "../../services/fleet/enrolment/listen.ts";
import { createAdmission } from "../../services/fleet/hosts/admission.ts";
import { applyChangesOfOthers, createKnownAddresses } from "../../services/fleet/hosts/hosts.ts";
import {
  acceptConnection,
  type HandshakeEvents,
  serveLink,
} from "../../services/fleet/hosts/serve.ts";
import { type MessageSocket, UNREAD_MAX } from "../../services/fleet/link/connection.ts";
import { type Endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { limitReceivedBytes, limitUnfinished } from "../pipeline/received_bytes.ts";
import { isHandshake, upgradeWebSocket } from "../pipeline/web_socket.ts";

/** Time without an answer to a ping of the WebSocket after which it is closed, in seconds. */
const PONG_TIMEOUT_S = 60;

const FAILURES = {
  400: "The request is not a WebSocket handshake",
  503: "Too many hosts connect at the same time",
};

/** Both ends prove their keys themselves, in sealed messages. */
const SOCKET = {
  role: "public",
  upgrades: true,
  unaudited: true,
  status: 101,
  replies: { 101: { description: "A WebSocket with sealed messages" } },
  returns: z.undefined(),
  produces: "application/octet-stream",
} as const;

export const linkEndpoints = (deps: Deps): Endpoint[] => {
  const isOfHost = createKnownAddresses(deps);
  const admission = createAdmission(deps.now, (group) => {
    const { address } = deps.fleet.hub;
    return isOfHost(group) || address !== undefined && addressGroup(address) === group;
  });
  // A command beside this process may have changed the fleet.
  const applyChanges = applyChangesOfOthers(deps);

  /** Begins a handshake in one of the places for them. */
  function upgrade(
    request: Request,
    address: string,
    serve: (socket: WebSocket & MessageSocket, events: HandshakeEvents) => Promise<void>,
  ): Response {
    // Requests of our own commands and of probes must not use up the places of hosts.
    if (!isHandshake(request)) {
      throw new AppError("invalid", "The request must be a WebSocket handshake");
    }
    let response: Response | undefined;
    admission.run(address, (place) => {
      const { socket, response: upgraded } = upgradeWebSocket(request, PONG_TIMEOUT_S);
      response = upgraded;
      limitReceivedBytes(request, UNREAD_MAX);
      place.giveUp = () => socket.close();
      return untilGone(socket, () =>
        serve(socket as WebSocket & MessageSocket, {
          onFirst: () => delete place.giveUp,
          onProved: () => limitUnfinished(request, socket),
        }));
    });
    return response!;
  }

  return [
    rawEndpoint("GET /fleet/link", {
      operationId: "openFleetLink",
      summary: "Open a fleet link",
      description: "The WebSocket of a host of the fleet. Its messages are sealed: the host and " +
        "this server prove their keys to each other first, whatever ends TLS in between. Only " +
        "Longshore itself connects here (`longshore join`). At most 20 connections begin in a " +
        "second, 10 of them from addresses that no host has used.",
      ...SOCKET,
      failures: { ...FAILURES, 404: "This server has no fleet" },
    }, ({ request, caller: { address } }) => {
      applyChanges();
      if (!deps.fleet.isHub) throw new AppError("not_found", "This server has no fleet");
      return upgrade(
        request,
        address,
        (socket, events) => serveLink(deps, socket, address, events),
      );
    }),

    rawEndpoint("GET /fleet/hub", {
      operationId: "openHubLink",
      summary: "Open a hub's link",
      description: "The WebSocket of a hub that dials this host, with the messages of " +
        "`/fleet/link`. It exists only while this host waits for a hub with a token " +
        "(`longshore join --listen`), and for the hub that has added it so.",
      ...SOCKET,
      failures: { ...FAILURES, 404: "This server does not wait for a hub" },
    }, ({ request, caller: { address } }) => {
      applyChanges();
      const { accept } = deps.fleet.hub;
      if (!accept || !acceptsHub(deps)) {
        throw new AppError("not_found", "This server does not wait for a hub");
      }
      return upgrade(request, address, async (socket, events) => {
        const connection = acceptConnection(socket, events);
        // The host speaks first, whichever side has dialed.
        await Promise.race([new Promise((open) => socket.onopen = open), connection.closed]);
        await accept(connection, address);
      });
    }),
  ];
};

/** Resolves when the peer has a link, or is gone: one that was refused has its place until then. */
async function untilGone(socket: WebSocket, serve: () => Promise<void>): Promise<void> {
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  await serve();
  if (socket.readyState === WebSocket.CLOSING) await closed;
}
