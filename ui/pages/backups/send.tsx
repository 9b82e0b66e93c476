/** The dialog that sends a snapshot to a host of the fleet. @module */

import { api } from "../../api/client.ts";
import type { BackupSnapshot } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { CheckField, SelectField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { reportJob } from "../../state/jobs.ts";
import { HOST } from "../../state/root.ts";
import { showStatus } from "../../state/toasts.ts";
import { isRestorable, titleOf } from "./snapshot_text.ts";

/** @param props.hosts Names of the hosts to choose from. */
export function SendDialog({ snapshot, hosts, onClose }: {
  snapshot: BackupSnapshot;
  hosts: readonly string[];
  onClose: () => void;
}) {
  const title = plain(titleOf(snapshot));
  const send = async ({ host, restore }: FormValues) => {
    const job = await api("POST /api/backup/snapshots/{id}/send", {
      path: { id: snapshot.id },
      body: {
        host: host!,
        target: snapshot.target,
        restore: restore ?? false,
        ...HOST !== undefined && { from: HOST },
      },
    });
    const to = `${title} to ${plain(host!)}`;
    showStatus(`Sending ${to} has begun`);
    // Jobs of this server do not arrive on the pages of a host.
    if (HOST !== undefined) return;
    void reportJob(() => Promise.resolve(job), `Sent ${to}`, `Sending ${to} has failed`);
  };
  return (
    <FormDialog title={`Send ${title}`} submit="Send" onSubmit={send} onClose={onClose}>
      <SelectField label="Host" name="host" options={hosts} />
      {isRestorable(snapshot) && (
        <CheckField
          label={snapshot.hasStack
            ? "Restore the stack there, and start it"
            : "Restore the volumes there, as new ones"}
          name="restore"
          checked
        />
      )}
      <p class="note">
        The host stores it at its default target. Nothing here changes; a stack that runs here and
        is restored there runs twice.
      </p>
    </FormDialog>
  );
}
