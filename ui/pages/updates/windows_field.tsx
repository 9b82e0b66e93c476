/** The windows of automatic updates in a form: a row for each. @module */

import { useSignal } from "@preact/signals";
import type { UpdateWindow } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/fields.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { cronProblem } from "../../base/cron.ts";
import { browserZone, zonesWith } from "../../base/time_zones.ts";

/** As in the service. */
const WINDOWS_MAX = 20;
const MINUTES = { min: 5, max: 7 * 24 * 60 };

const nameOf = (at: number, field: keyof UpdateWindow) => `windows.${at}.${field}`;

/** Its values are read with {@linkcode windowsOf}. */
export function WindowsField({ windows }: { windows: readonly UpdateWindow[] }) {
  const rows = useSignal(windows.map((window, key) => ({ key, window })));
  const nextKey = useSignal(windows.length);
  const add = () => {
    const window = { cron: "", timeZone: browserZone(), durationMinutes: 120 };
    rows.value = [...rows.value, { key: nextKey.value++, window }];
  };
  const remove = (key: number) => rows.value = rows.value.filter((row) => row.key !== key);
  return (
    <fieldset class="field field-set">
      <legend>Windows of automatic updates</legend>
      {rows.value.map(({ key, window }, at) => (
        <div key={key} class="field-row" role="group" aria-label={`Window ${at + 1}`}>
          <TextField
            label="Opens (cron)"
            name={nameOf(at, "cron")}
            value={window.cron}
            placeholder="0 3 * * sat"
            required
            maxLength={100}
            check={cronProblem}
          />
          <SelectField
            label="Time zone"
            name={nameOf(at, "timeZone")}
            value={window.timeZone}
            options={zonesWith(window.timeZone)}
          />
          <TextField
            label="Minutes"
            name={nameOf(at, "durationMinutes")}
            type="number"
            min={MINUTES.min}
            max={MINUTES.max}
            value={window.durationMinutes}
            required
          />
          <Button
            kind="quiet"
            icon="cross"
            onClick={() =>
              remove(key)}
          >
            {`Remove window ${at + 1}`}
          </Button>
        </div>
      ))}
      {rows.value.length === 0 && (
        <p class="hint">Without a window, nothing is updated automatically</p>
      )}
      {rows.value.length < WINDOWS_MAX && <Button icon="plus" onClick={add}>Add window</Button>}
    </fieldset>
  );
}

/** The windows in the values of a form. */
export function windowsOf(values: FormValues): UpdateWindow[] {
  const windows: UpdateWindow[] = [];
  for (let at = 0; nameOf(at, "cron") in values; at++) {
    windows.push({
      cron: values[nameOf(at, "cron")],
      timeZone: values[nameOf(at, "timeZone")],
      durationMinutes: values[nameOf(at, "durationMinutes")],
    });
  }
  return windows;
}
