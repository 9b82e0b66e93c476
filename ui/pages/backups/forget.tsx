/** Dialog that forgets old snapshots at a target. @module */

import { api } from "../../api/client.ts";
import type { BackupTarget } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import type { FormValues } from "../../components/form_values.ts";
import { FormDialog } from "../../components/form.tsx";
import { reportJob } from "../../state/jobs.ts";
import { showStatus } from "../../state/toasts.ts";
import { KeepFields, readKeep } from "../../parts/keep.tsx";

export function ForgetDialog({ target: { id, name }, onClose }: {
  target: BackupTarget;
  onClose: () => void;
}) {
  const start = async (values: FormValues) => {
    const keep = readKeep(values) ?? {};
    const job = await api("POST /api/backup/targets/{id}/forget", { path: { id }, body: keep });
    showStatus(`Forgetting snapshots in ${plain(name)}`);
    void reportJob(() => Promise.resolve(job), `Forgot old snapshots in ${plain(name)}`);
  };
  return (
    <FormDialog title="Forget snapshots" submit="Forget" onSubmit={start} onClose={onClose}>
      <p>
        Removes the snapshots of this host in {plain(name)}{" "}
        that no rule keeps, of each stack and volume. Those that an update may still need stay.
        Their data stays until the target is pruned.
      </p>
      <KeepFields />
    </FormDialog>
  );
}
