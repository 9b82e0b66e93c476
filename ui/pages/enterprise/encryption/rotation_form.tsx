/** The dialogs that record the start and the result of a key rotation. @module */

import { api } from "../../../api/client.ts";
import type { KeyRotation } from "../../../api/types.ts";
import { TextArea } from "../../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../../components/form.tsx";
import { showStatus } from "../../../state/toasts.ts";

export function RotationForm({ onClose, onSaved }: SaveProps) {
  return (
    <FormDialog
      title="Rotate key"
      submit="Record start"
      onSubmit={async ({ notes }) => {
        onSaved(
          await api("POST /api/ext/service-enterprise/encryption/rotate-key", { body: { notes } }),
        );
        showStatus("Recorded the start of the rotation");
      }}
      onClose={onClose}
    >
      <p>
        Records that a rotation has begun. Change the key where the database is opened, then record
        the result here.
      </p>
      <TextArea label="Notes" name="notes" rows={3} />
    </FormDialog>
  );
}

/** End of a rotation. */
export type RotationEnd = Exclude<KeyRotation["status"], "pending">;

export const RESULTS: Record<RotationEnd, string> = {
  completed: "Complete rotation",
  failed: "Mark as failed",
  cancelled: "Cancel rotation",
};

export function ResultForm({ rotation: { id, notes }, status, onClose, onSaved }: SaveProps & {
  rotation: KeyRotation;
  status: RotationEnd;
}) {
  return (
    <FormDialog
      title={RESULTS[status]}
      submit="Save"
      onSubmit={async ({ notes }) => {
        const input = { path: { id }, body: { status, notes } };
        onSaved(await api("PUT /api/ext/service-enterprise/encryption/rotations/{id}", input));
        showStatus(`Saved the rotation as ${status}`);
      }}
      onClose={onClose}
    >
      <TextArea label="Notes" name="notes" value={notes} rows={3} />
    </FormDialog>
  );
}
