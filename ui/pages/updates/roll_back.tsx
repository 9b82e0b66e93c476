/** Goes back to the image before an update, after a confirmation. @module */

import { api } from "../../api/client.ts";
import { confirm } from "../../components/dialog.tsx";
import { plain } from "../../base/text.ts";
import { beginJob } from "../../state/jobs.ts";
import { hasRole } from "../../state/session.ts";

/**
 * Starts the job that rolls a container back.
 *
 * @param container.hasData Whether the data from before the update can return, too.
 */
export async function rollBack(
  { id, name, hasData }: { id: string; name: string; hasData: boolean },
): Promise<void> {
  let data = false;
  const text = `${plain(name)} goes back to the image that it used before.`;
  const consequence = hasData && hasRole("admin", "backup:write")
    ? (
      <>
        {text}
        <label class="check">
          <input
            type="checkbox"
            onChange={(event) => data = event.currentTarget.checked}
          />
          Bring back the data from before the update; what was written since is kept as a snapshot
        </label>
      </>
    )
    : `${text} Data in its volumes stays as it is.`;
  if (!await confirm({ verb: "Roll back", name, consequence })) return;
  await beginJob(
    `The rollback of ${plain(name)}`,
    () => api("POST /api/containers/{id}/rollback", { path: { id }, body: { data } }),
  );
}
