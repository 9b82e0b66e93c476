/** The dialog of a maintenance window. @module */

import { useSignal } from "@preact/signals";
import type { MaintenanceWindow } from "../../api/types.ts";
import { fieldsOf, SelectField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { containersTarget, TargetFields } from "../../parts/target_fields.tsx";
import { CRON_HINT, cronProblem } from "../../base/cron.ts";
import { browserZone, zonesWith } from "../../base/time_zones.ts";
import { windowName } from "./window_name.ts";

/** Limits of the service. */
const MINUTES = { min: 5, max: 7 * 24 * 60, fallback: 60 };

const TARGETS = [
  { value: "host", name: "The host: maintenance mode is on" },
  { value: "containers", name: "Containers" },
];

export function WindowForm({ item: window, ...dialog }: EditProps<MaintenanceWindow>) {
  const kind = useSignal<string>(window?.scope.target.kind ?? "host");
  const { text, number, select } = fieldsOf(window);
  const save = ({ cron, timeZone, durationMinutes, comment, ...values }: FormValues) => {
    const target = kind.value === "host" ? { kind: "host" as const } : containersTarget(values);
    const body = { cron, timeZone, durationMinutes, comment, scope: { target } };
    return saveItem("/api/maintenance/windows", window, body);
  };
  const zone = window?.timeZone ?? browserZone();
  return (
    <EditDialog noun="window" item={window} nameOf={windowName} save={save} {...dialog} wide>
      {text("Opens (cron)", "cron", {
        placeholder: "0 3 * * sat",
        hint: CRON_HINT,
        required: true,
        maxLength: 100,
        check: cronProblem,
      })}
      <div class="field-row">
        {select("Time zone", "timeZone", zonesWith(zone), { initial: zone })}
        {number("Minutes", "durationMinutes", {
          initial: MINUTES.fallback,
          min: MINUTES.min,
          max: MINUTES.max,
        })}
      </div>
      <SelectField label="Applies to" name="target" choice={kind} options={TARGETS} />
      {kind.value === "containers" && <TargetFields target={window?.scope.target} />}
      {text("Comment", "comment", { maxLength: 500 })}
    </EditDialog>
  );
}
