/** Goes back to the image before an update, after a confirmation. @module */

import { api } from "../../api/client.ts";
import { confirm } from "../../components/dialog.tsx";
import { plain } from "../../base/text.ts";
import { beginJob } from "../../state/jobs.ts";

/** Starts the job that rolls a container back. */
export async function rollBack({ id, name }: { id: string; name: string }): Promise<void> {
  const consequence = `${plain(name)} goes back to the image that it used before. Data in its ` +
    "volumes stays as it is.";
  if (!await confirm({ verb: "Roll back", name, consequence })) return;
  await beginJob(
    `The rollback of ${plain(name)}`,
    () => api("POST /api/containers/{id}/rollback", { path: { id }, body: {} }),
  );
}
