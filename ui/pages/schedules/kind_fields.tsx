/** The fields of a form that belong to kinds of schedules; the service says which kind has which. @module */

import type { ComponentChildren } from "preact";
import { plain } from "../../base/text.ts";
import type { NewSchedule, Schedule, ScheduleKind } from "../../api/types.ts";
import { CheckGroup } from "../../components/check_group.tsx";
import { CheckField, SelectField, TextField } from "../../components/fields.tsx";
import { type FormValues, listOf } from "../../components/form_values.ts";
import { useRead } from "../../components/reading.ts";
import { KeepFields, readKeep } from "../../parts/keep.tsx";
import { AGES, KINDS } from "../../parts/prune.tsx";
import { containers } from "../../state/live.ts";
import { MODES } from "../backups/modes.ts";

type FieldName = ScheduleKind["fields"][number]["name"];

/** Settings with which a form begins. */
export type Settings = { [Name in keyof Schedule]?: Schedule[Name] | undefined };

type Read = { [Name in keyof NewSchedule]?: NewSchedule[Name] | undefined };

interface KindField {
  show(item: Settings, isRequired: boolean): ComponentChildren;
  /** The settings in a form's values; `undefined` for none. */
  read(values: FormValues, item: Settings): Read;
}

/** The names of the others are shown with the container or stack. */
export const FIELDS: Partial<Record<FieldName, KindField>> = {
  containerId: {
    show: (item) => <ContainerField item={item} />,
    read: ({ container }, item) => containerOf(container, item),
  },
  stack: {
    show: (item, isRequired) => <StackField item={item} isRequired={isRequired} />,
    read: ({ stack }) => ({ stack: stack || undefined }),
  },
  volumes: {
    show: ({ volumes }) => (
      <TextField
        label="Volumes"
        name="volumes"
        value={volumes?.join(", ")}
        placeholder="shop_data"
        hint="Instead of a stack; names with commas between them"
      />
    ),
    read: ({ volumes }) => ({ volumes: listOf(volumes) ?? undefined }),
  },
  target: {
    show: (item, isRequired) => <BackupTargetField item={item} isRequired={isRequired} />,
    read: ({ target }) => ({ target: target || undefined }),
  },
  mode: {
    show: ({ mode }) => (
      <SelectField
        label="Mode"
        name="mode"
        value={mode ?? ""}
        options={MODES}
        hint="Automatic: as the label longshore.backup says, or as suits the containers"
      />
    ),
    read: ({ mode }) => ({ mode: mode || undefined }),
  },
  includeSharedUsers: {
    show: ({ includeSharedUsers }) => (
      <CheckField
        label="Also stop or pause containers of other stacks that use its volumes"
        name="includeSharedUsers"
        checked={includeSharedUsers ?? false}
      />
    ),
    read: ({ includeSharedUsers }) => ({ includeSharedUsers: includeSharedUsers || undefined }),
  },
  keep: {
    show: ({ keep }) => <KeepFields keep={keep} />,
    read: (values, item) => ({ keep: readKeep(values, item.keep) }),
  },
  prune: { show: ({ prune }) => <PruneFields prune={prune} />, read: readPrune },
  maxUnusedPercent: {
    show: ({ maxUnusedPercent }) => (
      <TextField
        label="Unused data that may stay (%)"
        name="maxUnusedPercent"
        type="number"
        min={0}
        max={100}
        value={maxUnusedPercent}
        placeholder="5"
      />
    ),
    read: ({ maxUnusedPercent }) => ({ maxUnusedPercent }),
  },
};

/** By name, because a container that is created again has another id. */
function ContainerField({ item: { containerName: name } }: { item: Settings }) {
  const names = (containers.value ?? []).filter(({ self }) => !self).map((each) => each.name)
    .sort();
  const options = names.map((each) => ({ value: each, name: each }));
  const first = name === undefined
    ? [{ value: "", name: "Choose a container" }]
    : names.includes(name)
    ? []
    : [{ value: name, name: `${name} (missing)` }];
  return (
    <SelectField
      label="Container"
      name="container"
      value={name}
      options={[...first, ...options]}
      required
    />
  );
}

function containerOf(
  name: string,
  item: Settings,
): Read {
  const found = (containers.value ?? []).find((each) => each.name === name);
  if (found) return { containerId: found.id, containerName: name };
  const containerId = item.containerName === name ? item.containerId! : name;
  return { containerId, containerName: name, allowMissing: true };
}

function StackField({ item: { stack }, isRequired }: { item: Settings; isRequired: boolean }) {
  const { data } = useRead("GET /api/stacks", {});
  const known = (data.value?.stacks ?? []).map(({ name }) => name);
  const names = [...new Set([...known, ...stack === undefined ? [] : [stack]])].sort();
  return (
    <SelectField
      // Options that come later would not be selected.
      key={names.length}
      label="Stack"
      name="stack"
      value={stack ?? ""}
      options={[
        { value: "", name: isRequired ? "Choose a stack" : "No stack" },
        ...names.map((name) => ({ value: name, name })),
      ]}
      required={isRequired}
    />
  );
}

function BackupTargetField(
  { item: { target }, isRequired }: { item: Settings; isRequired: boolean },
) {
  const { data } = useRead("GET /api/backup/targets", {});
  const known = (data.value?.targets ?? []).map(({ name }) => name);
  const names = [...new Set([...known, ...target === undefined ? [] : [target]])];
  return (
    <SelectField
      key={names.length}
      label="Backup target"
      name="target"
      value={target ?? ""}
      options={[
        { value: "", name: isRequired ? "Choose a target" : "Default target" },
        ...names.map((name) => ({ value: name, name })),
      ]}
      required={isRequired}
    />
  );
}

const PRUNED = Object.entries(KINDS).map(([value, { label }]) => ({ value, name: label }));
const SAFE = PRUNED.map(({ value }) => value).filter((value) => value !== "volumes");

function PruneFields({ prune }: Pick<Settings, "prune">) {
  const kinds = (prune?.kinds ?? SAFE).filter((kind) => kind !== "volumes");
  const hours = prune?.olderThanHours ?? 24;
  const ages = AGES.map(({ hours, name }) => ({ value: String(hours), name }));
  const isListed = ages.some(({ value }) => value === String(hours));
  return (
    <>
      <CheckGroup
        label="Remove"
        name="prune.kinds"
        options={PRUNED}
        checked={[...kinds, ...prune?.includeVolumes ? ["volumes"] : []]}
        required
      />
      <CheckField
        label="Unused images with a tag, too"
        name="prune.unusedImages"
        checked={prune?.unusedImages ?? false}
      />
      <SelectField
        label="Age"
        name="prune.olderThanHours"
        value={String(hours)}
        options={isListed
          ? ages
          : [...ages, { value: String(hours), name: plain(`Older than ${hours} hours`) }]}
      />
    </>
  );
}

function readPrune(values: FormValues): Read {
  return {
    prune: {
      kinds: values["prune.kinds"],
      includeVolumes: values["prune.kinds"].includes("volumes"),
      unusedImages: values["prune.unusedImages"],
      olderThanHours: Number(values["prune.olderThanHours"]),
    },
  };
}
