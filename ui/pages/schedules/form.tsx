/** The dialog of a schedule. @module */

import type { Container, NewSchedule, Schedule, ScheduleKind } from "../../api/types.ts";
import { fieldsOf, SelectField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { containers } from "../../state/live.ts";
import { WithKinds } from "../../parts/kinds.tsx";
import { scheduleKinds } from "../../state/kinds.ts";
import { CRON_HINT, cronProblem } from "../../base/cron.ts";
import { TIME_ZONES, zonesWith } from "../../base/time_zones.ts";

export function ScheduleForm({ item: schedule, ...dialog }: EditProps<Schedule>) {
  const known = (containers.value ?? []).filter(({ self }) => !self);
  const { text, select } = fieldsOf(schedule);
  const save = ({ name, container, action, cronExpression, timezone }: FormValues) => {
    const body: NewSchedule = {
      name,
      ...targetOf(container, known, schedule),
      action,
      cronExpression,
      ...(timezone !== "" && { timezone }),
    };
    return saveItem("/api/schedules", schedule, body);
  };
  const zones = schedule
    ? zonesWith(schedule.timezone)
    : [{ value: "", name: "Time zone of the host" }, ...TIME_ZONES];
  return (
    <EditDialog noun="schedule" item={schedule} save={save} {...dialog}>
      {text("Name", "name", { required: true, maxLength: 100 })}
      <div class="field-row">
        <SelectField
          label="Container"
          name="container"
          value={schedule?.containerName}
          options={containerOptions(known, schedule)}
          required
        />
        <WithKinds name="Actions" kinds={scheduleKinds}>
          {(kinds) => select("Action", "action", kinds.map(toOption))}
        </WithKinds>
      </div>
      {text("Cron expression", "cronExpression", {
        placeholder: "0 3 * * *",
        hint: CRON_HINT,
        required: true,
        check: cronProblem,
      })}
      {select("Time zone", "timezone", zones, { initial: "" })}
    </EditDialog>
  );
}

const toOption = ({ id, title, description }: ScheduleKind) => ({
  value: id,
  name: title,
  title: `${id}: ${description}`,
});

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
