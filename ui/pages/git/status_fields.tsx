/** Fields for the status of commits at a forge. @module */

import { useSignal } from "@preact/signals";
import type { GitRepository } from "../../api/types.ts";
import { SelectField, TextField } from "../../components/fields.tsx";
import type { FormValues } from "../../components/form_values.ts";

type Status = NonNullable<GitRepository["status"]>;

const NONE = "";

const KINDS = [
  { value: NONE, name: "Not shown" },
  { value: "github", name: "GitHub" },
  { value: "gitlab", name: "GitLab" },
  { value: "gitea", name: "Gitea or Forgejo" },
];

const ADDRESSES: Record<Status["kind"], string> = {
  github: "https://api.github.com",
  gitlab: "https://gitlab.example.com/api/v4",
  gitea: "https://git.example.com/api/v1",
};

export function StatusFields({ status }: { status: Status | null | undefined }) {
  const kind = useSignal<string>(status?.kind ?? NONE);
  return (
    <>
      <SelectField
        label="Status of commits"
        name="statusKind"
        options={KINDS}
        choice={kind}
        hint="What became of a commit, shown by its server"
      />
      {kind.value !== NONE && (
        <div class="field-row">
          <TextField
            label="API address"
            name="statusApiUrl"
            required
            maxLength={2_048}
            value={status?.apiUrl}
            placeholder={ADDRESSES[kind.value as Status["kind"]]}
          />
          <TextField
            label="Status token"
            name="statusToken"
            type="password"
            required={!status}
            hint={status
              ? "Stored encrypted; empty: keep the stored one"
              : "May write the status of commits. Stored encrypted"}
            autocomplete="new-password"
            maxLength={1_000}
          />
        </div>
      )}
    </>
  );
}

/** Without a token, the stored one is kept. */
export function statusOf(
  { statusKind, statusApiUrl, statusToken }: FormValues,
): Status | null {
  if (statusKind === NONE) return null;
  return {
    kind: statusKind as Status["kind"],
    apiUrl: statusApiUrl.trim(),
    token: statusToken || "********",
  };
}
