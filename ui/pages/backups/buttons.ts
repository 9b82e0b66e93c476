/** Buttons that back up a stack or a volume, and schedule that. @module */

import type { BackupSnapshotList, Schedule } from "../../api/types.ts";
import type { useDialog } from "../../components/dialog.tsx";
import { hasRole } from "../../state/session.ts";
import { ScheduleForm } from "../schedules/form.tsx";
import { BackUpDialog, type Subject } from "./back_up.tsx";
import { mayChangeSchedules, presetFor } from "./scheduled.tsx";

interface BackupButton {
  text: string;
  open(subject: Subject, known: {
    targets: BackupSnapshotList["targets"];
    /** Those of the subject. */
    schedules: readonly Schedule[];
  }): void;
}

/** Those that the user may press. */
export const backupButtons = (
  dialog: ReturnType<typeof useDialog>,
  reloadSchedules: () => void,
): BackupButton[] => [
  ...hasRole("operator", "backup:run")
    ? [
      {
        text: "Back up",
        open: (subject, { targets }) => dialog.open(BackUpDialog, { subject, targets }),
      } satisfies BackupButton,
    ]
    : [],
  ...mayChangeSchedules()
    ? [
      {
        text: "Schedule",
        open: (subject, { schedules: [item] }) =>
          dialog.open(ScheduleForm, { item, preset: presetFor(subject), onSaved: reloadSchedules }),
      } satisfies BackupButton,
    ]
    : [],
];
