/** When a notification channel sends: quiet hours and digests. @module */

import { useSignal } from "@preact/signals";
import type { NewQuietHours, NotificationChannel } from "../../api/types.ts";
import { fieldsOf, SelectField, TextField } from "../../components/fields.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { browserZone, zonesWith } from "../../base/time_zones.ts";

/** Limit of the service. */
const DIGEST_MINUTES_MAX = 7 * 24 * 60;

const timeProblem = (text: string): string | undefined =>
  text === "" || /^([01][0-9]|2[0-3]):[0-5][0-9]$/.test(text)
    ? undefined
    : "Must be a time of day, e.g. 22:00";

const EXCEPTIONS = [
  { value: "critical", name: "Critical messages are sent" },
  { value: "warning", name: "Warnings and critical messages are sent" },
  { value: "", name: "Nothing is sent" },
];

/** Their values are read with {@linkcode timingOf}. */
export function TimingFields({ channel }: { channel: NotificationChannel | undefined }) {
  const quiet = channel?.quietHours;
  const hours = useSignal(quiet == null ? "no" : "yes");
  const zone = quiet?.timeZone ?? browserZone();
  const { number } = fieldsOf(channel);
  return (
    <>
      <div class="field-grid">
        {number("Digest (minutes)", "digestMinutes", {
          initial: 0,
          hint: "Messages of this time are sent as one. 0: each at once",
          min: 0,
          max: DIGEST_MINUTES_MAX,
        })}
        <SelectField
          label="Quiet hours"
          name="hasQuietHours"
          choice={hours}
          options={[{ value: "no", name: "None" }, { value: "yes", name: "Each day" }]}
          hint="What is held back follows in one summary"
        />
      </div>
      {hours.value === "yes" && (
        <div class="field-grid">
          <TextField
            label="From"
            name="quietHours.from"
            value={quiet?.from ?? "22:00"}
            check={timeProblem}
            placeholder="22:00"
            required
          />
          <TextField
            label="To"
            name="quietHours.to"
            value={quiet?.to ?? "07:00"}
            check={timeProblem}
            placeholder="07:00"
            required
          />
          <SelectField
            label="Time zone"
            name="quietHours.timeZone"
            value={zone}
            options={zonesWith(zone)}
          />
          <SelectField
            label="During quiet hours"
            name="quietHours.exceptSeverity"
            value={quiet ? quiet.exceptSeverity ?? "" : "critical"}
            options={EXCEPTIONS}
          />
        </div>
      )}
    </>
  );
}

/** Quiet hours and digests in a form's values. */
export const timingOf = (
  values: FormValues,
): { digestMinutes: number; quietHours: NewQuietHours | null } => ({
  digestMinutes: values.digestMinutes,
  quietHours: values.hasQuietHours === "no" ? null : {
    from: values["quietHours.from"],
    to: values["quietHours.to"],
    timeZone: values["quietHours.timeZone"],
    exceptSeverity: values["quietHours.exceptSeverity"] || null,
  },
});
