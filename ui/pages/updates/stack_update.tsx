/** The update of all containers of a stack. @module */

import { api } from "../../api/client.ts";
import type { StackUpdate } from "../../api/types.ts";
import { confirm } from "../../components/dialog.tsx";
import { plain } from "../../base/text.ts";
import { beginJob } from "../../state/jobs.ts";

/** Confirms and starts the update of a Compose project, for the role operator. */
export async function updateStack(name: string): Promise<void> {
  const body: Pick<StackUpdate, "data" | "rehearse"> = {};
  const consequence = (
    <>
      Its images are pulled and its containers updated one after another. If one fails, all of them
      return to what they run now.
      <Choice
        name="Data if it fails"
        options={[
          ["Brought back", () => body.data = "undo"],
          ["Left as the new version wrote it", () => body.data = "keep"],
        ]}
        onDefault={() => delete body.data}
      />
      <Choice
        name="Rehearsal on a copy of the data"
        options={[
          ["First", () => body.rehearse = true],
          ["None", () => body.rehearse = false],
        ]}
        onDefault={() => delete body.rehearse}
      />
    </>
  );
  if (!await confirm({ verb: "Update", name: `stack ${plain(name)}`, consequence, isSafe: true })) {
    return;
  }
  await beginJob(
    `The update of ${plain(name)}`,
    () => api("POST /api/stacks/{name}/update", { path: { name }, body }),
  );
}

/** Unless one is chosen, the labels of each container and the settings decide. */
function Choice({ name, options, onDefault }: {
  name: string;
  options: readonly (readonly [name: string, onChoose: () => void])[];
  onDefault: () => void;
}) {
  return (
    <label class="field">
      {name}
      <select
        onChange={({ currentTarget: { selectedIndex } }) =>
          (options[selectedIndex - 1]?.[1] ?? onDefault)()}
      >
        <option>As labels and settings say</option>
        {options.map(([text]) => <option key={text}>{text}</option>)}
      </select>
    </label>
  );
}
