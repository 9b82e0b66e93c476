/**
 * Columns that many tables have.
 *
 * @module
 */

import { href } from "../state/router.ts";
import { hasRole } from "../state/session.ts";
import { withResult } from "../state/toasts.ts";
import { Switch } from "./form.tsx";
import { Text } from "./states.tsx";
import type { Column } from "./table.tsx";
import { plain } from "./text.ts";

export const NAME_COLUMN: Column<{ name: string }> = {
  title: "Name",
  cell: ({ name }) => (
    <span class="name-cell">
      <Text>{name}</Text>
    </span>
  ),
  sort: ({ name }) => name,
};

/** The name of each row, as a link to its page below `path`. */
export const linkColumn = (path: string): Column<{ id: string; name: string }> => ({
  ...NAME_COLUMN,
  cell: ({ id, name }) => (
    <span class="name-cell">
      <a class="cut" href={href(`${path}/${id}`)}>{plain(name)}</a>
    </span>
  ),
});

/**
 * The switch "Enable <name>" of each row, for admins.
 *
 * @param onDone Called after a failure, too: reads what the switch shows.
 */
export const enabledColumn = <Row extends { name: string; enabled: boolean }>(
  enable: (row: Row, enabled: boolean) => Promise<unknown>,
  onDone: () => void,
): Column<Row> => ({
  title: "Enabled",
  cell: (row) => (
    <Switch
      name={`Enable ${plain(row.name)}`}
      checked={row.enabled}
      disabled={!hasRole("admin")}
      onChange={(enabled) =>
        void withResult(
          `${enabled ? "Enabled" : "Disabled"} ${plain(row.name)}`,
          () => enable(row, enabled),
        ).then(onDone)}
    />
  ),
  sort: ({ enabled }) => Number(enabled),
  width: "w-xs",
});
