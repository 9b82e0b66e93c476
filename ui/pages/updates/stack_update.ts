/** The update of all containers of a stack. @module */

import { api } from "../../api/client.ts";
import { confirm } from "../../components/dialog.tsx";
import { plain } from "../../base/text.ts";
import { beginJob } from "../../state/jobs.ts";

/** Confirms and starts the update of a Compose project, for the role operator. */
export async function updateStack(name: string): Promise<void> {
  const consequence =
    "Its images are pulled and its containers updated one after another. If one " +
    "fails, all of them return to what they run now.";
  if (!await confirm({ verb: "Update", name: `stack ${plain(name)}`, consequence, isSafe: true })) {
    return;
  }
  await beginJob(
    `The update of ${plain(name)}`,
    () => api("POST /api/stacks/{name}/update", { path: { name }, body: {} }),
  );
}
