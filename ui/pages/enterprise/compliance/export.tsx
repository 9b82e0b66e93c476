/** The dialog that exports the compliance log as a file. @module */

import { save } from "../../../api/files.ts";
import type { ComplianceConfig } from "../../../api/types.ts";
import { SelectField, TimeField } from "../../../components/fields.tsx";
import { FormDialog } from "../../../components/form.tsx";
import { fromLocalInput } from "../../../base/local_time.ts";
import { showStatus } from "../../../state/toasts.ts";
import { FORMATS } from "./config_form.tsx";

export function Export({ format, onClose, onDone }: {
  /** The format that the settings name. */
  format: ComplianceConfig["export_format"] | undefined;
  onClose: () => void;
  onDone: () => void;
}) {
  return (
    <FormDialog
      title="Export"
      submit="Export"
      onSubmit={async ({ format, from, to }) => {
        const times = Object.entries({ from: fromLocalInput(from), to: fromLocalInput(to) })
          .filter((time): time is [string, string] => time[1] !== null);
        const query = new URLSearchParams([["format", format], ...times]);
        await save(`api/ext/service-enterprise/compliance/export?${query}`);
        showStatus("Exported the compliance log");
        onDone();
      }}
      onClose={onClose}
    >
      <p>
        The file has at most the newest 10,000 entries of the time range.{" "}
        <code>longshore compliance verify FILE</code> checks it anywhere.
      </p>
      <SelectField label="Format" name="format" value={format} options={FORMATS} />
      <TimeField label="From" name="from" hint="Empty: the oldest entry" />
      <TimeField label="To" name="to" hint="Empty: the newest entry" />
    </FormDialog>
  );
}
