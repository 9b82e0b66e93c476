/** Hosts: the fleet of this server, and what all of its hosts have. @module */

import type { ComponentType } from "preact";
import { Page } from "../../components/page.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { useRead } from "../../components/reading.ts";
import { query } from "../../state/router.ts";
import { hasRole, seesServer } from "../../state/session.ts";
import { FleetHosts } from "./fleet_hosts.tsx";
import { Hub } from "./hub.tsx";
import { Waves } from "./waves.tsx";
import { Alerts, Containers, type ListProps, Stacks, Updates } from "./lists.tsx";

interface Tab {
  name: string;
  permission: string;
  /** It is about all hosts. */
  isOfServer?: true;
  Body: ComponentType<ListProps>;
}

/** Tabs by their name in `?list=`. */
const TABS: Readonly<Record<string, Tab>> = {
  containers: { name: "Containers", permission: "containers:read", Body: Containers },
  stacks: { name: "Stacks", permission: "stacks:read", Body: Stacks },
  updates: { name: "Updates", permission: "containers:read", Body: Updates },
  alerts: { name: "Alerts", permission: "alerts:read", Body: Alerts },
  waves: { name: "Waves", permission: "fleet:read", isOfServer: true, Body: Waves },
};

export default function Hosts() {
  const { data } = useRead("GET /api/fleet/hosts", {});
  const hosts = data.value?.hosts ?? [];
  const tabs = Object.entries(TABS).filter(([, { permission, isOfServer }]) =>
    hasRole("viewer", permission) && (!isOfServer || seesServer())
  );
  const [, open] = tabs.find(([list]) => list === query.value.get("list")) ?? [];
  // An empty fleet has no lists.
  const body = open ? <open.Body key={open.name} hosts={hosts} /> : (
    <>
      <FleetHosts />
      <div class="below">
        <Hub />
      </div>
    </>
  );
  return (
    <Page title="Hosts">
      {hosts.length === 0 ? body : (
        <Tabs
          name="Hosts"
          current={open?.name ?? "Hosts"}
          tabs={[
            { name: "Hosts", to: "/hosts" },
            ...tabs.map(([list, { name }]) => ({ name, to: `/hosts?list=${list}` })),
          ]}
        >
          {body}
        </Tabs>
      )}
    </Page>
  );
}
