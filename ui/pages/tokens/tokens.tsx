/** API tokens: secrets for scripts. @module */

import { api, type ApiError } from "../../api/client.ts";
import type { ApiToken, IssuedApiToken } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { timeColumn } from "../../components/columns.tsx";
import { confirm, useDialog } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { SecretDialog } from "../../components/secret_dialog.tsx";
import { Badge, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { capital, plain } from "../../base/text.ts";
import { now, Time } from "../../components/time.tsx";
import { userName, type UserOption, useUserOptions } from "../../parts/user_options.ts";
import { query, setQuery } from "../../state/router.ts";
import { AUTH_MODE, hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, withResult } from "../../state/toasts.ts";
import { TokenDetails } from "./details.tsx";
import { TokenForm } from "./form.tsx";

const columnsFor = (owners: readonly UserOption[] | undefined): readonly Column<ApiToken>[] => [
  {
    title: "Name",
    cell: ({ name, userId, permissions, stacks, containers }) => (
      <span class="name-cell wraps">
        <Text>{name}</Text>
        {owners && <span class="muted secondary wide">{plain(userName(owners, userId))}</span>}
        {(permissions || stacks || containers) && <Badge>Limited</Badge>}
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
  const { data, error, reload } = useRead("GET /api/tokens", { query: { all: isAll } });
  const dialog = useDialog();
  const showSecret = (title: string, { token }: IssuedApiToken) => {
    reload();
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
  };
  const create = () =>
    dialog.open(TokenForm, { onSaved: (token) => showSecret("Token created", token) });
  const parts = {
    tokens: data.value?.tokens,
    error: error.value,
    reload,
    onDetails: (token: ApiToken) => dialog.open(TokenDetails, { token }),
    onRotate: (issued: IssuedApiToken) => showSecret("Token rotated", issued),
  };
  return (
    <Page
      title="API tokens"
      actions={<Button kind="primary" icon="plus" onClick={create}>New token</Button>}
    >
      {mayReadAll && (
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
      {isAll ? <AllTokens {...parts} /> : <TokenTable {...parts} />}
      {dialog.shown}
    </Page>
  );
}

interface TableProps {
  tokens: readonly ApiToken[] | undefined;
  error: ApiError | undefined;
  reload: () => void;
  onDetails: (token: ApiToken) => void;
  onRotate: (issued: IssuedApiToken) => void;
}

/** With the owners' names. */
function AllTokens(props: TableProps) {
  return <TokenTable {...props} owners={useUserOptions()} />;
}

function TokenTable({ tokens, error, reload, owners, onDetails, onRotate }: TableProps & {
  owners?: readonly UserOption[];
}) {
  return (
    <Listing
      name="API tokens"
      columns={columnsFor(owners)}
      rows={tokens}
      error={error}
      onRetry={reload}
      actions={(token) => [
        { name: "Details", onSelect: () => onDetails(token) },
        { name: "Rotate", danger: true, onSelect: () => void rotate(token, onRotate) },
        { name: "Revoke", danger: true, onSelect: () => void revoke(token, reload) },
      ]}
      defaultSort="-created"
      empty={"No API tokens yet. A token lets a script use the API without the rights of your " +
        "whole account."}
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

async function revoke({ id, name }: ApiToken, onDone: () => void) {
  const consequence = `Requests with ${plain(name)} are refused immediately, and its streams end.`;
  if (!await confirm({ verb: "Revoke", name, consequence })) return;
  const work = () => api("DELETE /api/tokens/{id}", { path: { id } });
  if (await withResult(`Revoked ${plain(name)}`, work)) onDone();
}
