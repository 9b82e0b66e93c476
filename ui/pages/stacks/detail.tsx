/**
 * One stack: its services with their containers, its sources with their versions, and its log.
 *
 * @module
 */

import type { StackDetail } from "../../api/types.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { Menu } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import {
  Badge,
  Denied,
  Empty,
  Failure,
  Loading,
  State,
  Text,
  toneOf,
} from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { imageName, plain } from "../../base/text.ts";
import { ContainerIcon } from "../../parts/container_icon.tsx";
import { OpenLink } from "../../parts/links.tsx";
import { stackPath } from "../../paths.ts";
import { healthOf } from "../../state/live.ts";
import { href, query } from "../../state/router.ts";
import { LogView } from "../logs/view.tsx";
import { hasRole } from "../../state/session.ts";
import { updateStack } from "../updates/stack_update.ts";
import { stackActions, STATUS_TONES, statusOf, useReloadOnStates } from "./actions.ts";
import { JobList } from "../../parts/job_list.tsx";
import { deployStack, isDeploying, useReloadOnEnd } from "./deploy.tsx";
import { StackHistory } from "./history.tsx";
import { moreActions } from "./more_actions.tsx";
import { Source } from "./source.tsx";
import { Versions } from "./versions.tsx";

const ICONS = { start: "play", stop: "stop", restart: "restart" } as const;

const TABS = [
  { name: "Services", path: undefined, role: "viewer" },
  { name: "Source", path: "source", role: "operator" },
  { name: "Logs", path: "logs", role: "viewer" },
  { name: "Versions", path: "versions", role: "operator" },
] as const;

export default function Detail({ id = "", tab }: Record<string, string | undefined>) {
  const name = decodeURIComponent(id);
  const kind = query.value.get("kind") === "swarm" ? "swarm" as const : undefined;
  const { data, error, reload } = useRead("GET /api/stacks/{name}", {
    path: { name },
    query: { ...(kind && { kind }) },
  });
  useReloadOnStates(reload);
  useReloadOnEnd(name, reload);
  const stack = data.value;
  const tabs = TABS.filter(({ role }) => hasRole(role, "stack_sources:read"));
  const open = TABS.find(({ path }) => path === tab) ?? TABS[0];
  if (!tabs.includes(open)) return <Denied role={open.role} />;
  if (error.value?.status === 404) return <NotFound />;
  if (error.value && !stack) {
    return (
      <Page title={plain(name)}>
        <Failure error={error.value} onRetry={reload} />
      </Page>
    );
  }
  if (!stack) return <Loading name="Stack" />;
  const suffix = kind ? `?kind=${kind}` : "";
  const more = moreActions(stack, reload);
  return (
    <Page
      title={plain(stack.name)}
      lead={
        <>
          <State state={statusOf(stack)} tone={STATUS_TONES[stack.status]} />
          {stack.kind === "swarm" && <Badge>Swarm</Badge>}
        </>
      }
      actions={
        <>
          {stackActions(stack, reload).map(({ action, verb, run }) => (
            <Button key={action} icon={ICONS[action]} onClick={run}>{verb}</Button>
          ))}
          {stack.kind === "compose" && stack.containerCount > 0 &&
            hasRole("operator", "stacks:update") && (
            <Button onClick={() => void updateStack(name)}>Update</Button>
          )}
          {more.length > 0 && <Menu name="More actions" items={() => more} />}
        </>
      }
    >
      <JobList group="Stacks" target={{ targetType: "stack", target: name }} />
      <Tabs
        name="Stack"
        current={open.name}
        tabs={tabs.map(({ name, path }) => ({
          name,
          to: `/stacks/${id}${path ? `/${path}` : ""}${suffix}`,
        }))}
      >
        {open.path === "logs"
          ? <LogView stream={`api/stacks/${encodeURIComponent(name)}/logs/stream`} isMerged />
          : open.path === "source"
          ? <Source key={String(stack.hasSources)} stack={stack} onAdopted={reload} />
          : open.path === "versions"
          ? <Versions name={name} hasSources={stack.hasSources} />
          : (
            <>
              <Services stack={stack} />
              <StackHistory name={name} />
            </>
          )}
      </Tabs>
    </Page>
  );
}

