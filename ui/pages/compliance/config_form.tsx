/**
 * The dialog that changes the settings of the compliance log.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { ComplianceConfig } from "../../api/types.ts";
import { CheckField, FormDialog, SelectField, TextField } from "../../components/form.tsx";
import { showStatus } from "../../state/toasts.ts";

const FORMATS = [{ value: "json", name: "JSON" }, { value: "csv", name: "CSV" }];

export function ConfigForm({ config, onClose, onSaved }: {
  config: ComplianceConfig;
  onClose: () => void;
  onSaved: () => void;
}) {
  return (
    <FormDialog
      title="Settings"
      submit="Save"
      onSubmit={async (body) => {
        await api("PUT /api/ext/service-enterprise/compliance/config", { body });
        showStatus("Saved the settings");
        onSaved();
      }}
      onClose={onClose}
    >
      <CheckField label="Record entries" name="enabled" checked={config.enabled} />
      <CheckField label="Record reads, too" name="log_api_reads" checked={config.log_api_reads} />
      <TextField
        label="Retention (days)"
        name="retention_days"
        type="number"
        value={config.retention_days}
        hint="Older entries are deleted once a day"
        required
        min={1}
        step={1}
      />
      <SelectField
        label="Export format"
        name="export_format"
        value={config.export_format}
        options={FORMATS}
      />
    </FormDialog>
  );
}
