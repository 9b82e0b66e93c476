/** The dialog of a schedule. @module */

import { Fragment } from "preact";
import { useSignal } from "@preact/signals";
import type { NewSchedule, Schedule, ScheduleKind } from "../../api/types.ts";
import { fieldsOf, SelectField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { WithKinds } from "../../parts/kinds.tsx";
import { scheduleKinds } from "../../state/kinds.ts";
import { CRON_HINT, cronProblem } from "../../base/cron.ts";
import { TIME_ZONES, zonesWith } from "../../base/time_zones.ts";
import { FIELDS, type Settings } from "./kind_fields.tsx";

/** @param props.preset Settings with which a new schedule begins. */
export function ScheduleForm(
  { item: schedule, preset = {}, ...dialog }: EditProps<Schedule> & { preset?: Settings },
) {
  const begin: Settings = schedule ?? preset;
  const kind = useSignal(begin.kind ?? "container");
  const { text, select } = fieldsOf<Settings>(begin);
  const save = (values: FormValues) => saveItem("/api/schedules", schedule, bodyOf(values, begin));
  const zones = schedule
    ? zonesWith(schedule.timezone)
    : [{ value: "", name: "Time zone of the host" }, ...TIME_ZONES];
  return (
    <EditDialog noun="schedule" item={schedule} save={save} wide {...dialog}>
      {text("Name", "name", { required: true, maxLength: 100 })}
      <WithKinds name="Kinds" kinds={scheduleKinds}>
        {(kinds) => {
          const chosen = kinds.find(({ id }) => id === kind.value) ?? kinds[0]!;
          return (
            <>
              <SelectField
                label="Kind"
                name="kind"
                choice={kind}
                options={kinds.map(({ id, title }) => ({ value: id, name: title }))}
                hint={chosen.description}
              />
              <ActionField kind={chosen} action={begin.action} />
              {chosen.fields.map(({ name, isRequired }) => (
                <Fragment key={name}>{FIELDS[name]?.show(begin, isRequired)}</Fragment>
              ))}
            </>
          );
        }}
      </WithKinds>
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

/** Most kinds do one thing only. */
function ActionField({ kind: { id, actions }, action }: {
  kind: ScheduleKind;
  action: string | undefined;
}) {
  if (actions.length === 1) return null;
  return (
    <SelectField
      key={id}
      label="Action"
      name="action"
      value={action}
      options={actions.map(({ id, title, description }) => ({
        value: id,
        name: title,
        title: `${id}: ${description}`,
      }))}
    />
  );
}

/** A change removes what its form leaves empty. */
function bodyOf(values: FormValues, begin: Settings): NewSchedule {
  const { name, kind: id, action, cronExpression, timezone } = values;
  const { fields } = scheduleKinds.list.value!.find((each) => each.id === id)!;
  const read = fields.flatMap(({ name }) => FIELDS[name] ?? []);
  const settings = Object.assign({}, ...read.map((field) => field.read(values, begin)));
  const isChange = begin.id !== undefined;
  return {
    name,
    kind: id,
    ...(action !== undefined && { action }),
    ...(isChange
      ? Object.fromEntries(
        Object.entries(settings).map(([field, value]) => [field, value ?? null]),
      )
      : settings),
    cronExpression,
    ...(timezone !== "" && { timezone }),
  };
}
