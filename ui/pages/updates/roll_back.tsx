/** Goes back to before an update or a deploy, after a confirmation. @module */

import { api } from "../../api/client.ts";
import type { StackDetail } from "../../api/types.ts";
import { confirm } from "../../components/dialog.tsx";
import { imageName, plain, relativeTime } from "../../base/text.ts";
import { now } from "../../components/time.tsx";
import { beginJob } from "../../state/jobs.ts";
import { hasRole } from "../../state/session.ts";

/**
 * Starts the job that rolls a container back.
 *
 * @param container.hasData Whether the data from before the update can return, too.
 * @param container.previous The image to which it goes, if it is known.
 */
export async function rollBack(
  { id, name, hasData, previous }: {
    id: string;
    name: string;
    hasData: boolean;
    previous?: { reference: string; replacedAt: string };
  },
): Promise<void> {
  const image = previous
    ? `${imageName(previous.reference)}, which it used until ${
      relativeTime(Date.parse(previous.replacedAt), now.value)
    }`
    : "the image that it used before";
  const text = `${plain(name)} goes back to ${image}.`;
  const data = await confirmRollback(name, text, hasData);
  if (data === undefined) return;
  await beginJob(
    `The rollback of ${plain(name)}`,
    () => api("POST /api/containers/{id}/rollback", { path: { id }, body: { data } }),
  );
}

/** Starts the job that rolls a stack back, whose start says whether it can. */
export async function rollBackStack({ name }: Pick<StackDetail, "name">): Promise<void> {
  const text = "What the last update or deploy of the stack has changed is taken back: its " +
    "containers go back to their images, or the version before is deployed.";
  const data = await confirmRollback(name, text, true);
  if (data === undefined) return;
  await beginJob(
    `The rollback of ${plain(name)}`,
    () => api("POST /api/stacks/{name}/rollback", { path: { name }, body: { data } }),
  );
}

/** @returns Whether data is brought back; `undefined` if the user cancels. */
async function confirmRollback(
  name: string,
  text: string,
  hasData: boolean,
): Promise<boolean | undefined> {
  let data = false;
  const consequence = hasData && hasRole("admin", "backup:write")
    ? (
      <>
        {text}
        <label class="check">
          <input
            type="checkbox"
            onChange={(event) => data = event.currentTarget.checked}
          />
          Bring back the data from before, too; what was written since is kept as a snapshot
        </label>
      </>
    )
    : `${text} Data in its volumes stays as it is.`;
  return await confirm({ verb: "Roll back", name, consequence }) ? data : undefined;
}
