/** The tab "Versions" of a stack: what was stored when, compared, and restored. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { StackVersionList } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, Failure, Loading } from "../../components/states.tsx";
import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { plain } from "../../base/text.ts";
import { userName } from "../../parts/user_name.ts";
import { useUserOptions } from "../../parts/user_options.ts";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { ON_DISK } from "./conflict.tsx";
import { Diff } from "./diff.tsx";

type Version = StackVersionList["versions"][number];

export function Versions({ name, hasSources }: { name: string; hasSources: boolean }) {
  const { data, error, reload } = useRead(
    "GET /api/stacks/{name}/versions",
    hasSources ? { path: { name } } : undefined,
  );
  const users = useUserOptions();
  const authorOf = ({ createdBy: id, commit }: Version) =>
    commit ? commit.author : id === ON_DISK ? "Edit on disk" : userName(users, id);
  const compared = useSignal<number | undefined>(undefined);
  const versions = data.value?.versions;
  const current = versions?.[0]?.version;
  const columns: readonly Column<Version>[] = [
    {
      title: "Version",
      cell: ({ version }) => (
        <span class="name-cell">
          {version}
          {version === current && <Badge>Current</Badge>}
        </span>
      ),
      sort: ({ version }) => version,
    },
    textColumn("Author", authorOf),
    ...versions?.some(({ commit }) => commit !== null) ? [COMMIT] : [],
    timeColumn("Time", ({ createdAt }) => createdAt),
  ];
  const actions = ({ version }: Version): MenuItem[] => [{
    name: hasRole("admin", "stacks:write") ? "Compare and restore" : "Compare",
    onSelect: version === current ? undefined : () => compared.value = version,
  }];
  return (
    <>
      <Listing
        name="Versions"
        columns={columns}
        rows={hasSources ? versions : []}
        reading={{ error, reload }}
        empty="Longshore does not have the sources of this stack."
        keyOf={({ version }) => String(version)}
        nameOf={({ version }) => `version ${version}`}
        actions={actions}
        defaultSort="-version"
      />
      {compared.value !== undefined && current !== undefined && (
        <Comparison
          name={name}
          version={compared.value}
          current={current}
          onRestored={reload}
          onClose={() => compared.value = undefined}
        />
      )}
    </>
  );
}

const COMMIT: Column<Version> = textColumn(
  "Commit",
  ({ commit }) => commit ? `${commit.id.slice(0, 10)} ${commit.message}` : "–",
);

/** Changes that restoring a version makes. */
function Comparison({ name, version, current, onRestored, onClose }: {
  name: string;
  version: number;
  current: number;
  onRestored: () => void;
  onClose: () => void;
}) {
  const { data, error } = useRead("GET /api/stacks/{name}/versions/{version}/diff/{other}", {
    path: { name, version: current, other: version },
  });
  const isBusy = useSignal(false);
  const restore = async () => {
    isBusy.value = true;
    const isDone = await withResult(
      `Restored version ${version} as version ${current + 1}`,
      async () => {
        const { compose, env, files, profiles } = await api(
          "GET /api/stacks/{name}/versions/{version}",
          { path: { name, version } },
        );
        await api("PUT /api/stacks/{name}/source", {
          path: { name },
          body: {
            compose,
            env,
            files,
            ...(profiles.length > 0 && { profiles }),
            expectedVersion: current,
          },
        });
      },
    );
    isBusy.value = false;
    if (isDone) onClose();
    onRestored();
  };
  return (
    <Dialog title={`Version ${version} of ${plain(name)}`} onClose={onClose} wide>
      <p>What changes from the current version {current} to version {version}:</p>
      {error.value
        ? <Failure error={error.value} />
        : data.value
        ? <Diff name={`Version ${current} to version ${version}`} diff={data.value.diff} />
        : <Loading name="Diff" />}
      {hasRole("admin", "stacks:write") && (
        <p class="muted">
          Restoring stores it as version {current + 1} and deploys nothing.
        </p>
      )}
      <div class="actions">
        <button type="button" class="button plain" data-autofocus onClick={onClose}>Close</button>
        {hasRole("admin", "stacks:write") && (
          <Button
            kind="primary"
            disabled={!data.value}
            busy={isBusy.value}
            onClick={() => void restore()}
          >
            Restore
          </Button>
        )}
      </div>
    </Dialog>
  );
}
