/** Tab of the targets: where snapshots are stored. @module */

import { api } from "../../api/client.ts";
import type { BackupTarget, EstablishedBackupTarget } from "../../api/types.ts";
import { bytes, plain } from "../../base/text.ts";
import { type Column, numberColumn, textColumn } from "../../components/columns.tsx";
import { useDialog } from "../../components/dialog.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { useRead } from "../../components/reading.ts";
import { ResourceTab } from "../../components/resource.tsx";
import { SecretDialog } from "../../components/secret_dialog.tsx";
import { Badge, Reason, State, Text } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { reportJob } from "../../state/jobs.ts";
import { sentenceOf, showAlert, showStatus, withResult } from "../../state/toasts.ts";
import { ForgetDialog } from "./forget.tsx";
import { TargetForm } from "./target_form.tsx";
import { UnlockDialog } from "./unlock.tsx";

export function Targets() {
  const reading = useRead("GET /api/backup/targets", {});
  const dialog = useDialog();
  const showPassword = ({ name, newPassword }: EstablishedBackupTarget) => {
    if (newPassword === null) return;
    dialog.open(SecretDialog, {
      title: "Repository created",
      label: "Password",
      secret: newPassword,
      children:
        `The snapshots in ${plain(name)} cannot be restored without this password. Keep a copy ` +
        "outside of this host. The command longshore backup-key show prints it here.",
    });
  };
  return (
    <ResourceTab
      title="Targets"
      noun="target"
      reading={reading}
      rows={reading.data.value?.targets}
      columns={COLUMNS}
      write={["admin", "backup:write"]}
      form={TargetForm}
      onSaved={(target) => {
        showPassword(target);
        if (target.lastTestAt === null) void test(target).then(reading.reload);
      }}
      dialog={dialog}
      actions={(target, { edit, remove, mayWrite }) => [
        ...edit,
        ...mayWrite
          ? ownActions(target, {
            forget: () => dialog.open(ForgetDialog, { target }),
            unlock: () => dialog.open(UnlockDialog, { target }),
            onDone: reading.reload,
          })
          : [],
        ...remove,
      ]}
      deletion={{
        consequence: ({ name, location }) =>
          `Longshore forgets the target ${plain(name)} and its password, which you need to read ` +
          `what is stored there. The snapshots in ${plain(location)} stay.`,
        work: ({ id }) => api("DELETE /api/backup/targets/{id}", { path: { id } }),
      }}
      defaultSort="name"
      hasTallRows
      empty={"No targets yet. Snapshots are stored in a target: a directory, a bucket that speaks " +
        "S3, or a server of restic's REST protocol. restic can read all of them."}
    />
  );
}

function ownActions(
  target: BackupTarget,
  { forget, unlock, onDone }: Record<"forget" | "unlock" | "onDone", () => void>,
): readonly MenuItem[] {
  const { id, name, default: isDefault } = target;
  const makeDefault = () =>
    withResult(
      `${plain(name)} is the default target`,
      () => api("PUT /api/backup/targets/{id}", { path: { id }, body: { default: true } }),
    ).then(onDone);
  const input = { path: { id }, body: {} };
  const check = () =>
    reportJob(
      () => api("POST /api/backup/targets/{id}/check", input),
      `Checked ${plain(name)}: no problems`,
      `Check of ${plain(name)} failed`,
    );
  const prune = () =>
    reportJob(() => api("POST /api/backup/targets/{id}/prune", input), `Pruned ${plain(name)}`);
  return [
    { name: "Test", onSelect: () => void test(target).then(onDone) },
    { name: "Check", onSelect: () => void check().then(onDone) },
    { name: "Forget", onSelect: forget },
    { name: "Prune", onSelect: () => void prune().then(onDone) },
    { name: "Unlock", onSelect: unlock },
    ...isDefault ? [] : [{ name: "Make default", onSelect: () => void makeDefault() }],
  ];
}

const KINDS = { directory: "Directory", s3: "S3", rest: "REST server" };

const COLUMNS: readonly Column<BackupTarget>[] = [
  {
    title: "Name",
    cell: ({ name, default: isDefault }) => (
      <span class="name-cell wraps">
        <Text>{name}</Text>
        {isDefault && <Badge>Default</Badge>}
      </span>
    ),
    sort: ({ name }) => name,
  },
  textColumn("Kind", ({ kind }) => KINDS[kind], { width: "w-s", wide: true }),
  {
    title: "Location",
    cell: ({ location }) => <Text>{location.replace(/^(s3|rest):/, "")}</Text>,
    sort: ({ location }) => location,
    wide: true,
  },
  numberColumn("Room left", ({ room }) => room, (room) => room === null ? "–" : bytes(room), {
    width: "w-s",
  }),
  {
    title: "Last test",
    cell: ({ lastTestAt, lastTestError }) => (
      <>
        {lastTestAt === null ? <State state="not tested" tone="idle" /> : (
          <State
            state={lastTestError === null ? "OK" : "failed"}
            tone={lastTestError === null ? "good" : "bad"}
          />
        )}
        <Reason>{lastTestError}</Reason>
      </>
    ),
    sort: ({ lastTestAt }) => lastTestAt,
    width: "w-l",
  },
  {
    title: "Last check",
    cell: ({ lastCheckAt, lastCheckError }) => (
      <>
        <Time at={lastCheckAt} />
        <Reason>{lastCheckError}</Reason>
      </>
    ),
    sort: ({ lastCheckAt }) => lastCheckAt,
    width: "w-m",
    wide: true,
  },
];

/** A target that does not answer is a result of the test, not a refusal. */
async function test({ id, name }: BackupTarget): Promise<void> {
  try {
    const { ok, error } = await api("POST /api/backup/targets/{id}/test", { path: { id } });
    if (ok) showStatus(`Tested ${plain(name)}: it opens, and accepts files`);
    else showAlert(`Test of ${plain(name)} failed: ${plain(error ?? "no reason given")}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
