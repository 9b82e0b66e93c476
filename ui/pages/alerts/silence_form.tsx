/** The dialog of a silence. @module */

import type { NewSilenceMatchers, Silence } from "../../api/types.ts";
import { fieldsOf, SelectField, TextField, TimeField } from "../../components/fields.tsx";
import { type EditProps, FormDialog, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { useKinds } from "../../parts/kinds.tsx";
import { eventKinds } from "../../state/kinds.ts";
import { fromLocalInput } from "../../base/local_time.ts";
import { capital } from "../../base/text.ts";
import { showStatus } from "../../state/toasts.ts";
import { SEVERITIES } from "./form.tsx";

const HOUR_MS = 3_600_000;

/** Duration of a silence unless the user says otherwise, in hours. */
const HOURS = 2;

const EVENT_PROPOSALS = "event-proposals";

const MATCHERS = ["event", "container", "stack", "rule", "severity"] as const;

export function SilenceForm(
  { item: silence, about = silence?.matchers ?? {}, onClose, onSaved }: EditProps<Silence> & {
    /** Subject of the silence. */
    about?: NewSilenceMatchers;
  },
) {
  const save = async (values: FormValues) => {
    const given = MATCHERS.flatMap((name) => {
      const value = values[`matchers.${name}`];
      return value === "" ? [] : [[name, value]];
    });
    // A running silence has no such field.
    const startsAt = fromLocalInput(values.startsAt ?? "");
    const body = {
      matchers: Object.fromEntries(given),
      endsAt: fromLocalInput(values.endsAt)!,
      comment: values.comment as string,
      ...(startsAt !== null && { startsAt }),
    };
    const saved = await saveItem("/api/silences", silence, body);
    showStatus(`${silence ? "Saved" : "Created"} the silence`);
    onSaved(saved);
  };
  const endsAt = silence?.endsAt ?? new Date(Date.now() + HOURS * HOUR_MS).toISOString();
  const matcher = (
    name: "container" | "stack" | "rule" | "event",
    help: { placeholder?: string; hint: string; list?: string },
  ) => (
    <TextField
      label={capital(name)}
      name={`matchers.${name}`}
      value={about[name]}
      maxLength={255}
      {...help}
    />
  );
  return (
    <FormDialog
      title={silence ? "Edit silence" : "New silence"}
      submit={silence ? "Save" : "Create"}
      onSubmit={save}
      onClose={onClose}
      wide
    >
      <p class="muted">
        While the silence is active, no messages are sent about events that match all of these
        fields. A problem that is still open when it ends is reported once.
      </p>
      <div class="field-grid">
        {matcher("container", { placeholder: "batch*", hint: "* stands for any text. Empty: any" })}
        {matcher("stack", { placeholder: "shop", hint: "Empty: any" })}
        {matcher("rule", { hint: "Name of an alert or remediation rule. Empty: any" })}
        {matcher("event", {
          placeholder: "container.*",
          hint: "* stands for any text. Empty: any",
          list: EVENT_PROPOSALS,
        })}
        <EventProposals />
        <SelectField
          label="Severity"
          name="matchers.severity"
          value={about.severity ?? ""}
          options={[{ value: "", name: "Any" }, ...SEVERITIES]}
        />
        {fieldsOf(silence).text("Comment", "comment", { maxLength: 500 })}
        {silence?.state !== "active" && (
          <TimeField
            label="Starts"
            name="startsAt"
            at={silence?.startsAt}
            hint={`In your time zone${silence ? "" : ". Empty: now"}`}
            required={silence !== undefined}
          />
        )}
        <TimeField label="Ends" name="endsAt" at={endsAt} hint="In your time zone" required />
      </div>
    </FormDialog>
  );
}

/** Kinds of events by their words. */
function EventProposals() {
  return (
    <datalist id={EVENT_PROPOSALS}>
      {useKinds(eventKinds).map(({ id, group, words }) => (
        <option key={id} value={id}>{`${group}: ${words}`}</option>
      ))}
    </datalist>
  );
}
