/** Volumes: the table of all, creating and removing them. @module */

import { useEffect } from "preact/hooks";
import { api } from "../api/client.ts";
import type { Volume } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import {
  type Column,
  NAME_COLUMN,
  numberColumn,
  textColumn,
  timeColumn,
} from "../components/columns.tsx";
import { useDialog } from "../components/dialog.tsx";
import { SelectField, TextArea, TextField } from "../components/fields.tsx";
import { EditDialog, type EditProps } from "../components/form.tsx";
import { type FormValues, pairsOf } from "../components/form_values.ts";
import { useRead } from "../components/reading.ts";
import { Badge } from "../components/states.tsx";
import { bytes, plain } from "../base/text.ts";
import { volumePath } from "../paths.ts";
import { href } from "../state/router.ts";
import { hasRole } from "../state/session.ts";
import { Incomplete } from "../parts/incomplete.tsx";
import { PruneDialog } from "../parts/prune.tsx";
import { useContainerChanges, UsedBy } from "../parts/used_by.tsx";
import { ResourcePage } from "../components/resource.tsx";

/** The engine's names of volumes that were created without one. */
const ANONYMOUS = /^[0-9a-f]{64}$/;

const COLUMNS: readonly Column<Volume>[] = [
  {
    ...NAME_COLUMN,
    cell: ({ name, warning }) =>
      ANONYMOUS.test(name)
        ? (
          <span class="name-cell" title={name}>
            <a href={href(volumePath(name))}>{name.slice(0, 12)}</a>
            <span class="wide">
              <Badge>Anonymous</Badge>
            </span>
            <Incomplete warning={warning} />
          </span>
        )
        : (
          <span class="name-cell">
            <a class="cut" href={href(volumePath(name))}>{plain(name)}</a>
            <Incomplete warning={warning} />
          </span>
        ),
  },
  textColumn("Driver", ({ driver }) => driver, { wide: true, width: "w-s" }),
  numberColumn("Size", ({ size }) => size, bytes, { width: "w-xs" }),
  {
    title: "Containers",
    cell: ({ containers }) => <UsedBy names={containers} />,
    sort: ({ containers }) => containers.length,
  },
  timeColumn("Created", ({ createdAt }) => createdAt, { wide: true, width: "w-s" }),
];

export default function Volumes() {
  const reading = useRead("GET /api/volumes", {});
  const { reload } = reading;
  useContainerChanges(reload);
  const volumes = reading.data.value?.volumes;
  useSizes(volumes, reload);
  const dialog = useDialog();
  const prune = () =>
    dialog.open(PruneDialog, { things: "volumes", kinds: ["volumes"], onPruned: reload });
  const mayPrune = hasRole("admin", "system:prune") && hasRole("admin", "volumes:prune");
  return (
    <ResourcePage
      title="Volumes"
      noun="volume"
      reading={reading}
      rows={volumes}
      columns={COLUMNS}
      keyOf={({ name }) => name}
      write={["admin", "volumes:write"]}
      form={(props) => <NewVolume {...props} drivers={driversOf(volumes)} />}
      deletion={{
        verb: "Remove",
        access: ["admin", "volumes:delete"],
        consequence: describeLoss,
        work: ({ name }) => api("DELETE /api/volumes/{name}", { path: { name } }),
        typed: true,
      }}
      actionsFor={["admin", "volumes:delete"]}
      actions={(_, { remove }) => remove}
      search={{ textOf, placeholder: "Filter by name, driver, label or container" }}
      dialog={dialog}
      defaultSort="name"
      empty="This host has no volumes yet. Containers keep data in them that outlives the container."
      buttons={mayPrune && <Button onClick={prune}>Prune volumes</Button>}
    />
  );
}

/** The list has sizes only after the engine has measured them, which it does here if it has not. */
function useSizes(volumes: readonly Volume[] | undefined, reload: () => void): void {
  const isUnknown = volumes !== undefined && volumes.length > 0 &&
    volumes.every(({ size }) => size === null);
  const { data } = useRead("GET /api/system/disk", isUnknown ? {} : undefined);
  useEffect(() => {
    if (data.value) reload();
  }, [data.value]);
}

function NewVolume({ drivers, ...dialog }: EditProps<Volume> & { drivers: readonly string[] }) {
  const save = ({ name, driver, options, labels }: FormValues) => {
    const body = { name, driver, options: pairsOf(options), labels: pairsOf(labels) };
    return api("POST /api/volumes", { body });
  };
  return (
    <EditDialog noun="volume" save={save} {...dialog}>
      <TextField label="Name" name="name" required maxLength={255} autocomplete="off" />
      <SelectField label="Driver" name="driver" options={drivers} value="local" />
      <TextArea
        label="Driver options"
        name="options"
        rows={3}
        code
        hint="Optional, one per line, e.g. type=nfs, o=addr=10.0.0.5,rw and device=:/export/data"
      />
      <TextArea label="Labels" name="labels" rows={2} code hint="One per line: name=value" />
    </EditDialog>
  );
}

/** Those that existing volumes have, and the engine's own. */
const driversOf = (volumes: readonly Volume[] | undefined): string[] => [
  ...new Set(["local", ...volumes?.map(({ driver }) => driver) ?? []]),
];

function describeLoss({ name, size, containers }: Volume): string {
  const files = size === null ? "all files in it" : `all files in it (${bytes(size)})`;
  const users = containers.length === 0
    ? ""
    : ` These containers use it: ${containers.map(plain).join(", ")}.`;
  return `The volume ${plain(name)} and ${files} are deleted. This cannot be undone.${users}`;
}

const textOf = ({ name, driver, labels, containers }: Volume) =>
  [name, driver, ...Object.entries(labels).map((pair) => pair.join("=")), ...containers].join("\n");
