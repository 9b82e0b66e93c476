/** Everything besides the stacks: other programs, directories, single containers, stacks taken over. @module */

import { api } from "../../api/client.ts";
import type { Takeover } from "../../api/types.ts";
import { confirm } from "../../components/dialog.tsx";
import { type Column, Name } from "../../components/columns.tsx";
import { ListingSection } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Reason, Text, withBreaks } from "../../components/states.tsx";
import { count, plain } from "../../base/text.ts";
import { stackPath } from "../../paths.ts";
import { href, navigate } from "../../state/router.ts";
import { withResult } from "../../state/toasts.ts";
import { SourceText } from "./columns.tsx";

/** Lists here are parts of a report, which is read as a whole. */
const READING = { error: { value: undefined }, reload() {} };

type Manager = Takeover["managers"][number];

const UPDATES = {
  all: "Updates all containers",
  own: "Updates its own stacks",
  none: "Does not update",
} as const;

const MANAGER_COLUMNS: readonly Column<Manager>[] = [
  {
    title: "Program",
    cell: ({ name, container }) => (
      <>
        <Name>{name}</Name>
        <p class="hint">{plain(container)}</p>
      </>
    ),
  },
  {
    title: "Updates",
    cell: ({ updates, setting }) => (
      <>
        {UPDATES[updates]}
        {setting !== "" && <p class="hint">{setting}</p>}
      </>
    ),
  },
  {
    title: "Stacks",
    cell: ({ stacks }) => <Text>{stacks.join(", ") || null}</Text>,
    wide: true,
  },
];

export function Managers({ managers }: { managers: readonly Manager[] }) {
  if (managers.length === 0) return null;
  return (
    <ListingSection
      title="Other programs"
      columns={MANAGER_COLUMNS}
      rows={managers}
      reading={READING}
      empty=""
      keyOf={({ container }) => container}
      hasTallRows
    />
  );
}

type Directory = Takeover["directories"][number];

const DIRECTORY_COLUMNS: readonly Column<Directory>[] = [
  {
    title: "Directory",
    cell: ({ path, error }) => (
      <>
        <span class="wrap">{withBreaks(path)}</span>
        <Reason>{error}</Reason>
      </>
    ),
  },
  {
    title: "Services",
    cell: ({ services }) => <Text>{services.join(", ") || null}</Text>,
    wide: true,
  },
];

export function Directories({ directories, onDone }: {
  directories: readonly Directory[];
  onDone: () => void;
}) {
  if (directories.length === 0) return null;
  const deploy = async ({ name, path }: Directory) => {
    const isDone = await withResult(
      `${plain(name)} is being deployed`,
      () => api("POST /api/stacks", { body: { name, directory: path } }),
    );
    if (isDone) onDone();
  };
  const menuOf = (directory: Directory): MenuItem[] =>
    directory.error === undefined
      ? [{ name: "Deploy", onSelect: () => void deploy(directory) }]
      : [];
  return (
    <ListingSection
      title="Directories without containers"
      name="Directories"
      columns={DIRECTORY_COLUMNS}
      rows={directories}
      reading={READING}
      empty=""
      keyOf={({ path }) => path}
      actions={menuOf}
      hasTallRows
    />
  );
}

type LooseContainer = Takeover["containers"][number];

const LOOSE_COLUMNS: readonly Column<LooseContainer>[] = [
  {
    title: "Container",
    cell: ({ id, name }) => (
      <a class="name cut" href={href(`/containers/${id.slice(0, 12)}`)}>{plain(name)}</a>
    ),
  },
  {
    title: "Image",
    cell: ({ image, unit }) => (
      <>
        <Text>{image}</Text>
        {unit !== null && (
          <p class="hint">
            Owned by {plain(unit)}; restart it with <code>systemctl restart {plain(unit)}</code>
          </p>
        )}
      </>
    ),
  },
];

/** Containers without a stack: their Compose file can be generated. */
export function Loose({ containers }: { containers: readonly LooseContainer[] }) {
  if (containers.length === 0) return null;
  return (
    <ListingSection
      title="Containers without a stack"
      columns={LOOSE_COLUMNS}
      rows={containers}
      reading={READING}
      empty=""
      actions={({ id, unit }) =>
        unit === null
          ? [{ name: "Generate", onSelect: () => navigate(`/stacks/new?container=${id}`) }]
          : []}
      hasTallRows
    />
  );
}

type ManagedStack = Takeover["managed"][number];

const MANAGED_COLUMNS: readonly Column<ManagedStack>[] = [
  {
    title: "Stack",
    cell: ({ name }) => (
      <a class="name cut" href={href(stackPath({ name }, "source"))}>{plain(name)}</a>
    ),
  },
  { title: "Source", cell: ({ source }) => <SourceText source={source} /> },
  { title: "Version", cell: ({ version }) => version, numeric: true, wide: true, width: "w-s" },
];

export function Managed({ managed, onDone }: {
  managed: readonly ManagedStack[];
  onDone: () => void;
}) {
  if (managed.length === 0) return null;
  const giveBack = async ({ name, version }: ManagedStack) => {
    const isSure = await confirm({
      verb: "Give back",
      name,
      consequence: `Longshore forgets its sources${
        version > 1 ? `, with ${count(version, "version")}` : ""
      }. Containers and files stay as they are.`,
      isSafe: true,
    });
    if (!isSure) return;
    const isDone = await withResult(
      `Gave back ${plain(name)}`,
      () => api("DELETE /api/takeover/{name}", { path: { name } }),
    );
    if (isDone) onDone();
  };
  return (
    <ListingSection
      title="Managed here"
      columns={MANAGED_COLUMNS}
      rows={managed}
      reading={READING}
      empty=""
      keyOf={({ name }) => name}
      actions={(stack) => [{ name: "Give back", onSelect: () => void giveBack(stack) }]}
      hasTallRows
    />
  );
}
