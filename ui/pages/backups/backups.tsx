/** Backups: stacks and volumes, their snapshots and targets, and the data of this server. @module */

import type { ComponentType } from "preact";
import { Page } from "../../components/page.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { HOST } from "../../state/root.ts";
import { hasRole } from "../../state/session.ts";
import { Server } from "./server.tsx";
import { Snapshots } from "./snapshots.tsx";
import { Stacks } from "./stacks.tsx";
import { Targets } from "./targets.tsx";

interface Tab {
  name: string;
  /** Part of the address; the first tab has none. */
  path: string;
  mayOpen: () => boolean;
  Body: ComponentType;
}

const mayRead = () => hasRole("viewer", "backup:read");

const TABS: readonly Tab[] = [
  { name: "Stacks", path: "", mayOpen: mayRead, Body: Stacks },
  { name: "Snapshots", path: "snapshots", mayOpen: mayRead, Body: Snapshots },
  { name: "Targets", path: "targets", mayOpen: mayRead, Body: Targets },
  {
    name: "This server",
    path: "server",
    mayOpen: () => HOST === undefined && hasRole("admin"),
    Body: Server,
  },
];

export default function Backups({ tab = "" }: Record<string, string | undefined>) {
  const tabs = TABS.filter(({ mayOpen }) => mayOpen());
  const open = tabs.find(({ path }) => path === tab) ?? tabs[0]!;
  return (
    <Page title="Backups">
      <JobList group="Backups" />
      <Tabs
        name="Backups"
        current={open.name}
        tabs={tabs.map(({ name, path }) => ({ name, to: `/backups${path && `/${path}`}` }))}
      >
        <open.Body />
      </Tabs>
    </Page>
  );
}
