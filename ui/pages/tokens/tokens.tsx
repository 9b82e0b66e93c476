/** API tokens: secrets for scripts. @module */

import { api } from "../../api/client.ts";
import type { ApiToken, IssuedApiToken } from "../../api/types.ts";
import { type Column, timeColumn } from "../../components/columns.tsx";
import { confirm, useDialog } from "../../components/dialog.tsx";
import { useRead } from "../../components/reading.ts";
import { SecretDialog } from "../../components/secret_dialog.tsx";
import { Badge, Text } from "../../components/states.tsx";
import { capital, plain } from "../../base/text.ts";
import { now, Time } from "../../components/time.tsx";
import { userName, type UserOption } from "../../parts/user_name.ts";
import { useUserOptions } from "../../parts/user_options.ts";
import { query, setQuery } from "../../state/router.ts";
import { AUTH_MODE, hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert } from "../../state/toasts.ts";
import { TokenDetails } from "./details.tsx";
import { TokenForm } from "./form.tsx";
import { ResourcePage } from "../../components/resource.tsx";

const columnsFor = (owners: readonly UserOption[] | undefined): readonly Column<ApiToken>[] => [
  {
    title: "Name",
    cell: ({ name, userId, permissions, stacks, containers, hosts, hostLabels, isSuspended }) => (
      <span class="name-cell wraps">
        <Text>{name}</Text>
        {owners && <span class="muted secondary wide">{plain(userName(owners, userId))}</span>}
        {(permissions || stacks || containers || hosts || hostLabels) && <Badge>Limited</Badge>}
        {isSuspended && <Badge tone="bad">Suspended</Badge>}
      </span>
    ),
    sort: ({ name }) => name,
  },
  { title: "Role", cell: ({ role }) => capital(role), sort: ({ role }) => role, width: "w-s" },
  timeColumn("Created", ({ createdAt }) => createdAt, { width: "w-m", wide: true }),
  {
    title: "Expires",
    cell: ({ expiresAt }) => <Expiry at={expiresAt} />,
    sort: ({ expiresAt }) => expiresAt,
    width: "w-s",
  },
  {
    title: "Last used",
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <Time at={lastUsedAt} /> : <span class="muted">Never</span>,
    sort: ({ lastUsedAt }) => lastUsedAt,
    width: "w-m",
    wide: true,
  },
];

export default function Tokens() {
  const mayReadAll = AUTH_MODE === "users" && hasRole("admin", "users:read");
  const isAll = mayReadAll && query.value.get("all") === "1";
  // The owners' names are shown in the list of all accounts.
  const owners = useUserOptions(isAll);
  const reading = useRead("GET /api/tokens", { query: { all: isAll } });
  const dialog = useDialog();
  const showSecret = (title: string, { token }: IssuedApiToken) =>
    dialog.open(SecretDialog, {
      title,
      label: "Token",
      secret: token,
      children: (
        <>
          Save it now, and send it as <code>Authorization: Bearer</code>.
        </>
      ),
    });
  const onRotated = (issued: IssuedApiToken) => {
    reading.reload();
    showSecret("Token rotated", issued);
  };
  return (
    <ResourcePage
      title="API tokens"
      noun="token"
      reading={reading}
      rows={reading.data.value?.tokens}
      columns={columnsFor(isAll ? owners : undefined)}
      write={["viewer"]}
      form={TokenForm}
      onCreated={(token) => showSecret("Token created", token)}
      actions={(token, { remove }) => [
        { name: "Details", onSelect: () => dialog.open(TokenDetails, { token }) },
        { name: "Rotate", danger: true, onSelect: () => void rotate(token, onRotated) },
        ...remove,
      ]}
      deletion={{
        verb: "Revoke",
        consequence: ({ name }) =>
          `Requests with ${plain(name)} are refused immediately, and its streams end.`,
        work: ({ id }) => api("DELETE /api/tokens/{id}", { path: { id } }),
      }}
      dialog={dialog}
      defaultSort="-created"
      empty={"No API tokens yet. A token lets a script use the API without the rights of your " +
        "whole account."}
      above={mayReadAll && (
        <div class="filters" role="search" aria-label="Filters">
          <label class="check">
            <input
              type="checkbox"
              checked={isAll}
              onChange={({ currentTarget: { checked } }) =>
                setQuery({ all: checked ? "1" : undefined })}
            />
            All accounts
          </label>
        </div>
      )}
    />
  );
}

function Expiry({ at }: { at: string | null }) {
  if (at === null) return <span class="muted">Never</span>;
  return Date.parse(at) <= now.value ? <Badge tone="bad">Expired</Badge> : <Time at={at} />;
}

async function rotate({ id, name }: ApiToken, onDone: (issued: IssuedApiToken) => void) {
  const consequence = `${plain(name)} gets a new secret and keeps its settings. The current ` +
    "secret is refused immediately.";
  if (!await confirm({ verb: "Rotate", name, consequence })) return;
  try {
    onDone(await api("POST /api/tokens/{id}/rotate", { path: { id } }));
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
