/** Updates: newer images of the containers, updates in progress and past ones. @module */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { ImageUpdate, UpdateSettings } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { Setting } from "../../components/setting.tsx";
import { SearchField, searchFilter, useSearch } from "../../components/search.tsx";
import { count, plain } from "../../base/text.ts";
import { useKinds } from "../../parts/kinds.tsx";
import { useJobs } from "../../state/jobs.ts";
import { jobKinds } from "../../state/kinds.ts";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { Blocked } from "./blocked.tsx";
import { COLUMNS, isAvailable, shortName } from "./columns.tsx";
import { UpdateHistory } from "./history.tsx";
import { SettingsDialog } from "./settings.tsx";
import { UpdateDialog } from "./plan_dialog.tsx";
import { StackUpdateDialog } from "./stack_update.tsx";
import { outdatedContainers, updateAll } from "./all.ts";

type ContainerRef = ImageUpdate["containers"][number];

type Task =
  | { name: "settings" }
  | { name: "update"; container: ContainerRef; tags: string[] }
  | { name: "stack"; stack: string };

export default function Updates() {
  const { data, error, reload } = useRead("GET /api/updates", {});
  const mayUpdate = hasRole("operator", "containers:update");
  const maySet = hasRole("admin", "settings:read") && hasRole("admin", "settings:write");
  const settings = useRead("GET /api/updates/settings", maySet ? {} : undefined);
  useReloadOn("image.", reload);
  const kinds = useKinds(jobKinds).filter(({ group }) => group === "Updates");
  const active = useJobs(kinds.map(({ id }) => id)).length;
  useEffect(reload, [active]);
  const task = useSignal<Task | undefined>(undefined);
  const close = () => task.value = undefined;
  const readAgain = () => {
    settings.reload();
    reload();
  };
  const open = task.value;
  const all = data.value?.updates;
  const rows = useSearch(all, textOf);
  const isStarting = useSignal(false);
  const startAll = async () => {
    isStarting.value = true;
    await updateAll(all!).finally(() => isStarting.value = false);
  };
  return (
    <Page
      title="Updates"
      lead={all && <Summary updates={all} />}
      actions={
        <>
          {maySet && (
            <Button
              icon="sliders"
              onClick={() => task.value = { name: "settings" }}
            >
              Settings
            </Button>
          )}
          {mayUpdate && (
            <Button
              icon="restart"
              onClick={() => void check()}
            >
              Check now
            </Button>
          )}
          {mayUpdate && (
            <Button
              kind="primary"
              disabled={outdatedContainers(all ?? []).length === 0}
              busy={isStarting.value}
              onClick={() => void startAll()}
            >
              Update all
            </Button>
          )}
        </>
      }
    >
      <JobList group="Updates" />
      {maySet && <PeriodicChecks settings={settings.data.value} onChange={readAgain} />}
      <div class="filters" role="search" aria-label="Filters">
        <SearchField name="Filter images" placeholder="Image or container" />
      </div>
      <Listing
        name="Updates"
        columns={COLUMNS}
        rows={rows}
        reading={{ error, reload }}
        empty="No container uses an image yet."
        filter={searchFilter("images")}
        keyOf={({ image }) => image}
        nameOf={shortName}
        {...((mayUpdate || hasRole("operator", "stacks:update")) && {
          actions: (update: ImageUpdate) =>
            menuOf(
              update,
              (container, tags) => task.value = { name: "update", container, tags },
              (stack) => task.value = { name: "stack", stack },
            ),
        })}
        defaultSort="status"
      />
      <Blocked />
      <UpdateHistory kinds={kinds} active={active} />
      {open?.name === "settings" && <SettingsDialog onSaved={readAgain} onClose={close} />}
      {open?.name === "update" && (
        <UpdateDialog container={open.container} tags={open.tags} onClose={close} />
      )}
      {open?.name === "stack" && <StackUpdateDialog name={open.stack} onClose={close} />}
    </Page>
  );
}

function Summary({ updates }: { updates: readonly ImageUpdate[] }) {
  const found = updates.filter(isAvailable);
  const text = found.length > 0
    ? `${count(found.length, "update")} available`
    : updates.some(({ checkedAt }) => checkedAt !== null)
    ? "No updates found"
    : "Not checked yet";
  return <span class="summary" role="status" aria-label={text}>{text}</span>;
}

/** Whether images are checked by themselves. */
function PeriodicChecks({ settings, onChange }: {
  settings: UpdateSettings | undefined;
  onChange: () => void;
}) {
  const change = (enabled: boolean) =>
    withResult(
      enabled ? "Images are checked from now on" : "Images are no longer checked",
      () => api("PUT /api/updates/settings", { body: { enabled } }),
    ).then(onChange);
  const hours = settings?.intervalHours;
  return (
    <Setting
      name="Check for updates"
      checked={settings?.enabled ?? false}
      disabled={!settings || settings.fixed.includes("enabled")}
      onChange={(enabled) => void change(enabled)}
    >
      Asks the registries of all images in use every{" "}
      {hours === 1 ? "hour" : `${hours ?? "…"} hours`}
      . While this is off, registries are asked only when you check, pull, update or deploy, and by
      automatic updates and schedules.
      {settings?.fixed.includes("enabled") && " Set by UPDATE_CHECK."}
    </Setting>
  );
}

async function check(images?: string[]): Promise<void> {
  await withResult(
    "The check has begun",
    () => api("POST /api/updates/check", { body: images ? { images } : {} }),
  );
}

function menuOf(
  { image, status, containers, newerVersions, repository, registry }: ImageUpdate,
  onUpdate: (container: ContainerRef, tags: string[]) => void,
  onUpdateStack: (stack: string) => void,
): MenuItem[] {
  const tags = newerVersions.map(({ tag }) => `${registry}/${repository}:${tag}`);
  const stacks = [...new Set(containers.flatMap(({ stack }) => stack ?? []))];
  const mayUpdate = hasRole("operator", "containers:update");
  const canUpdate = mayUpdate &&
    (status !== "pinned" && status !== "local" || tags.length > 0);
  return [
    ...(canUpdate
      ? containers.map((container) => ({
        name: `Update ${plain(container.name)}`,
        onSelect: () => onUpdate(container, tags),
      }))
      : []),
    ...(hasRole("operator", "stacks:update")
      ? stacks.map((stack) => ({
        name: `Update stack ${plain(stack)}`,
        onSelect: () => onUpdateStack(stack),
      }))
      : []),
    ...(mayUpdate ? [{ name: "Check", onSelect: () => void check([image]) }] : []),
  ];
}

const textOf = ({ image, containers }: ImageUpdate) =>
  [image, ...containers.flatMap(({ name, stack }) => [name, stack ?? ""])].join("\n");
