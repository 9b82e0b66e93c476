/** When images are checked, and which updates are applied by themselves. @module */

import { api } from "../../api/client.ts";
import type { UpdateSettings } from "../../api/types.ts";
import { Dialog } from "../../components/dialog.tsx";
import { CheckField, SelectField, TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { showStatus } from "../../state/toasts.ts";
import { WindowsField, windowsOf } from "./windows_field.tsx";

interface SettingsProps {
  onSaved: () => void;
  onClose: () => void;
}

export function SettingsDialog(props: SettingsProps) {
  const { data, error, reload } = useRead("GET /api/updates/settings", {});
  if (data.value) return <SettingsForm {...props} settings={data.value} />;
  return (
    <Dialog title="Update settings" onClose={props.onClose}>
      {error.value
        ? <Failure error={error.value} onRetry={reload} />
        : <Loading name="Update settings" />}
    </Dialog>
  );
}

const POLICIES = [
  { value: "notify", name: "Report updates" },
  { value: "auto", name: "Update automatically" },
];

const DATA_CHOICES = [
  { value: "keep", name: "Leave it as the new version wrote it" },
  { value: "undo", name: "Bring the data back" },
];

function SettingsForm(
  { settings, onSaved, onClose }: SettingsProps & { settings: UpdateSettings },
) {
  const { fixed } = settings;
  const save = async (values: FormValues) => {
    const { policy, data, minimumAgeHours, keepPreviousDays, stableSeconds } = values;
    const body = {
      ...(!fixed.includes("enabled") && { enabled: values.enabled }),
      ...(!fixed.includes("intervalHours") && { intervalHours: values.intervalHours }),
      ...{ policy, data, minimumAgeHours, keepPreviousDays, stableSeconds },
      rehearse: values.rehearse ?? false,
      windows: windowsOf(values),
    };
    await api("PUT /api/updates/settings", { body });
    showStatus("Saved the update settings");
    onSaved();
  };
  return (
    <FormDialog title="Update settings" submit="Save" onSubmit={save} onClose={onClose}>
      {fixed.includes("enabled")
        ? <p class="note">UPDATE_CHECK turns checks {settings.enabled ? "on" : "off"}.</p>
        : (
          <CheckField
            label="Check images periodically"
            name="enabled"
            checked={settings.enabled}
          />
        )}
      {!fixed.includes("intervalHours") && (
        <TextField
          label="Interval (hours)"
          name="intervalHours"
          type="number"
          min={1}
          max={168}
          value={settings.intervalHours}
          required
        />
      )}
      <SelectField
        label="Containers without a label"
        name="policy"
        value={settings.policy}
        options={POLICIES}
        hint="The label longshore.update=off, notify or auto of a container wins"
      />
      <SelectField
        label="Data of an update that fails"
        name="data"
        value={settings.data}
        options={DATA_CHOICES}
        hint="The label longshore.update.data=keep or undo of a container wins"
      />
      <WindowsField windows={settings.windows} />
      <div class="field-row">
        <TextField
          label="Minimum age (hours)"
          name="minimumAgeHours"
          type="number"
          min={0}
          max={8760}
          value={settings.minimumAgeHours}
          required
          hint="Of an image that is installed automatically"
        />
        <TextField
          label="Keep the image before (days)"
          name="keepPreviousDays"
          type="number"
          min={0}
          max={365}
          value={settings.keepPreviousDays}
          required
          hint="For a rollback"
        />
      </div>
      <TextField
        label="Stable after (seconds)"
        name="stableSeconds"
        type="number"
        min={5}
        max={3600}
        value={settings.stableSeconds}
        required
        hint="How long an updated container without a health check must run"
      />
      <CheckField
        label="Rehearse updates on a copy of the data first"
        name="rehearse"
        checked={settings.rehearse}
      />
    </FormDialog>
  );
}
