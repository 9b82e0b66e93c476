/**
 * Sessions: where the users of this server are signed in.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import { Newest } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { count, plain } from "../../components/text.ts";
import { query, setQuery } from "../../state/router.ts";
import { AUTH_MODE } from "../../state/session.ts";
import { OwnSessions } from "./own.tsx";
import { SessionTable } from "./table.tsx";

/** Limit of shown sessions. */
const SHOWN_MAX = 500;

export default function Sessions() {
  return (
    <Page title="Sessions">
      {AUTH_MODE === "key" ? <OwnSessions /> : <UserSessions />}
    </Page>
  );
}

function UserSessions() {
  const user = query.value.get("user") ?? "";
  const users = useRead("GET /auth/users", {}).data.value?.users;
  const { data, error, reload } = useRead("GET /api/sessions", {
    query: { limit: SHOWN_MAX, ...(user && { user }) },
  });
  const page = data.value;
  const rows = page?.sessions.map(({ userId, email, ...session }) => ({
    ...session,
    user: email,
    revoke: () =>
      api("DELETE /api/users/{id}/sessions/{sessionId}", {
        path: { id: userId, sessionId: session.id },
      }),
  }));
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <select
          aria-label="User"
          value={user}
          onChange={(event) => setQuery({ user: event.currentTarget.value })}
        >
          <option value="">All users</option>
          {users?.map(({ id, email }) => <option key={id} value={id}>{plain(email)}</option>)}
        </select>
        {page && <span class="summary" role="status">{count(page.total, "session")}</span>}
      </div>
      <SessionTable rows={rows} error={error.value} onChange={reload} />
      {page && <Newest shown={page.sessions.length} total={page.total} />}
    </>
  );
}
