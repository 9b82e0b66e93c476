/** The files of a snapshot: directories to open, files to download and to put back. @module */

import { api } from "../../api/client.ts";
import { download } from "../../api/files.ts";
import type { BackupFileList, BackupSnapshot } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { confirm } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { addStyles } from "../../components/styles.ts";
import { Ancestors, fileColumns, shownPath } from "../../parts/files/columns.tsx";
import { href, navigate, query } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert } from "../../state/toasts.ts";
import { beginRestore, stops } from "./begin_restore.ts";
import { snapshotPath } from "./snapshot_text.ts";
import styles from "./backups.css" with { type: "text" };

addStyles(styles);

const pathOf = (snapshot: BackupSnapshot, path: string) => href(snapshotPath(snapshot, { path }));

type File = BackupFileList["files"][number];

export function Files({ snapshot }: { snapshot: BackupSnapshot }) {
  const { id, target } = snapshot;
  const path = query.value.get("path") ?? "/";
  const reading = useRead("GET /api/backup/snapshots/{id}/files", {
    path: { id },
    query: { target, path },
  });
  const list = reading.data.value;
  return (
    <Section title="Files" wide>
      <Ancestors root="Snapshot" path={path} hrefOf={(path) => pathOf(snapshot, path)} />
      <Listing
        name="Files"
        columns={fileColumns<File>((path) => pathOf(snapshot, path))}
        rows={list?.files}
        keyOf={({ path }) => path}
        nameOf={({ name }) => shownPath(name)}
        actions={(file) => actionsOf(snapshot, file)}
        reading={reading}
        empty="This directory is empty."
        defaultSort="name"
      />
      {list?.truncated && (
        <p class="newest muted">
          The first {list.files.length.toLocaleString("en")} entries are shown.
        </p>
      )}
    </Section>
  );
}

function actionsOf(snapshot: BackupSnapshot, file: File): readonly MenuItem[] {
  if (file.type === "dir") {
    const path = snapshotPath(snapshot, { path: file.path });
    return [{ name: "Open", onSelect: () => navigate(path) }];
  }
  if (file.type !== "file") return [{ name: "Download" }];
  const volume = /^\/volumes\/([^/]+)\//.exec(file.path)?.[1];
  return [
    { name: "Download", onSelect: () => void downloadFile(snapshot, file) },
    ...volume !== undefined && hasRole("admin", "backup:write")
      ? [{ name: "Put back", danger: true, onSelect: () => void putBack(snapshot, file, volume) }]
      : [],
  ];
}

async function downloadFile({ id, target }: BackupSnapshot, { path }: File): Promise<void> {
  try {
    await download(`api/backup/snapshots/${id}/file?${new URLSearchParams({ target, path })}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

/** Replaces one file of a volume, after its name was typed. */
async function putBack(snapshot: BackupSnapshot, file: File, volume: string): Promise<void> {
  const { volumes } = await api("GET /api/volumes");
  const users = volumes.find(({ name }) => name === volume)?.containers ?? [];
  const consequence =
    `The file in the volume ${plain(volume)} is replaced by that of the snapshot. ` +
    `${stops(users)} The volume as it is now is kept as a snapshot of its own.`;
  if (!await confirm({ verb: "Put back", name: file.name, consequence, typed: true })) return;
  try {
    const { id, target } = snapshot;
    await beginRestore(id, plain(file.name), {
      target,
      what: "file",
      to: "replace",
      paths: [file.path],
    });
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
