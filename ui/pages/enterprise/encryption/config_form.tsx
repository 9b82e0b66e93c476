/** The dialog that changes the settings of the database encryption. @module */

import { api } from "../../../api/client.ts";
import type { EncryptionConfig } from "../../../api/types.ts";
import { fieldsOf, SelectField } from "../../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { bytes } from "../../../base/text.ts";
import { showStatus } from "../../../state/toasts.ts";

const ALGORITHMS = [
  { value: "aes-256-cbc", name: "AES-256-CBC" },
  { value: "aes-256-gcm", name: "AES-256-GCM" },
];

const PAGE_SIZES = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];

export function ConfigForm({ config, onClose, onSaved }: SaveProps & { config: EncryptionConfig }) {
  const { number, select, check } = fieldsOf(config);
  const save = async ({ page_size: pageSize, ...values }: FormValues) => {
    const body = { ...values, page_size: Number(pageSize) as EncryptionConfig["page_size"] };
    onSaved(await api("PUT /api/ext/service-enterprise/encryption/config", { body }));
    showStatus("Saved the encryption settings");
  };
  return (
    <FormDialog title="Edit settings" submit="Save" onSubmit={save} onClose={onClose}>
      {check("Encryption is on", "enabled")}
      {select("Algorithm", "algorithm", ALGORITHMS)}
      {number("Key iterations", "kdf_iterations", {
        hint: "How often the key is derived (PBKDF2)",
        min: 100_000,
        max: 5_000_000,
      })}
      <SelectField
        label="Page size"
        name="page_size"
        value={String(config.page_size)}
        options={PAGE_SIZES.map((size) => ({ value: String(size), name: bytes(size) }))}
      />
    </FormDialog>
  );
}
