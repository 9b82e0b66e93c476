/** Settings of the server. @module */

import { useSignal } from "@preact/signals";
import { api } from "../api/client.ts";
import type { Maintenance } from "../api/types.ts";
import { TextField } from "../components/fields.tsx";
import { Form } from "../components/form.tsx";
import type { FormValues } from "../components/form_values.ts";
import { fromLocalInput, toLocalInput } from "../base/local_time.ts";
import { Page, Section } from "../components/page.tsx";
import { useRead } from "../components/reading.ts";
import { Failure, Loading } from "../components/states.tsx";
import { Setting } from "../components/setting.tsx";
import { hasRole } from "../state/session.ts";
import { showStatus, withResult } from "../state/toasts.ts";
import { UploadedIcons } from "./icons.tsx";
import { MaintenanceWindows } from "./maintenance/windows.tsx";

export default function Settings() {
  const { data, error, reload } = useRead("GET /api/maintenance", {});
  return (
    <Page title="Settings">
      <div class="stacked">
        {error.value
          ? <Failure error={error.value} onRetry={reload} />
          : data.value
          ? <MaintenanceMode state={data.value} onChange={(state) => data.value = state} />
          : <Loading name="Maintenance" />}
        <MaintenanceWindows onChange={reload} />
        <UploadedIcons />
        <Section title="Configuration">
          <p>
            Everything else is set by environment variables when the service starts.{" "}
            <code>longshore config</code> lists them with their values, defaults and meanings.
          </p>
        </Section>
      </div>
    </Page>
  );
}

function MaintenanceMode({ state, onChange }: {
  state: Maintenance;
  onChange: (state: Maintenance) => void;
}) {
  const isBusy = useSignal(false);
  const mayWrite = hasRole("admin", "settings:write");
  const change = async (enabled: boolean) => {
    isBusy.value = true;
    await withResult(
      enabled ? "Enabled maintenance mode" : "Disabled maintenance mode",
      async () => onChange(await api("POST /api/maintenance", { body: { enabled } })),
    );
    isBusy.value = false;
  };
  const save = async ({ until, reason }: FormValues) => {
    onChange(
      await api("POST /api/maintenance", {
        body: { enabled: true, until: fromLocalInput(until), reason: reason || null },
      }),
    );
    showStatus("Saved maintenance mode");
  };
  return (
    <Section title="Maintenance">
      <Setting
        name="Maintenance mode"
        checked={state.enabled}
        disabled={isBusy.value || !mayWrite}
        onChange={(enabled) => void change(enabled)}
      >
        Pauses alerts, remediation and notifications while you work on the host. Recording
        continues.
      </Setting>
      {state.enabled && mayWrite && (
        <Form key={`${state.until} ${state.reason}`} submit="Save" onSubmit={save}>
          <div class="field-grid">
            <TextField
              label="Ends"
              name="until"
              type="datetime-local"
              value={toLocalInput(state.until)}
              hint="In your time zone. Empty: until you turn it off."
            />
            <TextField label="Reason" name="reason" value={state.reason ?? ""} maxLength={500} />
          </div>
        </Form>
      )}
    </Section>
  );
}
