/** A hub with a container and two hosts, edge-7 with a link and shop-1 without one. @module */

import { insertFleetHost } from "../../db/fleet_hosts.ts";
import { setContainers, simulateContainers } from "./fake_containers.ts";
import { fakeEngine } from "./fake_engine.ts";
import { type TestFleet, testFleet } from "./fleet.ts";
import type { TestAppOptions } from "./test_app.ts";

/** The container of the hub, and the host without a link. */
export const OF_HUB = "zqhub";
export const OTHER_HOST = "shop-1";

/** The host edge-7 has the container web. */
export async function scopedFleet(
  { config, hubConfig = {}, engine = {} }: Pick<TestAppOptions, "config"> & {
    hubConfig?: NonNullable<TestAppOptions["config"]>;
    engine?: Parameters<typeof fakeEngine>[0];
  } = {},
): Promise<TestFleet> {
  const engines = new AsyncDisposableStack();
  const engineOf = (name: string) =>
    engines.use(fakeEngine({ ...simulateContainers([{ name }]), ...engine })).engine;
  const fleet = await testFleet({
    hub: { edition: "enterprise", engine: engineOf(OF_HUB), config: hubConfig },
    member: { edition: "enterprise", engine: engineOf("web"), ...(config && { config }) },
  });
  setContainers(fleet.hub, { name: OF_HUB });
  setContainers(fleet.member, { name: "web" });
  const { deps } = fleet.hub;
  const other = { id: "host-1", name: OTHER_HOST, labels: { site: "bonn" }, state: "away" };
  for (const { id, name, labels } of [fleet.host, other]) {
    insertFleetHost(deps.db, {
      ...{ id, name, labels: { ...labels }, linkKey: `key of ${name}`, noteKey: "", machine: "" },
      ...{
        version: "0.1.0",
        address: "192.0.2.7",
        inviteId: null,
        dialAddress: null,
        challenge: 0,
      },
      ...{ isPending: false, isConnected: false, isReportedAway: false, leftAt: null },
      ...{ joinedAt: "2026-01-01T00:00:00.000Z", lastSeenAt: null },
    });
  }
  deps.fleet.refresh();
  const side = deps.passing.hub()!;
  deps.passing.hub = () => ({
    ...side,
    link: (id) => id === fleet.host.id ? fleet.link : undefined,
    findHost: (ref) => [other.id, other.name].includes(ref) ? other : side.findHost(ref),
  });
  const dispose = fleet[Symbol.asyncDispose].bind(fleet);
  fleet[Symbol.asyncDispose] = async () => {
    await dispose();
    await engines.disposeAsync();
  };
  return fleet;
}
