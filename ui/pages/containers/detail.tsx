/** One container: what it is, how it is doing, and everything that can be done with it. @module */

import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link, LinkButton } from "../../components/button.tsx";
import { ContainerIcon } from "../../parts/container_icon.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, Empty, Failure, Loading, State } from "../../components/states.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { plain } from "../../base/text.ts";
import { containers, healthOf } from "../../state/live.ts";
import { hasRole } from "../../state/session.ts";
import { LastFailure } from "../updates/last_failure.tsx";
import { Actions, openContainer } from "./actions.tsx";
import { Changes } from "./changes.tsx";
import { Environment } from "./environment.tsx";
import { Events } from "./events.tsx";
import { Exec } from "./exec.tsx";
import { Files } from "./files.tsx";
import { Inspect } from "./inspect.tsx";
import { Logs } from "./logs.tsx";
import { Mounts, Networks } from "./attachments.tsx";
import { Processes } from "./processes.tsx";
import { Stats } from "./stats.tsx";
import { Summary } from "./summary.tsx";
import { Terminal } from "./terminal.tsx";
import type { TabProps } from "./tab.ts";

const TABS: readonly { name: string; Body: ComponentType<TabProps>; isShown?: () => boolean }[] = [
  { name: "Summary", Body: Summary },
  { name: "Stats", Body: Stats },
  { name: "Logs", Body: Logs },
  { name: "Terminal", Body: Terminal, isShown: () => hasRole("admin") },
  { name: "Exec", Body: Exec, isShown: () => hasRole("admin", "containers:exec") },
  { name: "Processes", Body: Processes },
  { name: "Environment", Body: Environment },
  { name: "Mounts", Body: Mounts },
  { name: "Files", Body: Files, isShown: () => hasRole("admin", "files:read") },
  { name: "Networks", Body: Networks },
  { name: "Changes", Body: Changes },
  { name: "Events", Body: Events },
  { name: "Inspect", Body: Inspect },
];

export default function Detail({ id = "", tab }: Record<string, string | undefined>) {
  return <OneContainer key={id} id={id} tab={tab} />;
}

function OneContainer({ id, tab }: { id: string; tab: string | undefined }) {
  const ref = decodeURIComponent(id);
  const { data, error, reload } = useRead("GET /api/containers/{id}", { path: { id: ref } });
  const detail = data.value;
  const live = containers.value?.find((each) => each.id === detail?.id);
  // A change of the list means that the detail has changed, too.
  const version = live && `${live.state} ${live.health} ${live.startedAt}`;
  useEffect(() => {
    if (detail && version !== undefined) reload();
  }, [version]);

  // An update or a rebuild renames the container and later replaces it with one of the same name.
  const name = useRef<string | undefined>(undefined);
  name.current ??= detail?.name;
  const successor = !live && containers.value?.find((each) => each.name === name.current);
  useEffect(() => {
    if (successor) openContainer(successor.id);
  }, [successor && successor.id]);

  const wasListed = useRef(false);
  wasListed.current ||= live !== undefined;
  const isRemoved = wasListed.current && containers.value !== undefined && !live;

  if (error.value?.status === 404 && !isRemoved) return <NotFound />;
  if (error.value && !detail) {
    return (
      <Page title="Container">
        <Failure error={error.value} onRetry={reload} />
      </Page>
    );
  }
  if (!detail) return <Loading name="Container" />;
  const container = { ...detail, ...live };
  const health = healthOf(container);
  const allowed = TABS.filter(({ isShown }) => isShown?.() ?? true);
  const open = allowed.find(({ name }) => name.toLowerCase() === (tab ?? "summary")) ?? allowed[0]!;
  // The others would read what is no longer there.
  const tabs = isRemoved ? [open] : allowed;
  const base = `/containers/${id}`;
  return (
    <Page
      title={plain(container.name)}
      lead={
        <>
          <ContainerIcon id={container.icon} />
          <State state={isRemoved ? "removed" : container.state} />
          {health && !isRemoved && <State state={health} />}
          {container.self && <Badge>Longshore</Badge>}
        </>
      }
      actions={!isRemoved && <Actions container={container} onChange={reload} />}
    >
      {isRemoved && (
        <p class="note" role="status">
          The container was removed. <Link to="/containers">Show all containers</Link>
        </p>
      )}
      <JobList
        group="Updates"
        target={{ targetType: "container", target: name.current ?? container.name }}
      />
      <LastFailure target={name.current ?? container.name} />
      <Tabs
        name="Container"
        current={open.name}
        tabs={tabs.map(({ name }) => ({
          name,
          to: name === "Summary" ? base : `${base}/${name.toLowerCase()}`,
        }))}
      >
        <open.Body container={container} />
      </Tabs>
    </Page>
  );
}

function NotFound() {
  return (
    <Page title="Container not found">
      <Empty action={<LinkButton to="/containers">Show all containers</LinkButton>}>
        It may have been removed or renamed.
      </Empty>
    </Page>
  );
}
