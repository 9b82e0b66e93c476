/** The dialog that changes the settings of the compliance log. @module */

import { api } from "../../../api/client.ts";
import type { ComplianceConfig } from "../../../api/types.ts";
import { fieldsOf } from "../../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { showStatus } from "../../../state/toasts.ts";

export const FORMATS = [{ value: "json", name: "JSON" }, { value: "csv", name: "CSV" }];

export function ConfigForm({ config, onClose, onSaved }: SaveProps & { config: ComplianceConfig }) {
  const { number, select, check } = fieldsOf(config);
  const save = async (body: FormValues) => {
    onSaved(await api("PUT /api/ext/service-enterprise/compliance/config", { body }));
    showStatus("Saved the settings");
  };
  return (
    <FormDialog title="Settings" submit="Save" onSubmit={save} onClose={onClose}>
      {check("Record entries", "enabled")}
      {check("Record reads, too", "log_api_reads")}
      {number("Retention (days)", "retention_days", {
        hint: "Older entries are deleted once a day",
        min: 1,
      })}
      {select("Export format", "export_format", FORMATS)}
    </FormDialog>
  );
}
