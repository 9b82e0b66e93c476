/** Terminals at hosts of this hub: the WebSockets of both ends are joined here. @module */

import { type LoginDeps, loginRefusal } from "../../containers/terminal/access.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { PassingHost } from "./sides.ts";
import { type PassedRequest, type PassedResponse, passOn } from "./pass.ts";
import { relaySockets } from "./socket_relay.ts";
import { createStreamWebSocket } from "./web_socket.ts";

/**
 * Silence of a host after which its terminals end, in milliseconds. With a beat every 15 seconds and a check
 * every 5, a user types for at most 30 seconds into a link that was cut.
 */
const SILENT_MAX_MS = 24_000;

/** Records the start or the end of a terminal. */
type Record = (phase: "start" | "end") => Promise<void>;

/**
 * Opens a terminal at the host, and joins it with the client's WebSocket.
 *
 * @param upgrade Accepts the client's handshake, once the host has accepted its own.
 * @returns The response to the client, or that of a host that refused.
 */
export async function passTerminal(
  deps: Pick<Deps, "passing"> & LoginDeps,
  host: PassingHost,
  request: PassedRequest,
  { upgrade, record }: { upgrade: () => Deno.WebSocketUpgrade; record: Record },
): Promise<Response | PassedResponse> {
  const { caller } = request;
  const link = deps.passing.hub()?.link(host.id);
  let isLinkOpen = true;
  void link?.closed.then(() => isLinkOpen = false);
  const isSilent = () => link !== undefined && link.silentMs > SILENT_MAX_MS;
  const mayContinue = () =>
    deps.accounts.roleOf(caller) !== undefined && caller.rights?.isAdmitted() !== false &&
    loginRefusal(deps, caller) === undefined;
  const isAllowed = () => mayContinue() && !isSilent();
  const describeEnd = () => {
    if (isSilent()) return `Host ${host.name} does not answer`;
    return isLinkOpen
      ? `The rights at host ${host.name} have ended`
      : `The link to host ${host.name} has ended`;
  };
  if (isSilent()) throw new AppError("unavailable", describeEnd());
  const passed = await passOn(deps, host, { ...request, isUpgrade: true, isAllowed });
  const { upgraded, end, signal } = passed;
  if (!upgraded) return passed;
  try {
    const { socket, response } = upgrade();
    void relaySockets(socket, createStreamWebSocket(upgraded), { signal, describeEnd })
      .finally(end)
      .then(() => record("end"));
    await record("start");
    return response;
  } catch (error) {
    end();
    throw error;
  }
}
