/** Sessions in a table, and how they are ended. @module */

import type { ApiError } from "../../api/client.ts";
import type { Session } from "../../api/types.ts";
import { textColumn, timeColumn } from "../../components/columns.tsx";
import { confirm } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import { Badge, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../base/text.ts";
import { signOut } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { browserName } from "./browser.ts";

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

export function SessionTable({ rows, total, error, onChange }: {
  /** `undefined` while they are read. */
  rows: readonly SessionRow[] | undefined;
  total: number | undefined;
  error: ApiError | undefined;
  /** Reads them again. */
  onChange: () => void;
}) {
  return (
    <Listing
      name="Sessions"
      columns={COLUMNS}
      rows={rows}
      total={total}
      error={error}
      onRetry={onChange}
      nameOf={({ user, userAgent }) => `${user}, ${browserName(userAgent)}`}
      {...rows?.some(({ revoke }) => revoke) && {
        actions: (row: SessionRow) => [
          row.current
            ? { name: "Sign out", onSelect: () => void signOut() }
            : { name: "Revoke", danger: true, onSelect: () => void revoke(row, onChange) },
        ],
      }}
      defaultSort="-last-used"
      empty="This user is not signed in anywhere."
    />
  );
}

async function revoke(row: SessionRow, onDone: () => void) {
  const browser = browserName(row.userAgent);
  const consequence = `${plain(row.user)} is signed out of ${browser}` +
    `${row.address ? ` at ${plain(row.address)}` : ""}, and open pages there end immediately.`;
  if (!await confirm({ verb: "Revoke", name: `the session of ${row.user}`, consequence })) return;
  if (await withResult(`Revoked the session of ${plain(row.user)}`, row.revoke!)) onDone();
}
