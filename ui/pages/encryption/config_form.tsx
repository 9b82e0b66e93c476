/**
 * The dialog that changes the settings of the database encryption.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { EncryptionConfig } from "../../api/types.ts";
import {
  CheckField,
  FormDialog,
  type FormValues,
  SelectField,
  TextField,
} from "../../components/form.tsx";
import { bytes } from "../../components/text.ts";
import { showStatus } from "../../state/toasts.ts";

const ALGORITHMS = [
  { value: "aes-256-cbc", name: "AES-256-CBC" },
  { value: "aes-256-gcm", name: "AES-256-GCM" },
];

const PAGE_SIZES = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];

export function ConfigForm({ config, onClose, onSaved }: {
  config: EncryptionConfig;
  onClose: () => void;
  onSaved: () => void;
}) {
  const save = async ({ page_size: pageSize, ...values }: FormValues) => {
    await api("PUT /api/ext/service-enterprise/encryption/config", {
      body: {
        ...values,
        page_size: Number(pageSize) as EncryptionConfig["page_size"],
      },
    });
    showStatus("Saved the encryption settings");
    onSaved();
  };
  return (
    <FormDialog title="Edit settings" submit="Save" onSubmit={save} onClose={onClose}>
      <CheckField label="Encryption is on" name="enabled" checked={config.enabled} />
      <SelectField
        label="Algorithm"
        name="algorithm"
        value={config.algorithm}
        options={ALGORITHMS}
      />
      <TextField
        label="Key iterations"
        name="kdf_iterations"
        type="number"
        value={config.kdf_iterations}
        hint="How often the key is derived (PBKDF2)"
        required
        min={100_000}
        max={5_000_000}
        step={1}
      />
      <SelectField
        label="Page size"
        name="page_size"
        value={String(config.page_size)}
        options={PAGE_SIZES.map((size) => ({ value: String(size), name: bytes(size) }))}
      />
    </FormDialog>
  );
}
