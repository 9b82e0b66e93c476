/** Dialog that removes locks of a repository. @module */

import { api } from "../../api/client.ts";
import type { BackupTarget } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { CheckField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { reportJob } from "../../state/jobs.ts";

export function UnlockDialog({ target: { id, name }, onClose }: {
  target: BackupTarget;
  onClose: () => void;
}) {
  const start = async (values: FormValues) => {
    const all = values.all === true;
    const job = await api("POST /api/backup/targets/{id}/unlock", { path: { id }, body: { all } });
    void reportJob(
      () => Promise.resolve(job),
      `Removed ${all ? "all" : "stale"} locks of ${plain(name)}`,
    );
  };
  return (
    <FormDialog title="Remove locks" submit="Remove" onSubmit={start} onClose={onClose}>
      <p>
        Programs that have ended leave locks in{" "}
        {plain(name)}. Locks of this service that has ended and those older than 30 minutes are
        removed.
      </p>
      <CheckField label="Also locks that may be in use" name="all" />
      <p class="hint">
        Only while no other program uses the repository, such as after restic was killed
      </p>
    </FormDialog>
  );
}
