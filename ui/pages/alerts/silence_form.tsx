/**
 * The dialog of a silence.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { NewSilenceMatchers, Silence } from "../../api/types.ts";
import { FormDialog, type FormValues, SelectField, TextField } from "../../components/form.tsx";
import { fromLocalInput, toLocalInput } from "../../components/local_time.ts";
import { showStatus } from "../../state/toasts.ts";
import { SEVERITIES } from "./form.tsx";

const HOUR_MS = 3_600_000;

/** How long a silence lasts unless the user says otherwise, in hours. */
const HOURS = 2;

const MATCHERS = ["event", "container", "stack", "rule", "severity"] as const;

export function SilenceForm({ silence, about = silence?.matchers ?? {}, onClose, onSaved }: {
  /** Without one, a new silence is created. */
  silence?: Silence | undefined;
  /** What it is about. */
  about?: NewSilenceMatchers;
  onClose: () => void;
  onSaved: () => void;
}) {
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
    if (silence) await api("PUT /api/silences/{id}", { path: { id: silence.id }, body });
    else await api("POST /api/silences", { body });
    showStatus(`${silence ? "Saved" : "Created"} the silence`);
    onSaved();
  };
  const endsAt = silence?.endsAt ?? new Date(Date.now() + HOURS * HOUR_MS).toISOString();
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
        <TextField
          label="Container"
          name="matchers.container"
          value={about.container}
          placeholder="batch*"
          hint="* stands for any text. Empty: any"
          maxLength={255}
        />
        <TextField
          label="Stack"
          name="matchers.stack"
          value={about.stack}
          placeholder="shop"
          hint="Empty: any"
          maxLength={255}
        />
        <TextField
          label="Rule"
          name="matchers.rule"
          value={about.rule}
          hint="Name of an alert or remediation rule. Empty: any"
          maxLength={255}
        />
        <TextField
          label="Event"
          name="matchers.event"
          value={about.event}
          placeholder="container.*"
          hint="Empty: any"
          maxLength={255}
        />
        <SelectField
          label="Severity"
          name="matchers.severity"
          value={about.severity ?? ""}
          options={[{ value: "", name: "Any" }, ...SEVERITIES]}
        />
        <TextField label="Comment" name="comment" value={silence?.comment} maxLength={500} />
        {silence?.state !== "active" && (
          <TextField
            label="Starts"
            name="startsAt"
            type="datetime-local"
            value={silence && toLocalInput(silence.startsAt)}
            hint={`In your time zone${silence ? "" : ". Empty: now"}`}
            required={silence !== undefined}
          />
        )}
        <TextField
          label="Ends"
          name="endsAt"
          type="datetime-local"
          value={toLocalInput(endsAt)}
          hint="In your time zone"
          required
        />
      </div>
    </FormDialog>
  );
}
