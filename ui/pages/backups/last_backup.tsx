/** Backups of a stack or a volume: the last one, the next one and those in progress. @module */

import { Button, Link } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { State } from "../../components/states.tsx";
import { addStyles } from "../../components/styles.ts";
import { Time } from "../../components/time.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { bytes, plain } from "../../base/text.ts";
import type { Subject } from "./back_up.tsx";
import { backupButtons } from "./buttons.ts";
import { READ_MAX, useBackupJobs } from "./reading.ts";
import { NextRun, schedulesOf, useBackupSchedules } from "./scheduled.tsx";
import { lastStackBackup, lastVolumeBackup, snapshotPath } from "./snapshot_text.ts";
import styles from "./backups.css" with { type: "text" };

addStyles(styles);

/** Nothing while it is not known. */
export function LastBackup({ subject }: { subject: Subject }) {
  const ofStack = "stack" in subject;
  const { data, reload } = useRead("GET /api/backup/snapshots", {
    query: { allTargets: true, ...ofStack ? { stack: subject.stack } : { limit: READ_MAX } },
  }, ["/api/backup/targets"]);
  useReloadAfter(useBackupJobs().length, reload);
  const { schedules, reload: reloadSchedules } = useBackupSchedules();
  const dialog = useDialog();
  const list = data.value;
  if (!list) return null;
  const last = ofStack
    ? lastStackBackup(list, subject.stack)
    : lastVolumeBackup(list, subject.volume);
  const { targets } = list;
  const isUnknown = targets.some(({ error }) => error !== null);
  const own = schedulesOf(schedules, subject);
  return (
    <>
      <JobList group="Backups" target={{ target: ofStack ? subject.stack : subject.volume }} />
      <div class="last-backup">
        <p class="inline">
          {last
            ? (
              <>
                Last backup{" "}
                <Link to={snapshotPath(last)}>
                  <Time at={last.time} />
                </Link>
                {last.size !== null && `, ${bytes(last.size)}`} at {plain(last.target)}
              </>
            )
            : isUnknown
            ? "Last backup unknown: a target cannot be read"
            : <State state="Never backed up" tone="warn" />}
          {own.length > 0 && (
            <>
              , next <NextRun schedules={own} />
            </>
          )}
        </p>
        {backupButtons(dialog, reloadSchedules).map(({ text, open }) => (
          <Button
            key={text}
            onClick={() => open(subject, { targets, schedules: own })}
          >
            {text}
          </Button>
        ))}
        {dialog.shown}
      </div>
    </>
  );
}
