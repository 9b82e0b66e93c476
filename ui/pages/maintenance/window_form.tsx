/**
 * The dialog of a maintenance window.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { MaintenanceWindow } from "../../api/types.ts";
import { EditDialog, type FormValues, SelectField, TextField } from "../../components/form.tsx";
import { containersTarget, TargetFields } from "../../components/target_fields.tsx";
import { CRON_HINT, cronProblem } from "../cron.ts";
import { browserZone, zonesWith } from "../time_zones.ts";
import { windowName } from "./window_name.ts";

/** Limits of the service. */
const MINUTES = { min: 5, max: 7 * 24 * 60, fallback: 60 };

const TARGETS = [
  { value: "host", name: "The host: maintenance mode is on" },
  { value: "containers", name: "Containers" },
];

export function WindowForm({ window, onClose, onSaved }: {
  /** Without one, a new window is created. */
  window: MaintenanceWindow | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const kind = useSignal<string>(window?.scope.target.kind ?? "host");
  const save = async (values: FormValues) => {
    const body = {
      cron: values.cron as string,
      timeZone: values.timeZone as string,
      durationMinutes: values.durationMinutes as number,
      comment: values.comment as string,
      scope: {
        target: kind.value === "host" ? { kind: "host" as const } : containersTarget(values),
      },
    };
    const saved = window
      ? await api("PUT /api/maintenance/windows/{id}", { path: { id: window.id }, body })
      : await api("POST /api/maintenance/windows", { body });
    onSaved();
    return windowName(saved);
  };
  const zone = window?.timeZone ?? browserZone();
  return (
    <EditDialog
      noun="window"
      name={window && windowName(window)}
      save={save}
      onClose={onClose}
      wide
    >
      <TextField
        label="Opens (cron)"
        name="cron"
        value={window?.cron}
        placeholder="0 3 * * sat"
        hint={CRON_HINT}
        required
        maxLength={100}
        check={cronProblem}
      />
      <div class="field-row">
        <SelectField label="Time zone" name="timeZone" value={zone} options={zonesWith(zone)} />
        <TextField
          label="Minutes"
          name="durationMinutes"
          type="number"
          value={window?.durationMinutes ?? MINUTES.fallback}
          required
          min={MINUTES.min}
          max={MINUTES.max}
          step={1}
        />
      </div>
      <SelectField
        label="Applies to"
        name="target"
        value={kind.value}
        options={TARGETS}
        onChange={(value) => kind.value = value}
      />
      {kind.value === "containers" && <TargetFields target={window?.scope.target} />}
      <TextField label="Comment" name="comment" value={window?.comment} maxLength={500} />
    </EditDialog>
  );
}
