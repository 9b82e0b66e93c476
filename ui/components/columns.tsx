/**
 * Columns that many tables have.
 *
 * @module
 */

import { hasRole } from "../state/session.ts";
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

/** The switch "Enable <name>" of each row, for admins. */
export const enabledColumn = <Row extends { name: string; enabled: boolean }>(
  onSwitch: (row: Row, enabled: boolean) => void,
): Column<Row> => ({
  title: "Enabled",
  cell: (row) => (
    <Switch
      name={`Enable ${plain(row.name)}`}
      checked={row.enabled}
      disabled={!hasRole("admin")}
      onChange={(enabled) => onSwitch(row, enabled)}
    />
  ),
  sort: ({ enabled }) => Number(enabled),
  width: "w-xs",
});
