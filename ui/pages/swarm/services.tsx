/** The services of the swarm. @module */

import { api } from "../../api/client.ts";
import type { SwarmService, SwarmTask } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import {
  type Column,
  NAME_COLUMN,
  stateColumn,
  textColumn,
  timeColumn,
} from "../../components/columns.tsx";
import { confirm, useDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { ListingDialog, ListingSection } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { reportJob } from "../../state/jobs.ts";
import { hasRole } from "../../state/session.ts";
import { LogsDialog } from "./logs.tsx";

/** `running`, `degraded`, or that of the update in progress. */
function stateOf({ desired, running, update }: SwarmService): string {
  if (update?.state === "updating") return "updating";
  if (update?.state === "rollback_started") return "rolling back";
  if (update?.state === "paused") return "degraded";
  return running >= desired ? "running" : "degraded";
}

const COLUMNS: readonly Column<SwarmService>[] = [
  NAME_COLUMN,
  stateColumn("State", stateOf, { width: "w-s" }),
  {
    title: "Tasks",
    cell: ({ desired, running }) => `${running} / ${desired}`,
    sort: ({ running }) => running,
    numeric: true,
    width: "w-xs",
  },
  textColumn("Image", ({ image }) => image, { wide: true }),
  textColumn(
    "Ports",
    ({ ports }) =>
      ports.flatMap(({ published, target }) => published === null ? [] : `${published}:${target}`)
        .join(", ") || null,
    { wide: true, width: "w-s" },
  ),
  timeColumn("Updated", ({ updatedAt }) => updatedAt, { wide: true, width: "w-s" }),
];

export function Services({ version }: { version: string }) {
  const reading = useRead("GET /api/swarm/services", {});
  useReloadAfter(version, reading.reload);
  const dialog = useDialog();
  return (
    <>
      <ListingSection
        title="Services"
        rows={reading.data.value?.services}
        reading={reading}
        columns={COLUMNS}
        actions={(service) => [
          { name: "Show tasks", onSelect: () => dialog.open(ServiceTasks, { service }) },
          ...hasRole("viewer", "containers:logs")
            ? [{ name: "Show logs", onSelect: () => dialog.open(LogsDialog, { service }) }]
            : [],
          ...changes(service, dialog),
        ]}
        defaultSort="name"
        empty="The swarm has no services yet. Deploy a stack of the kind Swarm, or use docker service create."
      />
      {dialog.shown}
    </>
  );
}

function changes(
  service: SwarmService,
  dialog: ReturnType<typeof useDialog>,
): readonly MenuItem[] {
  const { id, name, mode, canRollBack } = service;
  const path = { path: { id } };
  const restart = async () => {
    const consequence = "Its tasks are replaced one after another.";
    if (!await confirm({ verb: "Restart", name, consequence, isSafe: true })) return;
    await reportJob(
      () => api("POST /api/swarm/services/{id}/restart", path),
      `Restarted ${plain(name)}`,
    );
  };
  const rollBack = async () => {
    const consequence = "It returns to the version before the last update.";
    if (!await confirm({ verb: "Roll back", name, consequence, isSafe: true })) return;
    await reportJob(
      () => api("POST /api/swarm/services/{id}/rollback", path),
      `Rolled ${plain(name)} back`,
    );
  };
  if (!hasRole("operator", "swarm:write")) return [];
  return [
    ...mode === "replicated"
      ? [{ name: "Scale", onSelect: () => dialog.open(Scale, { service }) }]
      : [],
    { name: "Restart", onSelect: () => void restart() },
    ...hasRole("admin", "swarm:write")
      ? [{ name: "Update", onSelect: () => dialog.open(Update, { service }) }]
      : [],
    { name: "Roll back", onSelect: canRollBack ? () => void rollBack() : undefined },
  ];
}

interface DialogProps {
  service: SwarmService;
  onClose: () => void;
}

function Scale({ service: { id, name, desired }, onClose }: DialogProps) {
  const scale = ({ replicas }: FormValues) => {
    onClose();
    const body = { replicas: Number(replicas) };
    return reportJob(
      () => api("POST /api/swarm/services/{id}/scale", { path: { id }, body }),
      `Scaled ${plain(name)} to ${body.replicas}`,
    );
  };
  return (
    <FormDialog title={`Scale ${plain(name)}`} submit="Scale" onSubmit={scale} onClose={onClose}>
      <TextField
        label="Replicas"
        name="replicas"
        type="number"
        min={0}
        max={10_000}
        required
        value={String(desired)}
      />
    </FormDialog>
  );
}

function Update({ service: { id, name, image }, onClose }: DialogProps) {
  const update = (values: FormValues) => {
    onClose();
    const body = { image: String(values.image) };
    return reportJob(
      () => api("POST /api/swarm/services/{id}/update", { path: { id }, body }),
      `Updated ${plain(name)}`,
    );
  };
  return (
    <FormDialog title={`Update ${plain(name)}`} submit="Update" onSubmit={update} onClose={onClose}>
      <TextField
        label="Image"
        name="image"
        required
        maxLength={512}
        value={image}
        hint="If new tasks fail, Swarm returns to the version before"
      />
    </FormDialog>
  );
}

const TASK_COLUMNS: readonly Column<SwarmTask>[] = [
  textColumn("Slot", ({ slot }) => slot === null ? null : String(slot), { width: "w-xs" }),
  stateColumn("State", ({ state }) => state, { width: "w-s" }),
  textColumn("Node", ({ node }) => node?.hostname ?? null, { width: "w-s" }),
  textColumn("Error", ({ error }) => error, { wide: true }),
  timeColumn("Changed", ({ changedAt }) => changedAt, { wide: true, width: "w-s" }),
];

function ServiceTasks({ service, onClose }: DialogProps) {
  const reading = useRead("GET /api/swarm/services/{id}/tasks", { path: { id: service.id } });
  return (
    <ListingDialog
      title={`Tasks of ${plain(service.name)}`}
      name="Tasks"
      rows={reading.data.value?.tasks}
      reading={reading}
      columns={TASK_COLUMNS}
      nameOf={({ id }) => id}
      empty="This service has no tasks."
      onClose={onClose}
    />
  );
}
