/** Tab of the stacks, and of volumes without one, each with its last backup. @module */

import type {
  BackupDrill,
  BackupSnapshot,
  BackupSnapshotList,
  Schedule,
  Stack,
  Volume,
} from "../../api/types.ts";
import { bytes, count, plain } from "../../base/text.ts";
import { type Column, numberColumn } from "../../components/columns.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { Badge, State } from "../../components/states.tsx";
import { addStyles } from "../../components/styles.ts";
import { Time } from "../../components/time.tsx";
import { useContainerChanges } from "../../parts/used_by.tsx";
import { stackPath, volumePath } from "../../paths.ts";
import { href } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { nameOf, type Subject } from "./back_up.tsx";
import { backupButtons } from "./buttons.ts";
import { beginDrill, LastDrill } from "./drill.tsx";
import { BackupHistory } from "./history.tsx";
import { useBackupJobs, useSnapshots } from "./reading.ts";
import { NextRun, schedulesOf, useBackupSchedules } from "./scheduled.tsx";
import { isAnonymous, lastStackBackup, lastVolumeBackup, snapshotPath } from "./snapshot_text.ts";
import { UnreadTargets } from "./unread.tsx";
import styles from "./backups.css" with { type: "text" };

addStyles(styles);

interface Row {
  subject: Subject;
  volumes: number;
  last: BackupSnapshot | undefined;
  /** Whether there may be one that was not read. */
  isUnknown: boolean;
  /** Whether the targets were read. */
  isRead: boolean;
  schedules: readonly Schedule[];
  drill: BackupDrill | undefined;
}

export function Stacks() {
  const snapshots = useSnapshots();
  const stacks = useRead("GET /api/stacks", {});
  const volumes = useRead("GET /api/volumes", {});
  const drills = useRead("GET /api/backup/drills", { query: { latest: true } });
  useReloadAfter(useBackupJobs().length, drills.reload);
  useContainerChanges(() => {
    stacks.reload();
    volumes.reload();
  });
  const dialog = useDialog();
  const list = snapshots.data.value;
  const found = stacks.data.value?.stacks;
  const { schedules, reload } = useBackupSchedules();
  // Stacks are shown before the targets have answered: one that is down takes its time.
  const rows = found &&
    rowsOf(list, found, volumes.data.value?.volumes ?? [], drills.data.value?.drills ?? [])
      .map((row): Row => ({ ...row, schedules: schedulesOf(schedules, row.subject) }));
  const buttons: RowButton[] = [
    ...backupButtons(dialog, reload).map(({ text, open }): RowButton => ({
      text,
      isShown: () => list !== undefined,
      onClick: ({ subject, schedules }) => open(subject, { targets: list!.targets, schedules }),
    })),
    ...hasRole("operator", "backup:run") ? [DRILL] : [],
  ];
  const failed = [snapshots, stacks].find(({ error }) => error.value) ?? stacks;
  return (
    <>
      <UnreadTargets list={list} />
      <Listing
        name="Stacks"
        columns={buttons.length > 0 ? [...COLUMNS, buttonColumn(buttons)] : COLUMNS}
        rows={rows}
        keyOf={({ subject }) => JSON.stringify(subject)}
        nameOf={({ subject }) => nameOf(subject)}
        reading={failed}
        empty="No stacks or volumes on this host yet."
        defaultSort="name"
        hasTallRows
      />
      <BackupHistory />
      {dialog.shown}
    </>
  );
}

