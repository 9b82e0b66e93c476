/** Users: the accounts of users mode. @module */

import { api } from "../../api/client.ts";
import type { ListedUser, User } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { type Column, timeColumn } from "../../components/columns.tsx";
import { confirm, useDialog } from "../../components/dialog.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, Empty, Text } from "../../components/states.tsx";
import { capital, count, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { edition } from "../../state/edition.ts";
import { navigate } from "../../state/router.ts";
import { AUTH_MODE, hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, withResult } from "../../state/toasts.ts";
import { UsersModeForm } from "./first_account.tsx";
import { NewUserForm, PasswordForm, RoleForm } from "./forms.tsx";
import { confirmEmail, Identities } from "./identities.tsx";
import { type OwnActions, ResourcePage } from "../../components/resource.tsx";

const columnsFor = (ownId: string | undefined): readonly Column<ListedUser>[] => [
  {
    title: "Email",
    cell: ({ id, email, name, isEmailConfirmed, isSuspended }) => (
      <span class="name-cell wraps">
        <Text>{email}</Text>
        {name && <span class="muted secondary wide">{plain(name)}</span>}
        {id === ownId && <Badge>You</Badge>}
        {!isEmailConfirmed && <Badge tone="warn">Unconfirmed</Badge>}
        {isSuspended && <Badge tone="bad">Suspended</Badge>}
      </span>
    ),
    sort: ({ email }) => email,
  },
  { title: "Role", cell: ({ role }) => capital(role), sort: ({ role }) => role, width: "w-m" },
  timeColumn("Created", ({ createdAt }) => createdAt, { width: "w-m", wide: true }),
  {
    title: "Last sign-in",
    cell: ({ lastLoginAt }) =>
      lastLoginAt ? <Time at={lastLoginAt} /> : <span class="muted">Never</span>,
    sort: ({ lastLoginAt }) => lastLoginAt,
    width: "w-m",
    wide: true,
  },
];

export default function Users() {
  if (AUTH_MODE === "key") return <UsersModeOff />;
  return <UserList />;
}

function UsersModeOff() {
  const dialog = useDialog();
  return (
    <Page title="Users">
      <Empty
        action={
          <Button kind="primary" onClick={() => dialog.open(UsersModeForm, {})}>
            Change to accounts
          </Button>
        }
      >
        Everyone signs in with the API key. With accounts, everyone has an own password and a role.
      </Empty>
      {dialog.shown}
    </Page>
  );
}

function UserList() {
  const reading = useRead("GET /auth/users", {});
  const account = useRead("GET /api/account", {}).data.value;
  const dialog = useDialog();
  const { reload } = reading;
  const users = reading.data.value?.users;
  const limit = edition.value?.limits.users;
  const menuOf = (user: ListedUser, { remove, mayWrite }: OwnActions): MenuItem[] => {
    const isOwn = user.id === account?.id;
    const setPassword = () => dialog.open(PasswordForm, { user });
    return [
      ...mayWrite
        ? [{ name: "Edit", onSelect: () => dialog.open(RoleForm, { user, onSaved: reload }) }]
        : [],
      ...mayWrite && !isOwn ? [{ name: "Set password", onSelect: setPassword }] : [],
      isOwn
        ? { name: "Open your account", onSelect: () => navigate("/account") }
        : { name: "Sessions", onSelect: () => navigate(`/sessions?user=${user.id}`) },
      {
        name: "Identity providers",
        onSelect: () => dialog.open(Identities, { user, isOwn }),
      },
      ...hasRole("admin") && !user.isEmailConfirmed
        ? [{ name: "Confirm email", onSelect: () => void confirmEmail(user).then(reload) }]
        : [],
      ...mayWrite && !isOwn
        ? [{ name: "Revoke sessions", danger: true, onSelect: () => void revokeSessions(user) }]
        : [],
      ...mayWrite && !isOwn
        ? [{ name: "Reset second factors", danger: true, onSelect: () => void resetFactors(user) }]
        : [],
      ...isOwn ? [] : remove,
    ];
  };
  return (
    <ResourcePage
      title="Users"
      noun="user"
      reading={reading}
      rows={users}
      columns={columnsFor(account?.id)}
      nameOf={({ email }) => email}
      write={["admin", "users:write"]}
      form={NewUserForm}
      actions={menuOf}
      deletion={{
        consequence: describeLoss,
        work: ({ id }) => api("DELETE /auth/users/{id}", { path: { id } }),
      }}
      dialog={dialog}
      defaultSort="email"
      empty="No users yet."
      lead={users && limit != null && (
        <span class="summary">{users.length} of {count(limit, "user")} of the edition</span>
      )}
      above={users && <States users={users} />}
    />
  );
}

/** Says what the marks of users mean, and what ends them. */
function States({ users }: { users: readonly ListedUser[] }) {
  return (
    <>
      {users.some(({ isSuspended }) => isSuspended) && (
        <p class="note">
          Suspended: an identity provider gives the user no role any more, so that no sign-in and no
          API token is accepted. An admin can end that with Edit.
        </p>
      )}
      {users.some(({ isEmailConfirmed }) => !isEmailConfirmed) && (
        <p class="note">
          Unconfirmed: no admin has entered the address, so that identity providers do not link the
          account. An admin can change that with Confirm email.
        </p>
      )}
    </>
  );
}

async function revokeSessions({ id, email }: User) {
  const name = plain(email);
  const sessions = await sessionsOf(id);
  if (sessions === undefined) return;
  const consequence = `${name} is signed out of ${count(sessions, "session")}. API tokens stay.`;
  if (!await confirm({ verb: "Revoke", name: `sessions of ${email}`, consequence })) return;
  const work = () => api("DELETE /api/users/{id}/sessions", { path: { id } });
  await withResult(`Revoked the sessions of ${name}`, work);
}

async function resetFactors({ id, email }: User) {
  const name = plain(email);
  const consequence = `The authenticator app, the passkeys and the recovery codes of ${name} are ` +
    "removed, and all their sessions end. The password stays.";
  if (!await confirm({ verb: "Reset", name: `second factors of ${email}`, consequence })) return;
  const work = () => api("DELETE /api/users/{id}/mfa", { path: { id } });
  await withResult(`Reset the second factors of ${name}`, work);
}

async function describeLoss({ id, email }: User): Promise<string | undefined> {
  const [sessions, tokens] = await Promise.all([sessionsOf(id), tokensOf(id)]);
  if (sessions === undefined || tokens === undefined) return undefined;
  return `The account ${plain(email)} and its ${count(tokens, "API token")} are deleted, and ${
    count(sessions, "session")
  } end immediately.`;
}

const sessionsOf = (id: string) =>
  numberOf(async () =>
    (await api("GET /api/users/{id}/sessions", { path: { id }, query: { limit: 1 } })).total
  );

const tokensOf = (id: string) =>
  numberOf(async () => {
    const { tokens } = await api("GET /api/tokens", { query: { all: true } });
    return tokens.filter(({ userId }) => userId === id).length;
  });

/** Number for a confirmation; `undefined` after a failure, which is shown. */
async function numberOf(read: () => Promise<number>): Promise<number | undefined> {
  try {
    return await read();
  } catch (error) {
    showAlert(sentenceOf(error));
    return undefined;
  }
}
