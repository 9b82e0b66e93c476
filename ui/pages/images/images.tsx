/** Images: the table of all tags, transfers, and removing images. @module */

import { useMemo } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { Listing } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { SearchField, searchFilter, Summary, useSearch } from "../../components/search.tsx";
import type { LiveJob } from "../../state/live.ts";
import { hasRole } from "../../state/session.ts";
import { PruneDialog } from "../../parts/prune.tsx";
import { useContainerChanges } from "../../parts/used_by.tsx";
import { COLUMNS, type ImageRow, nameOf, rowsOf } from "./columns.tsx";
import { ImageDetails } from "./details.tsx";
import { LoadDialog, PullDialog, TagDialog } from "./dialogs.tsx";
import { exportImage, removeImage } from "./actions.ts";

export default function Images() {
  const { data, error, reload } = useRead("GET /api/images", {});
  useContainerChanges(reload);
  const all = useMemo(() => data.value && rowsOf(data.value.images), [data.value]);
  const rows = useSearch(all, textOf);
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
    <Page
      title="Images"
      lead={rows && <Summary shown={rows.length} total={all!.length} noun="image" />}
      actions={
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
    >
      <JobList title="In progress" kinds={["image.pull", "image.load"]} nameOf={nameOfJob} />
      <div class="filters" role="search" aria-label="Filters">
        <SearchField name="Filter images" placeholder="Filter by tag, ID or digest" />
      </div>
      <Listing
        name="Images"
        columns={COLUMNS}
        rows={rows}
        error={error.value}
        onRetry={reload}
        empty="This host has no images yet."
        action={mayWrite && <Button onClick={pull}>Pull image</Button>}
        filter={searchFilter("images")}
        keyOf={({ tag, image }) => tag ?? image.id}
        nameOf={nameOf}
        actions={actions}
        defaultSort="tag"
      />
      {dialog.shown}
    </Page>
  );
}

const textOf = ({ tag, image }: ImageRow) => [tag, image.id, ...image.repoDigests].join("\n");

const nameOfJob = ({ kind, target }: LiveJob) =>
  kind === "image.pull" ? `Pulling ${target}` : "Loading an archive";
