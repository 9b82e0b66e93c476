/** Backups of a stack: the last one, the next one and those in progress. @module */

import { Button, Link } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { State } from "../../components/states.tsx";
import { addStyles } from "../../components/styles.ts";
import { Time } from "../../components/time.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { bytes, plain } from "../../base/text.ts";
import { backupButtons } from "../backups/buttons.ts";
import { useBackupJobs } from "../backups/reading.ts";
import { NextRun, schedulesOf, useBackupSchedules } from "../backups/scheduled.tsx";
import { lastStackBackup, snapshotPath } from "../backups/snapshot_text.ts";
import styles from "../backups/backups.css" with { type: "text" };

addStyles(styles);

/** Nothing while it is not known. */
export function LastBackup({ stack }: { stack: string }) {
  const { data, reload } = useRead("GET /api/backup/snapshots", {
    query: { allTargets: true, stack },
  }, ["/api/backup/targets"]);
  useReloadAfter(useBackupJobs().length, reload);
  const { schedules, reload: reloadSchedules } = useBackupSchedules();
  const dialog = useDialog();
  const list = data.value;
  if (!list) return null;
  const last = lastStackBackup(list, stack);
  const { targets } = list;
  const isUnknown = targets.some(({ error }) => error !== null);
  const own = schedulesOf(schedules, { stack });
  return (
    <>
      <JobList group="Backups" target={{ target: stack }} />
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
            onClick={() => open({ stack }, { targets, schedules: own })}
          >
            {text}
          </Button>
        ))}
        {dialog.shown}
      </div>
    </>
  );
}
