/** The sessions of users who signed in through an identity provider. @module */

import { api } from "../../../api/client.ts";
import type { IdentityProvider, SsoSession } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { confirm } from "../../../components/dialog.tsx";
import { Listing } from "../../../components/listing.tsx";
import { Section } from "../../../components/page.tsx";
import { useRead, useReloadAfter } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import { count, plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { hasRole } from "../../../state/session.ts";
import { sentenceOf, showAlert, showStatus, withResult } from "../../../state/toasts.ts";

/** The largest page of the API. */
const SESSIONS_MAX = 500;

/** @param props.changes Counts the changes of providers, which can end sessions. */
export function SsoSessions({ providers, changes }: {
  providers: readonly IdentityProvider[];
  changes: number;
}) {
  const { data, error, reload } = useRead("GET /api/ext/service-enterprise/sso/sessions", {
    query: { limit: SESSIONS_MAX },
  });
  useReloadAfter(changes, reload);
  const nameOf = (id: string) => providers.find((each) => each.id === id)?.name ?? id;
  const page = data.value;
  return (
    <Section
      title="Sessions"
      actions={hasRole("admin", "sso:write") && (
        <Button
          kind="quiet"
          onClick={() => void purge().then(reload)}
        >
          Delete inactive sessions
        </Button>
      )}
    >
      <Listing
        name="SSO sessions"
        columns={[
          { title: "User", cell: ({ email }) => <Text>{email}</Text> },
          {
            title: "Provider",
            cell: ({ provider_id: id }) => <Text>{nameOf(id)}</Text>,
            wide: true,
          },
          { title: "Address", cell: ({ ip }) => <code>{plain(ip)}</code>, wide: true },
          { title: "Signed in", cell: ({ created_at: at }) => <Time at={at} />, width: "w-s" },
          { title: "Expires", cell: ({ expires_at: at }) => <Time at={at} />, width: "w-s" },
        ]}
        rows={page?.sessions}
        total={page?.total}
        reading={{ error, reload }}
        nameOf={({ email }) => email}
        actionsFor={["admin", "sso:write"]}
        actions={(session) => [
          { name: "Revoke", danger: true, onSelect: () => void revoke(session, reload) },
        ]}
        empty="No user is signed in through an identity provider."
      />
    </Section>
  );
}

async function revoke({ id, email }: SsoSession, onDone: () => void): Promise<void> {
  const consequence = `The session of ${plain(email)} ends with the next request.`;
  if (!await confirm({ verb: "Revoke", name: email, consequence })) return;
  const work = () => api("DELETE /api/ext/service-enterprise/sso/sessions/{id}", { path: { id } });
  if (await withResult(`Revoked the session of ${plain(email)}`, work)) onDone();
}

/** Deletes sessions that have already ended. */
async function purge(): Promise<void> {
  try {
    const { deleted } = await api("DELETE /api/ext/service-enterprise/sso/sessions/expired");
    showStatus(`Deleted ${count(deleted, "inactive session")}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
