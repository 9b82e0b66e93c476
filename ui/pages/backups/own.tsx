/** Backups of Longshore itself at targets: the last one, a new one and its schedule. @module */

import { api } from "../../api/client.ts";
import { save } from "../../api/files.ts";
import type { BackupSnapshot } from "../../api/types.ts";
import { bytes, plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { SelectField, TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { reportJob } from "../../state/jobs.ts";
import { href } from "../../state/router.ts";
import { showStatus, withResult } from "../../state/toasts.ts";
import { ScheduleForm } from "../schedules/form.tsx";
import { useSnapshots } from "./reading.ts";
import { NextRun, OWN_PRESET, useOwnSchedules } from "./scheduled.tsx";
import { snapshotPath } from "./snapshot_text.ts";
import { UnreadTargets } from "./unread.tsx";

export function OwnBackups() {
  const { data, error, reload } = useSnapshots();
  const { schedules, reload: reloadSchedules } = useOwnSchedules();
  const dialog = useDialog();
  const list = data.value;
  if (error.value && !list) return <Failure error={error.value} onRetry={reload} />;
  if (!list) return null;
  const { snapshots, targets } = list;
  const last = snapshots.find(({ isOwn, hasLongshore }) => isOwn && hasLongshore);
  return (
    <Section title="At a backup target">
      <p>
        The same archive as a snapshot. Choose a target on another host or disk, and keep the
        password of its repository elsewhere: with both, everybody can read these keys.
      </p>
      <UnreadTargets list={list} />
      <Facts>
        <Fact name="Last backup">
          {last
            ? (
              <a href={href(snapshotPath(last))}>
                <Time at={last.time} />
              </a>
            )
            : <span class="muted">None</span>}
        </Fact>
        {last && <Fact name="Stored">{bytes(last.size)} at {plain(last.target)}</Fact>}
        {schedules.length > 0 && (
          <Fact name="Next backup">
            <NextRun schedules={schedules} />
          </Fact>
        )}
      </Facts>
      <p class="row-buttons">
        {targets.length > 0
          ? (
            <Button onClick={() => dialog.open(OwnBackupDialog, {})}>
              Back up Longshore
            </Button>
          )
          : <a href={href("/backups/targets")}>Add a target</a>}
        {targets.length > 0 && (
          <Button
            onClick={() =>
              dialog.open(ScheduleForm, {
                item: schedules[0],
                preset: { ...OWN_PRESET, target: targets.find((each) => each.default)?.name },
                onSaved: reloadSchedules,
              })}
          >
            Schedule
          </Button>
        )}
      </p>
      {dialog.shown}
    </Section>
  );
}

function OwnBackupDialog({ onClose }: { onClose: () => void }) {
  const { data } = useRead("GET /api/backup/targets", {});
  const targets = data.value?.targets ?? [];
  const start = async (values: FormValues) => {
    const job = await api("POST /api/backup/own", {
      body: { target: values.target!, ...values.note && { note: values.note } },
    });
    showStatus("The backup of Longshore has begun");
    void reportJob(
      () => Promise.resolve(job),
      "Backed up Longshore",
      "The backup of Longshore has failed",
    );
  };
  return (
    <FormDialog title="Back up Longshore" submit="Back up" onSubmit={start} onClose={onClose}>
      <SelectField
        // Options that come later would not be selected.
        key={targets.length}
        label="Target"
        name="target"
        required
        value={targets.find((each) => each.default)?.id}
        options={targets.map(({ id, name, location }) => ({
          value: id,
          name: `${name}, ${location}`,
        }))}
      />
      <TextField label="Note" name="note" maxLength={200} hint="Optional" />
    </FormDialog>
  );
}

/** Lets the browser save the archive, which `longshore restore` reads. */
export const downloadOwn = ({ id, target }: BackupSnapshot): Promise<boolean> =>
  withResult(
    "Downloaded the backup",
    () => save(`api/backup/own/${id}/download?${new URLSearchParams({ target })}`, "POST"),
  );
