/** Sessions in a table, and how they are ended. @module */

import type { Session } from "../../api/types.ts";
import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { Listing, type ListReading } from "../../components/listing.tsx";
import { Badge, Text } from "../../components/states.tsx";
import { plain } from "../../base/text.ts";
import { signOut } from "../../state/session.ts";
import { browserName } from "./browser.ts";
import { deleteItem, type Deletion } from "../../components/deletion.ts";

export interface SessionRow extends Session {
  /** The email address, or "API key". */
  user: string;
  /** Revokes it; missing where the user may not. */
  revoke?: (() => Promise<unknown>) | undefined;
}

const COLUMNS: readonly Column<SessionRow>[] = [
  {
    title: "User",
    cell: ({ user, current }) => (
      <span class="name-cell wraps">
        <Text>{user}</Text>
        {current && <Badge tone="good">This session</Badge>}
      </span>
    ),
    sort: ({ user }) => user,
  },
  textColumn("Address", ({ address }) => address || null, { width: "w-l", wide: true }),
  {
    title: "Browser",
    cell: ({ userAgent }) => (
      <span class="wraps" title={plain(userAgent ?? "")}>
        <span class="cut">{browserName(userAgent)}</span>
      </span>
    ),
    sort: ({ userAgent }) => browserName(userAgent),
  },
  timeColumn("Created", ({ createdAt }) => createdAt, { width: "w-m", wide: true }),
  timeColumn("Last used", ({ lastUsedAt }) => lastUsedAt, { width: "w-s" }),
];

export function SessionTable({ rows, total, reading }: {
  /** `undefined` while they are read. */
  rows: readonly SessionRow[] | undefined;
  total: number | undefined;
  reading: ListReading;
}) {
  return (
    <Listing
      name="Sessions"
      columns={COLUMNS}
      rows={rows}
      total={total}
      reading={reading}
      nameOf={({ user, userAgent }) => `${user}, ${browserName(userAgent)}`}
      {...rows?.some(({ revoke }) => revoke) && {
        actions: (row: SessionRow) => [
          row.current
            ? { name: "Sign out", onSelect: () => void signOut() }
            : deleteItem(row, REVOCATION, reading.reload),
        ],
      }}
      defaultSort="-last-used"
      empty="This user is not signed in anywhere."
    />
  );
}

const REVOCATION: Deletion<SessionRow> = {
  verb: "Revoke",
  nameOf: ({ user }) => `the session of ${user}`,
  consequence: ({ user, userAgent, address }) =>
    `${plain(user)} is signed out of ${browserName(userAgent)}` +
    `${address ? ` at ${plain(address)}` : ""}, and open pages there end immediately.`,
  work: ({ revoke }) => revoke!(),
};
