/** Rules that say which snapshots stay, in forms. @module */

import type { BackupKeepRules } from "../api/types.ts";
import { TextField } from "../components/fields.tsx";
import type { FormValues } from "../components/form_values.ts";

const PERIODS = [
  ["last", "Newest"],
  ["hourly", "Hourly"],
  ["daily", "Daily"],
  ["weekly", "Weekly"],
  ["monthly", "Monthly"],
] as const;

export function KeepFields({ keep }: { keep?: BackupKeepRules | undefined }) {
  return (
    <fieldset class="field-set">
      <legend>Keep</legend>
      <div class="field-row">
        {PERIODS.map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            name={`keep.${name}`}
            type="number"
            min={1}
            max={10_000}
            value={keep?.[name]}
          />
        ))}
        <TextField
          label="Within days"
          name="keep.within.days"
          type="number"
          min={1}
          max={10_000}
          value={keep?.within?.days}
        />
      </div>
      <p class="hint">
        Numbers of snapshots, and days for which all are kept. Without any number, all stay.
      </p>
    </fieldset>
  );
}

/**
 * Rules in a form's values; `undefined` without any.
 *
 * @param before Their years, months and hours stay, because the form does not show them.
 */
export function readKeep(
  values: FormValues,
  before?: BackupKeepRules,
): BackupKeepRules | undefined {
  const counts = PERIODS.map(([name]) => [name, values[`keep.${name}`]]);
  const within = { ...before?.within, days: values["keep.within.days"] };
  const keep = Object.fromEntries([
    ...Object.entries({ yearly: before?.yearly, within: withoutMissing(within) }),
    ...counts,
  ]);
  return withoutMissing(keep);
}

/** `undefined` if nothing is left. */
function withoutMissing<Of extends object>(fields: Of): Of | undefined {
  const left = Object.entries(fields).filter(([, value]) => value !== undefined);
  return left.length === 0 ? undefined : Object.fromEntries(left) as Of;
}
