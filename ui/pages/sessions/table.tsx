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

const ofSession = ({ current }: SessionRow) => current && <Badge tone="good">This session</Badge>;

const sortBrowser = ({ userAgent }: SessionRow) => browserName(userAgent);

const ADDRESS = textColumn<SessionRow>("Address", ({ address }) => address || null, {
  ...{ width: "w-l", wide: true },
});

const OTHERS: readonly Column<SessionRow>[] = [
  {
    title: "User",
    cell: (session) => (
      <span class="name-cell wraps">
        <Text>{session.user}</Text>
        {ofSession(session)}
      </span>
    ),
    sort: ({ user }) => user,
  },
  ADDRESS,
  {
    title: "Browser",
    cell: ({ userAgent }) => (
      <span class="wraps" title={plain(userAgent ?? "")}>
        <span class="cut">{browserName(userAgent)}</span>
      </span>
    ),
    sort: sortBrowser,
  },
];

/** All are of one user. */
const OWN: readonly Column<SessionRow>[] = [
  {
    title: "Browser",
    cell: (session) => (
      <span class="name-cell wraps" title={plain(session.userAgent ?? "")}>
        <span>{browserName(session.userAgent)}</span>
        {ofSession(session)}
      </span>
    ),
    sort: sortBrowser,
  },
  ADDRESS,
];

const TIMES: readonly Column<SessionRow>[] = [
  timeColumn("Created", ({ createdAt }) => createdAt, { width: "w-m", wide: true }),
  timeColumn("Last used", ({ lastUsedAt }) => lastUsedAt, { width: "w-s" }),
];

export function SessionTable({ rows, total, reading, isOwn = false }: {
  /** `undefined` while they are read. */
  rows: readonly SessionRow[] | undefined;
  total: number | undefined;
  reading: ListReading;
  /** Whether all are of the user. */
  isOwn?: boolean;
}) {
  return (
    <Listing
      name="Sessions"
      columns={[...isOwn ? OWN : OTHERS, ...TIMES]}
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