type Service = StackDetail["services"][number];

function Services({ stack }: { stack: StackDetail }) {
  const { services, workingDir, configFiles } = stack;
  if (services.length === 0) {
    if (isDeploying(stack.name)) return <Empty>This stack is being deployed.</Empty>;
    const action = stack.kind === "compose" && hasRole("admin", "stacks:write")
      ? <Button kind="primary" onClick={() => void deployStack(stack.name)}>Deploy</Button>
      : hasRole("operator", "stack_sources:read") && (
        <LinkButton to={stackPath(stack, "source")}>Show the source</LinkButton>
      );
    return <Empty action={action}>This stack is not deployed. Its sources are stored.</Empty>;
  }
  return (
    <>
      <Table
        name="Services"
        columns={[
          {
            title: "Name",
            cell: ({ name }) => <Text>{name}</Text>,
            sort: ({ name }) => name,
            width: "w-m",
          },
          {
            title: "State",
            cell: ({ containers }) => <States containers={containers} />,
            sort: ({ containers }) => containers.map(containerState).sort().join(),
            width: "w-l",
          },
          {
            title: "Image",
            cell: ({ image }) => <Text>{imageName(image)}</Text>,
            sort: ({ image }) => image,
            wide: true,
          },
          { title: "Containers", cell: ({ containers }) => <Containers containers={containers} /> },
        ]}
        rows={services}
        keyOf={({ name }) => name}
        defaultSort="name"
      />
      {(workingDir !== null || configFiles.length > 0) && (
        <div class="below">
          <Facts>
            {workingDir !== null && (
              <Fact name="Folder">
                <code class="wrap">{plain(workingDir)}</code>
              </Fact>
            )}
            {configFiles.length > 0 && (
              <Fact name="Compose files">
                <code class="wrap">{plain(configFiles.join(", "))}</code>
              </Fact>
            )}
          </Facts>
        </div>
      )}
    </>
  );
}

function Containers({ containers }: Pick<Service, "containers">) {
  if (containers.length === 0) return <span class="muted">None on this host</span>;
  return (
    <span class="wrap">
      {containers.map((container, at) => (
        <span key={container.id}>
          {at > 0 && ", "}
          <ContainerIcon id={container.icon} />
          <a href={href(`/containers/${container.id.slice(0, 12)}`)}>{plain(container.name)}</a>
          {" "}
          <OpenLink container={container} />
        </span>
      ))}
    </span>
  );
}

/** The state of the containers; a line for each, with the number of them, if they differ. */
function States({ containers }: Pick<Service, "containers">) {
  const groups = Map.groupBy(containers, containerState);
  if (groups.size === 0) return <State state="not running" />;
  return (
    <>
      {[...groups].sort(([one], [other]) => one < other ? -1 : 1).map(([state, members]) => (
        <div key={state}>
          <State
            state={groups.size === 1 ? state : `${members.length} ${state}`}
            tone={toneOf(healthOf(members[0]!) ?? members[0]!.state)}
          />
        </div>
      ))}
    </>
  );
}

/** E.g. `running, healthy`, or `exited (1)` after a failure. */
function containerState(container: Service["containers"][number]): string {
  const { state, exitCode } = container;
  const health = healthOf(container);
  if (health) return `${state}, ${health}`;
  return state !== "running" && exitCode ? `${state} (${exitCode})` : state;
}

function NotFound() {
  return (
    <Page title="Stack not found">
      <Empty action={<LinkButton to="/stacks">Show all stacks</LinkButton>}>
        A stack exists as long as it has containers, services or stored sources.
      </Empty>
    </Page>
  );
}
