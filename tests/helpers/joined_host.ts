/** Real programs that join the fleet of another one. @module */

import { equal } from "node:assert/strict";
import { runCommand } from "./command.ts";
import type { Longshore } from "./longshore.ts";
import { until } from "./until.ts";

/** The state of the only host of a hub. */
export const stateOfHost = async (hub: Longshore): Promise<string> =>
  (await hub.call("GET", "/api/fleet/hosts")).body.hosts[0]?.state;

/** Lets a program join as the host edge-7, and waits until it is connected. */
export async function joinFleet(hub: Longshore, member: Longshore): Promise<void> {
  const { body } = await hub.call("POST", "/api/fleet/invites", {
    name: "edge-7",
    acceptsAtOnce: true,
    address: hub.baseUrl,
  });
  const env = { DATA_DIR: member.dataDir, FLEET_INSECURE: "on" };
  const { code, stderr } = await runCommand(["join", body.token, "--yes"], { env });
  equal(code, 0, stderr);
  await until("the host is connected", async () => await stateOfHost(hub) === "connected");
}
