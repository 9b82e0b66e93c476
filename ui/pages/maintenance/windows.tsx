/** Maintenance windows: maintenance that recurs. @module */

import { api } from "../../api/client.ts";
import type { MaintenanceWindow } from "../../api/types.ts";
import { useRead } from "../../components/reading.ts";
import { State, Text } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { targetText } from "../../parts/target_text.ts";
import { capital, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { WindowForm } from "./window_form.tsx";
import { windowName } from "./window_name.ts";
import { ResourceSection } from "../../components/resource.tsx";

export function MaintenanceWindows({ onChange }: {
  /** After a window was changed: maintenance mode may be on or off now. */
  onChange: () => void;
}) {
  const reading = useRead("GET /api/maintenance/windows", {});
  return (
    <ResourceSection
      title="Maintenance windows"
      noun="window"
      reading={reading}
      rows={reading.data.value?.windows}
      onChange={() => {
        reading.reload();
        onChange();
      }}
      columns={COLUMNS}
      nameOf={windowName}
      write={["admin", "settings:write"]}
      form={WindowForm}
      deletion={{
        consequence: () =>
          "The window is deleted. If it is open, it ends, and what is still wrong is reported.",
        work: ({ id }) => api("DELETE /api/maintenance/windows/{id}", { path: { id } }),
      }}
      empty={"No windows yet. A window pauses alerts and messages at fixed times, for the host " +
        "or for some containers, e.g. during backups."}
    />
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
