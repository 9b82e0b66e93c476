/** The dialog that lets a stack follow a repository. @module */

import { api } from "../../api/client.ts";
import type { StackGit } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { CheckField, SelectField, TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import { useRead } from "../../components/reading.ts";
import { showStatus } from "../../state/toasts.ts";
import { DEPLOYS } from "./states.ts";

/** @param props.stack Name of an attached stack; otherwise the form asks for one. */
export function AttachDialog({ stack, git, repositoryId: preset, onSaved, onClose }: {
  stack?: string;
  git?: StackGit;
  repositoryId?: string;
  onSaved: () => void;
  onClose: () => void;
}) {
  const { data } = useRead("GET /api/git/repositories", {});
  const repositories = data.value?.repositories ?? [];
  return (
    <FormDialog
      title={stack === undefined ? "Attach a stack" : `Git source of ${plain(stack)}`}
      submit={git ? "Save" : "Attach"}
      onClose={onClose}
      onSubmit={async ({ name = stack, repositoryId, path, deploy, directory, acceptRecreate }) => {
        await api("PUT /api/stacks/{name}/git", {
          path: { name },
          body: {
            repositoryId,
            path,
            deploy,
            directory: directory || null,
            profiles: git?.profiles ?? null,
            acceptRecreate,
          },
        });
        onSaved();
        showStatus(`${plain(name)} follows the repository`);
      }}
    >
      {stack === undefined && (
        <TextField
          label="Stack"
          name="name"
          required
          maxLength={100}
          hint="An existing one, or the name of a new one"
        />
      )}
      <SelectField
        key={repositories.length}
        label="Repository"
        name="repositoryId"
        required
        value={git?.repository.id ?? preset}
        options={repositories.map(({ id, name }) => ({ value: id, name: plain(name) }))}
      />
      <TextField
        label="Compose file"
        name="path"
        required
        maxLength={500}
        value={git?.path}
        placeholder="shop/compose.yaml"
        hint="In the repository. Its next version is made of the last commit"
      />
      <SelectField label="New commits" name="deploy" options={DEPLOYS} value={git?.deploy} />
      <TextField
        label="Directory"
        name="directory"
        maxLength={1_024}
        value={git?.directory ?? ""}
        hint="On the host, for relative paths of mounts. Empty: that of the stack"
      />
      <CheckField
        label="Attach it although a deploy would recreate containers"
        name="acceptRecreate"
      />
    </FormDialog>
  );
}
