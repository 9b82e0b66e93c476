/** The dialog that restores a stack or volumes of a snapshot, with a plan of what it does. @module */

import { useSignal } from "@preact/signals";
import type { BackupSnapshot, Volume } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Choice } from "../../components/choice.tsx";
import { confirm, Dialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/fields.tsx";
import { Form } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { Icon } from "../../components/icon.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { beginRestore, stops } from "./begin_restore.ts";
import { StackRestoreForm } from "./restore_stack.tsx";
import { contentOf, titleOf, volumeName } from "./snapshot_text.ts";

type Way = "new" | "replace";

const CONTENTS = ["Volumes", "Whole stack"] as const;
type Content = (typeof CONTENTS)[number];

const WAYS: readonly { value: Way; name: string }[] = [
  { value: "new", name: "New volumes beside the existing ones" },
  { value: "replace", name: "Replace the existing volumes" },
];

export function RestoreDialog({ snapshot, onClose }: {
  snapshot: BackupSnapshot;
  onClose: () => void;
}) {
  const { data, error, reload } = useRead("GET /api/volumes", {});
  const existing = data.value?.volumes;
  const hasBoth = snapshot.hasStack && snapshot.volumes.length > 0;
  const what = useSignal<Content>(snapshot.volumes.length > 0 ? "Volumes" : "Whole stack");
  return (
    <Dialog title={`Restore ${plain(titleOf(snapshot))}`} onClose={onClose} wide>
      {hasBoth && (
        <Choice
          name="Content"
          values={CONTENTS}
          value={what.value}
          onChange={(each) => what.value = each}
        />
      )}
      {what.value === "Whole stack"
        ? <StackRestoreForm snapshot={snapshot} onClose={onClose} />
        : error.value
        ? <Failure error={error.value} onRetry={reload} />
        : existing
        ? <RestoreForm snapshot={snapshot} existing={existing} onClose={onClose} />
        : <Loading name="Plan" />}
    </Dialog>
  );
}

function RestoreForm({ snapshot, existing, onClose }: {
  snapshot: BackupSnapshot;
  existing: readonly Volume[];
  onClose: () => void;
}) {
  const { id, volumes, target } = snapshot;
  const way = useSignal<Way>("new");
  const chosen = useSignal<string>(volumes.length === 1 ? volumes[0]! : "");
  const single = chosen.value === "" ? undefined : chosen.value;
  const restored = single === undefined ? volumes : [single];
  const replaced = restored.flatMap((name) => existing.find((each) => each.name === name) ?? []);
  const send = async (values: FormValues) => {
    const isReplacing = way.value === "replace";
    if (isReplacing && !await confirmReplace(snapshot, replaced)) return;
    await beginRestore(id, plain(restored.map(volumeName).join(", ")), {
      target,
      what: "volume",
      to: way.value,
      paths: restored.map((name) => `/volumes/${name.replaceAll("%", "%25")}`),
      ...!isReplacing && values.as && { as: values.as },
    });
    onClose();
  };
  return (
    <Form
      submit="Restore"
      onSubmit={send}
      onCancel={onClose}
      disabled={way.value === "replace" && replaced.length < restored.length}
      part={`${way.value} ${chosen.value}`}
    >
      {volumes.length > 1 && (
        <SelectField
          label="Volumes"
          name="volume"
          choice={chosen}
          options={[
            { value: "", name: `All ${volumes.length}` },
            ...volumes.map((name) => ({ value: name, name: volumeName(name) })),
          ]}
        />
      )}
      <SelectField label="Restore to" name="to" choice={way} options={WAYS} />
      {way.value === "new" && single !== undefined && (
        <TextField
          key={single}
          label="Name of the new volume"
          name="as"
          value={newName(single, existing)}
          maxLength={200}
          required
          autocomplete="off"
        />
      )}
      <h3>Plan</h3>
      {way.value === "new"
        ? (
          <p>
            {single === undefined
              ? `Creates ${restored.map((name) => plain(newName(name, existing))).join(", ")}. `
              : "Creates the volume. "}
            Nothing stops, and nothing that exists is changed.
          </p>
        )
        : restored.map((name) => (
          <Replacement
            key={name}
            name={name}
            volume={replaced.find((each) => each.name === name)}
          />
        ))}
    </Form>
  );
}

/** As the service chooses it. */
function newName(name: string, existing: readonly Volume[]): string {
  const isFree = (each: string) => !existing.some((volume) => volume.name === each);
  let free = `${name}-restored`;
  for (let number = 2; !isFree(free); number++) free = `${name}-restored-${number}`;
  return free;
}

function Replacement({ name, volume }: { name: string; volume: Volume | undefined }) {
  const shown = plain(volumeName(name));
  return (
    <div class={volume ? "note warn" : "note danger"}>
      <Icon name="alert" />
      <p>
        <strong>{shown}</strong>: {volume
          ? `all files in it are replaced, and kept as a snapshot of their own. ${
            stops(volume.containers)
          }`
          : "this host does not have this volume. Restore it as a new one."}
      </p>
    </div>
  );
}

/** Asks for the name of the volume, or for that of the stack where there are several. */
function confirmReplace(
  snapshot: BackupSnapshot,
  replaced: readonly Volume[],
): Promise<boolean> {
  const users = [...new Set(replaced.flatMap(({ containers }) => containers))];
  return confirm({
    verb: "Replace",
    name: replaced.length === 1 ? replaced[0]!.name : contentOf(snapshot),
    consequence: `All files in ${replaced.map(({ name }) => plain(volumeName(name))).join(", ")} ` +
      `are replaced by those of the snapshot. ${stops(users)}`,
    typed: true,
  });
}
