/**
 * The user's own sessions. In key mode these are the sessions of all holders of the key.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { confirm } from "../../components/dialog.tsx";
import { useRead } from "../../components/reading.ts";
import { count } from "../../base/text.ts";
import { AUTH_MODE } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { SessionTable } from "./table.tsx";

const SHOWN_MAX = 500;

/** @param props.user The email address; without one, it is the holder of the key. */
export function OwnSessions({ user = "API key" }: { user?: string | undefined }) {
  const { data, error, reload } = useRead("GET /api/account/sessions", {
    query: { limit: SHOWN_MAX },
  });
  const page = data.value;
  const rows = page?.sessions.map((session) => ({
    ...session,
    user,
    revoke: () => api("DELETE /api/account/sessions/{id}", { path: { id: session.id } }),
  }));
  const others = (page?.total ?? 1) - 1;
  return (
    <>
      <div class="filters">
        <p class="muted grow">
          {AUTH_MODE === "key"
            ? (
              <>
                Everyone who signed in with the API key. A new key ends all sessions:{" "}
                <code>longshore key new</code>
              </>
            )
            : "Where you are signed in."}
        </p>
        {others > 0 && (
          <Button onClick={() => void revokeOthers(others, reload)}>Revoke other sessions</Button>
        )}
      </div>
      <SessionTable rows={rows} total={page?.total} reading={{ error, reload }} isOwn />
    </>
  );
}

async function revokeOthers(others: number, onDone: () => void) {
  const name = count(others, "other session");
  const consequence = `${name} of ${AUTH_MODE === "key" ? "the API key" : "your account"} ${
    others === 1 ? "is" : "are"
  } signed out, and open pages there end immediately. This browser stays signed in.`;
  if (!await confirm({ verb: "Revoke", name, consequence })) return;
  if (await withResult(`Revoked ${name}`, () => api("DELETE /api/account/sessions"))) onDone();
}
