/** Maintenance windows: maintenance that recurs. @module */

import { api } from "../../api/client.ts";
import type { MaintenanceWindow } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { State, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { targetText } from "../../parts/target_text.ts";
import { capital, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { WindowForm } from "./window_form.tsx";
import { windowName } from "./window_name.ts";

export function MaintenanceWindows({ onChange }: {
  /** After a window was changed: maintenance mode may be on or off now. */
  onChange: () => void;
}) {
  const { data, error, reload } = useRead("GET /api/maintenance/windows", {});
  const dialog = useDialog();
  const edit = (window?: MaintenanceWindow) => dialog.open(WindowForm, { window, onSaved: update });
  const update = () => {
    reload();
    onChange();
  };
  return (
    <Section
      title="Maintenance windows"
      actions={hasRole("admin", "settings:write") && (
        <Button icon="plus" onClick={() => edit()}>New window</Button>
      )}
    >
      <Listing
        name="Maintenance windows"
        columns={COLUMNS}
        rows={data.value?.windows}
        error={error.value}
        onRetry={reload}
        nameOf={windowName}
        actionsFor={["admin", "settings:write"]}
        actions={(window) => [
          { name: "Edit", onSelect: () => edit(window) },
          deleteItem(() => remove(window), update),
        ]}
        empty={"No windows yet. A window pauses alerts and messages at fixed times, for the host " +
          "or for some containers, e.g. during backups."}
      />
      {dialog.shown}
    </Section>
  );
}

const COLUMNS: readonly Column<MaintenanceWindow>[] = [
  {
    title: "Opens",
    cell: ({ cron, timeZone, comment }) => (
      <>
        <Text>{cron}</Text>
        <p class="hint">{plain(comment === "" ? timeZone : `${timeZone} · ${comment}`)}</p>
      </>
    ),
  },
  {
    title: "Minutes",
    cell: ({ durationMinutes }) => durationMinutes.toLocaleString("en"),
    numeric: true,
    wide: true,
    width: "w-xs",
  },
  {
    title: "Applies to",
    cell: ({ scope }) => (
      <span class="wraps">
        <Text>{capital(targetText(scope.target))}</Text>
      </span>
    ),
  },
  {
    title: "Next",
    cell: ({ openUntil, nextOpensAt }) =>
      openUntil === null ? <Time at={nextOpensAt} /> : <State state="open" tone="warn" />,
    width: "w-s",
  },
];

const remove = (window: MaintenanceWindow): Promise<boolean> =>
  deleteConfirmed(
    windowName(window),
    "The window is deleted. If it is open, it ends, and what is still wrong is " +
      "reported.",
    () => api("DELETE /api/maintenance/windows/{id}", { path: { id: window.id } }),
  );
