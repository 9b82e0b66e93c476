/**
 * The dialog of a schedule.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { Container, NewSchedule, Schedule } from "../../api/types.ts";
import { EditDialog, type FormValues, SelectField, TextField } from "../../components/form.tsx";
import { capital } from "../../components/text.ts";
import { containers } from "../../state/live.ts";
import { CRON_HINT, cronProblem } from "../cron.ts";
import { TIME_ZONES, zonesWith } from "../time_zones.ts";

const ACTION_OPTIONS = ["restart", "start", "stop", "update"].map((value) => ({
  value,
  name: capital(value),
}));

export function ScheduleForm({ schedule, onClose, onSaved }: {
  /** Without one, a new schedule is created. */
  schedule: Schedule | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const known = (containers.value ?? []).filter(({ self }) => !self);
  const save = async ({ name, container, action, cronExpression, timezone }: FormValues) => {
    const body: NewSchedule = {
      name,
      ...targetOf(container, known, schedule),
      action,
      cronExpression,
      ...(timezone !== "" && { timezone }),
    };
    if (schedule) await api("PUT /api/schedules/{id}", { path: { id: schedule.id }, body });
    else await api("POST /api/schedules", { body });
    onSaved();
    return name;
  };
  return (
    <EditDialog noun="schedule" name={schedule?.name} save={save} onClose={onClose}>
      <TextField label="Name" name="name" value={schedule?.name} required maxLength={100} />
      <div class="field-row">
        <SelectField
          label="Container"
          name="container"
          value={schedule?.containerName}
          options={containerOptions(known, schedule)}
          required
        />
        <SelectField
          label="Action"
          name="action"
          value={schedule?.action}
          options={ACTION_OPTIONS}
        />
      </div>
      <TextField
        label="Cron expression"
        name="cronExpression"
        value={schedule?.cronExpression}
        placeholder="0 3 * * *"
        hint={CRON_HINT}
        required
        check={cronProblem}
      />
      <SelectField
        label="Time zone"
        name="timezone"
        value={schedule?.timezone ?? ""}
        options={schedule ? zonesWith(schedule.timezone) : [
          { value: "", name: "Time zone of the host" },
          ...TIME_ZONES,
        ]}
      />
    </EditDialog>
  );
}

/** By name, because a container that is created again has another id. */
function containerOptions(known: readonly Container[], schedule: Schedule | undefined) {
  const names = known.map(({ name }) => name).sort();
  const options = names.map((name) => ({ value: name, name }));
  if (!schedule) return [{ value: "", name: "Choose a container" }, ...options];
  const { containerName: name } = schedule;
  return names.includes(name) ? options : [{ value: name, name: `${name} (missing)` }, ...options];
}

function targetOf(name: string, known: readonly Container[], schedule: Schedule | undefined) {
  const container = known.find((each) => each.name === name);
  if (container) return { containerId: container.id, containerName: name };
  const containerId = schedule?.containerName === name ? schedule.containerId : name;
  return { containerId, containerName: name, allowMissing: true };
}
