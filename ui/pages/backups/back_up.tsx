/** The dialog that backs up a stack or a volume. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { BackupSnapshotList } from "../../api/types.ts";
import { bytes, duration, plain } from "../../base/text.ts";
import { CheckField, SelectField, TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { useRead } from "../../components/reading.ts";
import { reportJob } from "../../state/jobs.ts";
import { hasRole } from "../../state/session.ts";
import { showStatus } from "../../state/toasts.ts";
import { type Mode, MODES } from "./modes.ts";
import { volumeName } from "./snapshot_text.ts";

const MEANINGS: Record<Mode, string> = {
  "":
    "As the label longshore.backup says, else the setting of the stack. Without both: hooks where all containers that write are " +
    "recognized databases or have hooks, otherwise stop",
  stop: "Containers that write are stopped while their files are read, and started again",
  pause: "Containers are paused: files are as after a power failure, which databases survive",
  hooks: "Nothing stops: databases are dumped beside their files, commands of labels run before " +
    "and after",
  live: "Nothing stops: files may be of different moments",
};

/** A stack, or a volume without one. */
export type Subject = { stack: string } | { volume: string };

export const nameOf = (subject: Subject): string =>
  plain("stack" in subject ? subject.stack : volumeName(subject.volume));

/** Size and time of the next backup, and the room that is left. */
function Estimate({ subject, target, chosen }: {
  subject: Subject;
  target: string | undefined;
  chosen: Mode;
}) {
  const { data } = useRead("GET /api/backup/estimate", {
    query: { ...subject, ...target !== undefined && { target } },
  });
  if (data.value === undefined) return null;
  const { size, added, seconds, room, leftOut, mode, sqlite } = data.value;
  const isLoose = ["hooks", "live"].includes(chosen || mode);
  const facts = [
    size !== null && `about ${bytes(size)}`,
    seconds !== null && `${duration(seconds)} by the speed of the last backup`,
    room !== null && `${bytes(room)} left at the target`,
    `automatic mode ${mode}`,
  ].filter((fact) => fact !== false);
  const isFull = added !== null && room !== null && added > room;
  return (
    <>
      <p class="note">
        Estimate: {facts.join(", ")}
        {isFull && `; up to ${bytes(added)} may be added, which is too much`}
      </p>
      {leftOut.length > 0 && <p class="note">Not included: {leftOut.map(plain).join(", ")}</p>}
      {isLoose && sqlite !== null && sqlite.length > 0 && (
        <p class="note warn">
          {sqlite.map(plain).join(", ")} {sqlite.length === 1 ? "has" : "have"}{" "}
          SQLite databases, whose files may be of different moments: choose stop or pause.
        </p>
      )}
    </>
  );
}

/** @param props.targets Those to choose from. */
export function BackUpDialog({ subject, targets, onClose }: {
  subject: Subject;
  targets: BackupSnapshotList["targets"];
  onClose: () => void;
}) {
  const mode = useSignal<Mode>("");
  const target = useSignal(targets.find((each) => each.default)?.name ?? targets[0]?.name ?? "");
  const name = nameOf(subject);
  const isStack = "stack" in subject;
  const start = async (values: FormValues) => {
    if (isStack && values.isSetting) {
      await api("PUT /api/backup/stacks/{name}/mode", {
        path: { name: subject.stack },
        body: { mode: mode.value || null },
      });
    }
    const job = await api("POST /api/backup/snapshots", {
      body: {
        ...isStack ? { stack: subject.stack } : { volumes: [subject.volume] },
        ...values.target && { target: values.target },
        ...mode.value && { mode: mode.value },
        ...values.note && { note: values.note },
        includeSharedUsers: values.includeSharedUsers ?? false,
        withImages: values.withImages ?? false,
      },
    });
    showStatus(`The backup of ${name} has begun`);
    void reportJob(
      () => Promise.resolve(job),
      `Backed up ${name}`,
      `The backup of ${name} has failed`,
    );
  };
  return (
    <FormDialog title={`Back up ${name}`} submit="Back up" onSubmit={start} onClose={onClose}>
      {targets.length === 0
        ? (
          <p class="note">
            The first backup creates a target in DATA_DIR/snapshots, which is on the disk of this
            host: add one elsewhere, too. <code>longshore backup-key show</code>{" "}
            prints its password: keep a copy outside of the host.
          </p>
        )
        : (
          <SelectField
            label="Target"
            name="target"
            choice={target}
            options={targets.map((target) => target.name)}
          />
        )}
      <Estimate subject={subject} target={target.value || undefined} chosen={mode.value} />
      <SelectField
        label="Mode"
        name="mode"
        choice={mode}
        options={MODES}
        hint={MEANINGS[mode.value]}
      />
      <TextField
        label="Note"
        name="note"
        maxLength={200}
        placeholder="before the move"
        hint="Optional"
      />
      {isStack && (
        <>
          {hasRole("admin", "backup:write") && (
            <CheckField
              label="Use this mode for all backups of the stack, unless a label says otherwise"
              name="isSetting"
            />
          )}
          <CheckField
            label="Also stop or pause containers of other stacks that use its volumes"
            name="includeSharedUsers"
          />
          <CheckField
            label="Also store its images, for a host without their registry"
            name="withImages"
          />
        </>
      )}
    </FormDialog>
  );
}
