/** The tab "Services" of a stack: each service with its state, figures and containers. @module */

import type { StackDetail } from "../../api/types.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { type Column, numberColumn } from "../../components/columns.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { Empty, State, Text, toneOf, withBreaks } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { bytes, imageName, percent, plain } from "../../base/text.ts";
import { ContainerIcon } from "../../parts/container_icon.tsx";
import { OpenLink } from "../../parts/links.tsx";
import { stackPath } from "../../paths.ts";
import { containers as live, healthOf } from "../../state/live.ts";
import { href } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { deployStack, isDeploying } from "./deploy.tsx";
import { deleteStack } from "./more_actions.tsx";

type Service = StackDetail["services"][number];

/** The breaks of names; at a dash they break by themselves. */
const LOW_LINE = /(?<=_)/;

/** The column that is left out unless a service depends on another one. */
const DEPENDS_ON = "Depends on";

const COLUMNS: readonly Column<Service>[] = [
  {
    title: "Name",
    cell: ({ name }) => <span class="cut breaks">{withBreaks(name, LOW_LINE)}</span>,
    sort: ({ name }) => name,
  },
  {
    title: "State",
    cell: ({ containers }) => <States containers={containers} />,
    sort: ({ containers }) => containers.map(containerState).sort().join(),
    width: "w-l",
  },
  numberColumn("CPU", sumOf("cpuPercent"), percent, { wide: true, width: "w-xs" }),
  numberColumn("Memory", sumOf("memory"), bytes, { wide: true, width: "w-xs" }),
  {
    title: "Image",
    cell: ({ image }) => <span class="cut breaks">{withBreaks(imageName(image))}</span>,
    sort: ({ image }) => image,
    wide: true,
  },
  {
    title: DEPENDS_ON,
    cell: ({ dependsOn }) => <Text>{dependsOn.join(", ") || null}</Text>,
    wide: true,
    width: "w-m",
  },
  { title: "Containers", cell: ({ containers }) => <Containers containers={containers} /> },
];

/** A figure of all containers of a service, as they are now; `null` if none has it. */
function sumOf(figure: "cpuPercent" | "memory") {
  return ({ containers }: Service): number | null => {
    const ids = new Set(containers.map(({ id }) => id));
    const values = (live.value ?? []).flatMap((each) => ids.has(each.id) ? each[figure] ?? [] : []);
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
  };
}

export function Services({ stack }: { stack: StackDetail }) {
  const { services, workingDir, configFiles } = stack;
  if (services.length === 0) {
    if (isDeploying(stack.name)) return <Empty>This stack is being deployed.</Empty>;
    const mayChange = hasRole("admin", "stacks:write");
    const action = stack.kind === "compose" && mayChange
      ? (
        <>
          <Button kind="primary" onClick={() => void deployStack(stack.name)}>Deploy</Button>
          <Button kind="danger" onClick={() => void deleteStack(stack)}>Delete</Button>
        </>
      )
      : hasRole("operator", "stack_sources:read") && (
        <LinkButton to={stackPath(stack, "source")}>Show the source</LinkButton>
      );
    return (
      <Empty action={action}>
        This stack has no containers: it was not deployed yet, or its first deploy failed. Its
        sources are stored
        {mayChange && " until you delete it"}.
      </Empty>
    );
  }
  return (
    <>
      <Table
        name="Services"
        columns={services.some(({ dependsOn }) => dependsOn.length > 0)
          ? COLUMNS
          : COLUMNS.filter(({ title }) => title !== DEPENDS_ON)}
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
          <a
            href={href(`/containers/${container.id.slice(0, 12)}`)}
            aria-label={plain(container.name)}
          >
            {withBreaks(container.name, LOW_LINE)}
          </a>{" "}
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
