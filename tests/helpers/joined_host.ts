/** Real programs that join the fleet of another one. @module */

import { equal } from "node:assert/strict";
import { runCommand } from "./command.ts";
import type { Longshore } from "./longshore.ts";
import { until } from "./until.ts";

/** The state of a host of a hub; default: of its only one. */
export const stateOfHost = async (hub: Longshore, name?: string): Promise<string> =>
  (await hub.call("GET", "/api/fleet/hosts")).body.hosts
    .find((host: { name: string }) => name === undefined || host.name === name)?.state;

/** Lets a program join as a host, and waits until it is connected. */
export async function joinFleet(
  hub: Longshore,
  member: Longshore,
  { name = "edge-7", labels = {} }: { name?: string; labels?: Record<string, string> } = {},
): Promise<void> {
  const { body } = await hub.call("POST", "/api/fleet/invites", {
    ...{ name, labels, acceptsAtOnce: true },
    address: hub.baseUrl,
  });
  const env = { DATA_DIR: member.dataDir, FLEET_INSECURE: "on" };
  const { code, stderr } = await runCommand(["join", body.token, "--yes"], { env });
  equal(code, 0, stderr);
  await until(`${name} is connected`, async () => await stateOfHost(hub, name) === "connected");
}