/** Stacks of Swarm are not listed: their volumes are on several hosts. */
function rowsOf(
  list: BackupSnapshotList | undefined,
  stacks: readonly Stack[],
  volumes: readonly Volume[],
  drills: readonly BackupDrill[],
): Omit<Row, "schedules">[] {
  const isUnknown = list !== undefined &&
    (list.total > list.snapshots.length || list.targets.some(({ error }) => error !== null));
  const isRead = list !== undefined;
  const inStacks = new Set(
    stacks.flatMap(({ containers }) => containers.map(({ name }) => name)),
  );
  const own = stacks.filter(({ kind }) => kind === "compose").map((stack) => ({
    subject: { stack: stack.name },
    volumes: volumesOf(stack, volumes).length,
    last: list && lastStackBackup(list, stack.name),
    isUnknown,
    isRead,
    drill: drills.find((each) => each.stack === stack.name),
  }));
  const others = volumes.filter(({ name, labels, containers }) =>
    !labels["com.docker.compose.project"] && !labels["longshore.trial"] &&
    !containers.some((each) => inStacks.has(each)) &&
    !(isAnonymous(name) && containers.length === 0)
  ).map(({ name }) => ({
    subject: { volume: name },
    volumes: 1,
    last: list && lastVolumeBackup(list, name),
    isUnknown,
    isRead,
    drill: undefined,
  }));
  return [...own, ...others];
}

const volumesOf = ({ containers }: Stack, volumes: readonly Volume[]) =>
  volumes.filter((volume) => containers.some(({ name }) => volume.containers.includes(name)));

const COLUMNS: readonly Column<Row>[] = [
  {
    title: "Name",
    cell: ({ subject, volumes }) => (
      <>
        <span class="name-cell wraps">
          {"stack" in subject
            ? <a class="cut" href={href(stackPath({ name: subject.stack }))}>{nameOf(subject)}</a>
            : (
              <>
                <a class="cut" href={href(volumePath(subject.volume))}>{nameOf(subject)}</a>
                <Badge>Volume</Badge>
              </>
            )}
        </span>
        {"stack" in subject && (
          <p class="hint">{volumes === 0 ? "No volumes" : count(volumes, "volume")}</p>
        )}
      </>
    ),
    sort: ({ subject }) => nameOf(subject),
  },
  {
    title: "Last backup",
    cell: ({ subject, last, isUnknown, isRead, schedules, drill }) => (
      <>
        {last
          ? (
            <a href={href(snapshotPath(last))}>
              <Time at={last.time} />
            </a>
          )
          : !isRead
          ? <span class="muted">–</span>
          : (
            <State
              state={isUnknown ? "Unknown" : "Never backed up"}
              tone={isUnknown ? "idle" : "warn"}
            />
          )}
        <p class="hint inline">
          {last && `at ${plain(last.target)}`}
          {last && schedules.length > 0 && ", "}
          {schedules.length > 0 && (
            <>
              next <NextRun schedules={schedules} />
            </>
          )}
        </p>
        {"stack" in subject && (
          <div class="narrow-only">
            <p class="hint">Last drill:</p>
            <LastDrill drill={drill} />
          </div>
        )}
      </>
    ),
    sort: ({ last }) => last?.time,
    width: "w-l",
  },
  {
    title: "Last drill",
    cell: ({ subject, drill }) => "stack" in subject ? <LastDrill drill={drill} /> : null,
    sort: ({ drill }) => drill?.at,
    wide: true,
    width: "w-l",
  },
  numberColumn("Size", ({ last }) => last?.size, bytes, { wide: true, width: "w-s" }),
];

interface RowButton {
  text: string;
  title?: string;
  /** Default: in every row. */
  isShown?: (row: Row) => boolean;
  onClick: (row: Row) => void;
}

const DRILL: RowButton = {
  text: "Drill",
  title: "Restore it on a copy, to see whether it works",
  isShown: ({ subject, last }) => "stack" in subject && last !== undefined,
  onClick: ({ subject }) => void ("stack" in subject && beginDrill(subject.stack)),
};

/** The buttons of a row that the user may press. */
const buttonColumn = (buttons: readonly RowButton[]): Column<Row> => ({
  title: "Action",
  cell: (row) => (
    <span class="row-buttons">
      {buttons.filter(({ isShown }) => isShown?.(row) ?? true).map(({ text, title, onClick }) => (
        <button
          key={text}
          title={title}
          type="button"
          class="button plain"
          aria-label={`${text} ${nameOf(row.subject)}`}
          onClick={() => onClick(row)}
        >
          {text}
        </button>
      ))}
    </span>
  ),
});
