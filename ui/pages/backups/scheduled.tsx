/** Schedules of backups: their next runs, and settings of a new one. @module */

import type { Schedule } from "../../api/types.ts";
import { State } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { useRead } from "../../components/reading.ts";
import { hasRole } from "../../state/session.ts";
import type { Settings } from "../schedules/kind_fields.tsx";
import { nameOf, type Subject } from "./back_up.tsx";

/** Those of backups; none for a user who may not read schedules. */
export const useBackupSchedules = () => useSchedules("backup");

/** Those of backups of Longshore itself. */
export const useOwnSchedules = () => useSchedules("own-backup");

function useSchedules(wanted: Schedule["kind"]) {
  const mayRead = hasRole("viewer", "schedules:read");
  const { data, reload } = useRead("GET /api/schedules", mayRead ? {} : undefined);
  return {
    schedules: (data.value?.schedules ?? []).filter(({ kind }) => kind === wanted),
    reload,
  };
}

/** The schedules of a stack or volume, the next one first. */
export const schedulesOf = (schedules: readonly Schedule[], subject: Subject): Schedule[] =>
  schedules.filter(({ stack, volumes }) =>
    "stack" in subject ? stack === subject.stack : volumes?.includes(subject.volume) ?? false
  ).sort((one, other) => (one.nextRunAt ?? "~") < (other.nextRunAt ?? "~") ? -1 : 1);

export const mayChangeSchedules = () => hasRole("admin", "schedules:write");

/** Nightly, with a week of days and a month of weeks. */
const NIGHTLY = { keep: { daily: 7, weekly: 4 }, cronExpression: "0 3 * * *" };

export const presetFor = (subject: Subject): Settings => ({
  name: `Back up ${nameOf(subject)}`.slice(0, 100),
  kind: "backup",
  ..."stack" in subject ? { stack: subject.stack } : { volumes: [subject.volume] },
  ...NIGHTLY,
});

export const OWN_PRESET: Settings = { name: "Back up Longshore", kind: "own-backup", ...NIGHTLY };

/** The next run of the first one that is enabled. */
export function NextRun({ schedules: [first] }: { schedules: readonly Schedule[] }) {
  if (!first) return <span class="muted">–</span>;
  if (first.nextRunAt === null) return <State state="disabled" />;
  return (
    <>
      <Time at={first.nextRunAt} />
      {first.overdueSince !== undefined && <State state="overdue" tone="warn" />}
    </>
  );
}
