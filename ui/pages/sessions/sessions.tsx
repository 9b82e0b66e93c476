/**
 * Sessions: where the users of this server are signed in.
 *
 * @module
 */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api, ApiError } from "../../api/client.ts";
import type { User } from "../../api/types.ts";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { count, plain } from "../../components/text.ts";
import { query, setQuery } from "../../state/router.ts";
import { AUTH_MODE } from "../../state/session.ts";
import { OwnSessions } from "./own.tsx";
import { type SessionRow, SessionTable } from "./table.tsx";

/** Sessions that are read of each user. */
const SHOWN_MAX = 500;

/** Users whose sessions are read together; with more of them, one has to be chosen. */
const USERS_MAX = 25;

export default function Sessions() {
  return (
    <Page title="Sessions">
      {AUTH_MODE === "key" ? <OwnSessions /> : <UserSessions />}
    </Page>
  );
}

function UserSessions() {
  const { data, error, reload } = useRead("GET /auth/users", {});
  const users = data.value?.users;
  const id = query.value.get("user");
  const signedIn = users?.filter(({ lastLoginAt }) => lastLoginAt !== null);
  const isMany = signedIn !== undefined && signedIn.length > USERS_MAX;
  const chosen = id
    ? users?.filter((user) => user.id === id)
    : isMany
    ? signedIn.slice(0, 1)
    : signedIn;
  const sessions = useSessions(chosen);
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <select
          aria-label="User"
          value={(isMany ? chosen?.[0]?.id : id) ?? ""}
          onChange={(event) => setQuery({ user: event.currentTarget.value })}
        >
          {!isMany && <option value="">All users</option>}
          {users?.map((user) => <option key={user.id} value={user.id}>{plain(user.email)}</option>)}
        </select>
        {sessions.rows && (
          <span class="summary" role="status">{count(sessions.rows.length, "session")}</span>
        )}
      </div>
      <SessionTable
        rows={sessions.rows}
        error={error.value ?? sessions.error}
        onChange={error.value ? reload : sessions.reload}
      />
    </>
  );
}

/** The sessions of several users. */
function useSessions(users: readonly User[] | undefined) {
  const rows = useSignal<SessionRow[] | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const round = useSignal(0);
  const key = users?.map(({ id }) => id).join(" ");
  useEffect(() => {
    if (!users) return;
    const end = new AbortController();
    Promise.all(users.map((user) => readSessions(user, end.signal))).then((found) => {
      rows.value = found.flat();
      error.value = undefined;
    }).catch((problem) => {
      if (end.signal.aborted) return;
      if (!(problem instanceof ApiError)) throw problem;
      error.value = problem;
    });
    return () => end.abort();
  }, [key, round.value]);
  return { rows: rows.value, error: error.value, reload: () => round.value++ };
}

async function readSessions({ id, email }: User, signal: AbortSignal): Promise<SessionRow[]> {
  const { sessions } = await api("GET /api/users/{id}/sessions", {
    path: { id },
    query: { limit: SHOWN_MAX },
  }, { signal });
  return sessions.map((session) => ({
    ...session,
    user: email,
    revoke: () =>
      api("DELETE /api/users/{id}/sessions/{sessionId}", { path: { id, sessionId: session.id } }),
  }));
}
