/** Sessions: where the users of this server are signed in. @module */

import { api } from "../../api/client.ts";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { QuerySelect } from "../../components/search.tsx";
import { count } from "../../base/text.ts";
import { query } from "../../state/router.ts";
import { AUTH_MODE, hasRole } from "../../state/session.ts";
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
    revoke: hasRole("admin", "users:write")
      ? () =>
        api("DELETE /api/users/{id}/sessions/{sessionId}", {
          path: { id: userId, sessionId: session.id },
        })
      : undefined,
  }));
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <QuerySelect
          name="User"
          param="user"
          all="All users"
          options={users?.map(({ id, email }) => ({ value: id, name: email })) ?? []}
        />
        {page && <span class="summary" role="status">{count(page.total, "session")}</span>}
      </div>
      <SessionTable rows={rows} total={page?.total} reading={{ error, reload }} />
    </>
  );
}
