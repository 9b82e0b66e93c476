/** The update of all containers of a stack. @module */

import { api } from "../../api/client.ts";
import type { Job, StackUpdatePlan } from "../../api/types.ts";
import { Fact } from "../../components/facts.tsx";
import { count, plain } from "../../base/text.ts";
import { beginJob } from "../../state/jobs.ts";
import { RehearsalFacts } from "./rehearsal.tsx";
import { StackDialog } from "./stack_dialog.tsx";

/** Asks for the choices of a Compose project's update and starts it, for the role operator. */
export function StackUpdateDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const path = { name };
  return (
    <StackDialog<StackUpdatePlan>
      title={`Update stack ${plain(name)}`}
      verb="Update"
      read={(body, signal) =>
        api(
          "POST /api/stacks/{name}/update",
          { path, query: { plan: true }, body },
          { signal },
        )}
      facts={({ containers, rehearsal }) => (
        <>
          <Fact name={count(containers.length, "container")}>
            <span class="wrap">
              {containers.map(({ container, image }) => `${plain(container)}: ${plain(image)}`)
                .join("\n")}
            </span>
          </Fact>
          <RehearsalFacts rehearsal={rehearsal} />
        </>
      )}
      isRehearsed={({ rehearsal }) => rehearsal !== null}
      end="Its images are pulled and its containers updated one after another. If one fails, all of them return to what they run now."
      later={{ path: `api/stacks/${encodeURIComponent(name)}/update` }}
      onStart={(body) =>
        beginJob(
          `The update of ${plain(name)}`,
          () => api("POST /api/stacks/{name}/update", { path, body }) as Promise<Job>,
        )}
      onClose={onClose}
    />
  );
}
