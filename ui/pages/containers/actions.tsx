/** Actions on a container besides starting, stopping and restarting it. @module */

import { api } from "../../api/client.ts";
import type { ContainerDetail, ContainerLimits } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { confirm, useDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import { Menu, type MenuItem } from "../../components/menu.tsx";
import { plain } from "../../base/text.ts";
import { ACTIONS, actionsFor, mayRun, runAction } from "../../state/container_actions.ts";
import { navigate } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { showStatus, withResult } from "../../state/toasts.ts";
import { UpdateDialog } from "../updates/plan_dialog.tsx";
import { rollBack } from "../updates/roll_back.tsx";
import { removeContainer } from "./removal.ts";

const ICONS = { start: "play", stop: "stop", restart: "restart" } as const;

const MIB = 1024 * 1024;

interface ActionsProps {
  container: ContainerDetail;
  onChange: () => void;
}

export function Actions({ container, onChange }: ActionsProps) {
  const dialog = useDialog();
  const more = moreActions(container, onChange, dialog);
  return (
    <>
      {actionsFor(container).map((action) => (
        <Button
          key={action}
          icon={ICONS[action]}
          onClick={() => void runAction(container, action).then(onChange)}
        >
          {ACTIONS[action].verb}
        </Button>
      ))}
      {more.length > 0 && <Menu name="More actions" items={() => more} />}
      {dialog.shown}
    </>
  );
}

function moreActions(
  container: ContainerDetail,
  onChange: () => void,
  dialog: ReturnType<typeof useDialog>,
): MenuItem[] {
  const { id, state, self } = container;
  if (self) return [];
  const name = plain(container.name);
  const path = { id };
  const run = (done: string, work: () => Promise<unknown>) =>
    void withResult(`${done} ${name}`, work).then(onChange);
  const items: MenuItem[] = [];
  const mayPause = hasRole("operator", "containers:pause");
  if (state === "running" && mayPause) {
    items.push({
      name: "Pause",
      onSelect: () => run("Paused", () => api("POST /api/containers/{id}/pause", { path })),
    });
  }
  if (state === "paused" && mayPause) {
    items.push({
      name: "Resume",
      onSelect: () => run("Resumed", () => api("POST /api/containers/{id}/unpause", { path })),
    });
  }
  if ((state === "running" || state === "restarting") && mayRun("stop")) {
    items.push({ name: "Kill", danger: true, onSelect: () => void kill(container, run) });
  }
  if (hasRole("operator", "containers:update")) {
    items.push({ name: "Update", onSelect: () => dialog.open(UpdateDialog, { container }) });
    if (container.previousImage) {
      const { hasData, ...previous } = container.previousImage;
      const onSelect = () => void rollBack({ ...container, hasData, previous });
      items.push({ name: "Roll back", danger: true, onSelect });
    }
  }
  if (hasRole("admin", "containers:write")) {
    items.push(
      { name: "Rename", onSelect: () => dialog.open(RenameDialog, { container }) },
      { name: "Limits", onSelect: () => dialog.open(LimitsDialog, { container, onChange }) },
    );
  }
  if (hasRole("admin", "containers:delete")) {
    items.push({ name: "Remove", danger: true, onSelect: () => void remove(container) });
  }
  return items;
}

async function kill(
  { id, name }: ContainerDetail,
  run: (done: string, work: () => Promise<unknown>) => void,
): Promise<void> {
  const consequence = `All processes of ${plain(name)} end at once, without writing what they ` +
    "still hold in memory.";
  if (!await confirm({ verb: "Kill", name, consequence })) return;
  run("Killed", () => api("POST /api/containers/{id}/kill", { path: { id }, body: {} }));
}

async function remove(container: ContainerDetail): Promise<void> {
  const volumes = container.mounts.filter(({ type }) => type === "volume").length;
  if (await removeContainer(container, volumes)) navigate("/containers");
}

/** Replaces the page with that of a container. */
export const openContainer = (id: string) =>
  navigate(`/containers/${id.slice(0, 12)}`, { replace: true });

interface DialogProps extends ActionsProps {
  onClose: () => void;
}

function RenameDialog({ container: { id, name }, onClose }: Omit<DialogProps, "onChange">) {
  return (
    <FormDialog
      title={`Rename ${plain(name)}`}
      submit="Save"
      onClose={onClose}
      onSubmit={async (values) => {
        await api("POST /api/containers/{id}/rename", {
          path: { id },
          body: { name: values.name },
        });
        showStatus(`Renamed ${plain(name)}`);
        // The address may have the former name.
        openContainer(id);
      }}
    >
      <TextField
        label="Name"
        name="name"
        value={name}
        required
        pattern="[a-zA-Z0-9][a-zA-Z0-9_.\-]+"
        maxLength={128}
        autocomplete="off"
        hint="Letters, digits, dots, hyphens and underscores"
      />
    </FormDialog>
  );
}

const POLICIES = [
  { value: "no", name: "Never" },
  { value: "on-failure", name: "After a failure" },
  { value: "unless-stopped", name: "Unless stopped" },
  { value: "always", name: "Always" },
];

function LimitsDialog({ container, onChange, onClose }: DialogProps) {
  const { id, name, limits, restartPolicy } = container;
  const memory = limits.memoryBytes === null ? undefined : limits.memoryBytes / MIB;
  const policy = restartPolicy.name || "no";
  return (
    <FormDialog
      title={`Limits of ${plain(name)}`}
      submit="Save"
      onClose={onClose}
      onSubmit={async (values) => {
        const body: ContainerLimits = {
          ...(values.cpus !== undefined && values.cpus !== limits.cpus && { cpus: values.cpus }),
          ...(values.memoryBytes !== undefined && values.memoryBytes !== memory &&
            { memoryBytes: Math.round(values.memoryBytes * MIB) }),
          ...((values.pidsLimit ?? null) !== limits.pids &&
            { pidsLimit: values.pidsLimit ?? -1 }),
          ...(values.restartPolicy !== policy && { restartPolicy: { name: values.restartPolicy } }),
        };
        if (Object.keys(body).length === 0) return;
        await api("PUT /api/containers/{id}/limits", { path: { id }, body });
        showStatus(`Saved the limits of ${plain(name)}`);
        onChange();
      }}
    >
      <TextField
        label="CPU (cores)"
        name="cpus"
        type="number"
        min={0.01}
        step="any"
        value={limits.cpus ?? undefined}
        required={limits.cpus !== null}
        hint="Once set, it can be changed but not removed"
      />
      <TextField
        label="Memory (MiB)"
        name="memoryBytes"
        type="number"
        min={6}
        step="any"
        value={memory}
        required={memory !== undefined}
        hint="Once set, it can be changed but not removed"
      />
      <TextField
        label="Processes"
        name="pidsLimit"
        type="number"
        min={1}
        step={1}
        value={limits.pids ?? undefined}
        hint="Leave empty for no limit"
      />
      <SelectField label="Restart" name="restartPolicy" value={policy} options={POLICIES} />
    </FormDialog>
  );
}
