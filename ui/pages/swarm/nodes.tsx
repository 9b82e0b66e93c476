/** The nodes of the swarm. @module */

import { api } from "../../api/client.ts";
import type { SwarmNode, SwarmNodeChange, SwarmTask } from "../../api/types.ts";
import { capital, count, plain } from "../../base/text.ts";
import {
  type Column,
  numberColumn,
  stateColumn,
  textColumn,
  timeColumn,
} from "../../components/columns.tsx";
import { confirm, useDialog } from "../../components/dialog.tsx";
import { TextArea } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import { type FormValues, pairsOf } from "../../components/form_values.ts";
import { ListingDialog, ListingSection } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { Badge, Text } from "../../components/states.tsx";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";

const COLUMNS: readonly Column<SwarmNode>[] = [
  {
    title: "Name",
    cell: ({ hostname, isLeader, isSelf }) => (
      <span class="name-cell wraps">
        <Text>{hostname}</Text>
        {isLeader && <Badge>Leader</Badge>}
        {isSelf && <Badge>This node</Badge>}
      </span>
    ),
    sort: ({ hostname }) => hostname,
  },
  stateColumn("State", ({ state }) => state === "ready" ? "up" : state, { width: "w-s" }),
  textColumn("Role", ({ role }) => capital(role), { width: "w-s", wide: true }),
  textColumn("Availability", ({ availability }) => capital(availability), {
    width: "w-s",
    wide: true,
  }),
  textColumn("Address", ({ address }) => address, { width: "w-s", wide: true }),
  textColumn("Engine", ({ engineVersion }) => engineVersion, { width: "w-s", wide: true }),
  numberColumn("Tasks", ({ tasks }) => tasks, String, { width: "w-xs" }),
];

export function Nodes({ version }: { version: string }) {
  const reading = useRead("GET /api/swarm/nodes", {});
  useReloadAfter(version, reading.reload);
  const dialog = useDialog();
  const nodes = reading.data.value?.nodes ?? [];
  const change = (node: SwarmNode, body: SwarmNodeChange, done: string) =>
    void withResult(
      `${done} ${plain(node.hostname)}`,
      () => api("PUT /api/swarm/nodes/{id}", { path: { id: node.id }, body }),
    ).then(reading.reload);
  return (
    <>
      <ListingSection
        title="Nodes"
        rows={reading.data.value && nodes}
        reading={reading}
        columns={COLUMNS}
        nameOf={({ hostname }) => hostname}
        actions={(node) => [
          { name: "Show tasks", onSelect: () => dialog.open(NodeTasks, { node }) },
          ...hasRole("admin", "swarm:write")
            ? [
              ...changes(node, nodes, change),
              {
                name: "Edit labels",
                onSelect: () => dialog.open(Labels, { node, onSaved: reading.reload }),
              },
            ]
            : [],
        ]}
        defaultSort="name"
        empty="The swarm has no nodes."
      />
      {dialog.shown}
    </>
  );
}

/** Changes of the availability and the role that are possible now. */
function changes(
  node: SwarmNode,
  nodes: readonly SwarmNode[],
  change: (node: SwarmNode, body: SwarmNodeChange, done: string) => void,
): readonly MenuItem[] {
  const { id, hostname, availability, role, tasks } = node;
  const isLast = takesTasks(node) && !nodes.some((each) => each.id !== id && takesTasks(each));
  const drain = async () => {
    const consequence = isLast
      ? await lossOf(node)
      : `Its ${count(tasks, "task")} move to other nodes.`;
    const isWanted = await confirm({
      ...{ verb: "Drain", name: hostname, consequence },
      isSafe: !isLast,
    });
    if (isWanted) change(node, { availability: "drain" }, "Drained");
  };
  const pause = async () => {
    const consequence = `${plain(hostname)} is the last node that takes tasks: no new task ` +
      "starts until another node is active.";
    if (isLast && !await confirm({ verb: "Pause", name: hostname, consequence })) return;
    change(node, { availability: "pause" }, "Paused");
  };
  return [
    ...availability === "active"
      ? [
        { name: "Drain", onSelect: () => void drain() },
        { name: "Pause", onSelect: () => void pause() },
      ]
      : [{
        name: "Activate",
        onSelect: () => change(node, { availability: "active" }, "Activated"),
      }],
    role === "worker"
      ? { name: "Promote", onSelect: () => change(node, { role: "manager" }, "Promoted") }
      : { name: "Demote", onSelect: () => change(node, { role: "worker" }, "Demoted") },
  ];
}

const takesTasks = ({ availability, state }: SwarmNode): boolean =>
  availability === "active" && state === "ready";

/** Loss when the last node that takes tasks is drained: the services by name, if they can be read. */
async function lossOf({ id, hostname, tasks: number }: SwarmNode): Promise<string> {
  const { tasks } = await api("GET /api/swarm/nodes/{id}/tasks", { path: { id } })
    .catch(() => ({ tasks: [] as SwarmTask[] }));
  const running = tasks.filter(({ state }) => state === "running");
  const names = [...new Set(running.map(({ service }) => plain(service.name)))];
  return `${plain(hostname)} is the last node that takes tasks: ${
    names.join(", ") || `its ${count(number, "task")}`
  } stop until another node is active.`;
}

function Labels({ node, onSaved, onClose }: {
  node: SwarmNode;
  onSaved: () => void;
  onClose: () => void;
}) {
  const save = async ({ labels }: FormValues) => {
    const body = { labels: pairsOf(labels) };
    await api("PUT /api/swarm/nodes/{id}", { path: { id: node.id }, body });
    onSaved();
    onClose();
  };
  const text = Object.entries(node.labels).map(([name, value]) => `${name}=${value}`).join("\n");
  return (
    <FormDialog
      title={`Labels of ${plain(node.hostname)}`}
      submit="Save"
      onSubmit={save}
      onClose={onClose}
    >
      <TextArea label="Labels" name="labels" value={text} hint="One per line: name=value" />
    </FormDialog>
  );
}

const TASK_COLUMNS: readonly Column<SwarmTask>[] = [
  textColumn(
    "Service",
    ({ service, slot }) => slot === null ? service.name : `${service.name}.${slot}`,
  ),
  stateColumn("State", ({ state }) => state, { width: "w-s" }),
  textColumn("Now on", ({ replacement }) => replacement?.node?.hostname ?? null, { width: "w-s" }),
  textColumn("Error", ({ error }) => error, { wide: true }),
  timeColumn("Changed", ({ changedAt }) => changedAt, { wide: true, width: "w-s" }),
];

function NodeTasks({ node, onClose }: { node: SwarmNode; onClose: () => void }) {
  const reading = useRead("GET /api/swarm/nodes/{id}/tasks", { path: { id: node.id } });
  return (
    <ListingDialog
      title={`Tasks of ${plain(node.hostname)}`}
      name="Tasks"
      rows={reading.data.value?.tasks}
      reading={reading}
      columns={TASK_COLUMNS}
      nameOf={({ service }) => service.name}
      empty="No task has run on this node."
      onClose={onClose}
    />
  );
}
