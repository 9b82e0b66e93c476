/** Images: the table of all tags, transfers, and removing images. @module */

import { useMemo } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { useRead } from "../../components/reading.ts";
import { hasRole } from "../../state/session.ts";
import { PruneDialog } from "../../parts/prune.tsx";
import { useContainerChanges } from "../../parts/used_by.tsx";
import { COLUMNS, type ImageRow, nameOf, rowsOf } from "./columns.tsx";
import { ImageDetails } from "./details.tsx";
import { LoadDialog, PullDialog, TagDialog } from "./dialogs.tsx";
import { exportImage, removeImage } from "./actions.ts";
import { ResourcePage } from "../../components/resource.tsx";

export default function Images() {
  const reading = useRead("GET /api/images", {});
  const { reload } = reading;
  useContainerChanges(reload);
  const images = reading.data.value?.images;
  const rows = useMemo(() => images && rowsOf(images), [images]);
  const mayWrite = hasRole("admin", "images:write");
  const dialog = useDialog();
  const pull = () => dialog.open(PullDialog, { onDone: reload });
  const load = () => dialog.open(LoadDialog, { onDone: reload });
  const prune = () =>
    dialog.open(PruneDialog, { things: "images", kinds: ["images"], onPruned: reload });
  const showDetails = (row: ImageRow) => dialog.open(ImageDetails, { row });
  const addTag = (row: ImageRow) => dialog.open(TagDialog, { row, onDone: reload });

  const actions = (row: ImageRow) => [
    { name: "Details", onSelect: () => showDetails(row) },
    ...(mayWrite ? [{ name: "Add tag", onSelect: () => addTag(row) }] : []),
    ...(hasRole("admin", "images:export")
      ? [{ name: "Export", onSelect: () => void exportImage(row) }]
      : []),
    ...(hasRole("admin", "images:delete")
      ? [
        { name: "Remove", danger: true, onSelect: () => void removeImage(row, reload) },
        ...(row.image.containers > 0
          ? [{
            name: "Force remove",
            danger: true,
            onSelect: () => void removeImage(row, reload, { force: true }),
          }]
          : []),
      ]
      : []),
  ];
  return (
    <ResourcePage
      title="Images"
      noun="image"
      reading={reading}
      rows={rows}
      columns={COLUMNS}
      keyOf={({ tag, image }) => tag ?? image.id}
      nameOf={nameOf}
      write={["admin", "images:write"]}
      actions={actions}
      search={{ textOf, placeholder: "Filter by tag, ID or digest" }}
      dialog={dialog}
      defaultSort="tag"
      empty="This host has no images yet."
      action={mayWrite && <Button onClick={pull}>Pull image</Button>}
      buttons={
        <>
          {hasRole("admin", "system:prune") && <Button onClick={prune}>Prune images</Button>}
          {mayWrite && (
            <>
              <Button onClick={load}>Load image</Button>
              <Button kind="primary" icon="down" onClick={pull}>Pull image</Button>
            </>
          )}
        </>
      }
      above={<JobList group="Images" />}
    />
  );
}

const textOf = ({ tag, image }: ImageRow) => [tag, image.id, ...image.repoDigests].join("\n");
