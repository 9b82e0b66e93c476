/** Targets whose snapshots could not be listed. @module */

import type { BackupSnapshotList } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Icon } from "../../components/icon.tsx";

export function UnreadTargets({ list }: { list: BackupSnapshotList | undefined }) {
  return (
    <>
      {list?.targets.filter(({ error }) => error !== null).map(({ name, error }) => (
        <div key={name} class="note danger" role="alert">
          <Icon name="alert" />
          <p>
            The snapshots at <strong>{plain(name)}</strong> cannot be listed: {plain(error!)}
          </p>
        </div>
      ))}
    </>
  );
}
