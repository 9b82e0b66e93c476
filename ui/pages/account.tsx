/**
 * The account: the user's own details, password and sessions, and how this browser shows the
 * dashboard.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../api/client.ts";
import type { Account as AccountDetails } from "../api/types.ts";
import { Choice } from "../components/choice.tsx";
import { CheckField, TextField } from "../components/fields.tsx";
import { Form } from "../components/form.tsx";
import { Fact, Facts, TimeFact } from "../components/facts.tsx";
import { Page, Section } from "../components/page.tsx";
import { useRead } from "../components/reading.ts";
import { Failure, Loading } from "../components/states.tsx";
import { capital, plain } from "../base/text.ts";
import { DENSITIES, density, theme, THEMES } from "../state/appearance.ts";
import { AUTH_MODE } from "../state/session.ts";
import { showStatus } from "../state/toasts.ts";
import { OwnIdentities } from "./factors/own_identities.tsx";
import { Passkeys } from "./factors/passkeys.tsx";
import { SecondFactor } from "./factors/second_factor.tsx";
import { OwnSessions } from "./sessions/own.tsx";
import { NewPasswordField, UserName } from "./users/forms.tsx";

export default function Account() {
  return (
    <Page title="Account">
      <div class="stacked">
        {AUTH_MODE === "users" ? <OwnAccount /> : <SessionSection />}
        <Section title="Appearance">
          <p class="muted">Kept in this browser.</p>
          <Choice
            name="Theme"
            values={THEMES}
            value={theme.value}
            onChange={(each) => theme.value = each}
          />
          <Choice
            name="Density"
            values={DENSITIES}
            value={density.value}
            onChange={(each) => density.value = each}
          />
        </Section>
      </div>
    </Page>
  );
}

function OwnAccount() {
  const { data, error, reload } = useRead("GET /api/account", {});
  const sessionsRound = useSignal(0);
  const factorsRound = useSignal(0);
  const account = data.value;
  if (error.value) return <Failure error={error.value} onRetry={reload} />;
  if (!account) return <Loading name="Profile" />;
  return (
    <>
      <div class="summary-grid">
        <Profile account={account} onSaved={reload} />
        {account.hasPassword
          ? (
            <Password
              key={factorsRound.value}
              email={account.email}
              onChange={() => sessionsRound.value++}
            />
          )
          : (
            <Section title="Password">
              <p class="muted">You sign in through an identity provider.</p>
            </Section>
          )}
      </div>
      <div class="summary-grid">
        <SecondFactor hasPassword={account.hasPassword} onChange={() => factorsRound.value++} />
        <Passkeys
          hasPassword={account.hasPassword}
          onChange={() => factorsRound.value++}
        />
      </div>
      <OwnIdentities onChange={() => sessionsRound.value++} />
      <SessionSection
        key={`${sessionsRound.value} ${factorsRound.value}`}
        user={account.email ?? undefined}
      />
    </>
  );
}

function SessionSection({ user }: { user?: string | undefined }) {
  return (
    <Section title="Sessions">
      <OwnSessions user={user} />
    </Section>
  );
}

function Profile({ account, onSaved }: { account: AccountDetails; onSaved: () => void }) {
  return (
    <Section title="Profile">
      <Facts>
        {!account.hasPassword && <Fact name="Email">{plain(account.email ?? "–")}</Fact>}
        <Fact name="Role">{capital(account.role)}</Fact>
        <TimeFact name="Created" at={account.createdAt} />
        <TimeFact name="Last sign-in" at={account.lastLoginAt} />
      </Facts>
      <Form
        submit="Save"
        onSubmit={async ({ name, email }) => {
          await api("PUT /api/account", {
            body: { name: name || null, ...(email !== undefined && { email }) },
          });
          showStatus("Saved your profile");
          onSaved();
        }}
      >
        <TextField
          label="Name"
          name="name"
          value={account.name ?? ""}
          autocomplete="off"
          maxLength={100}
        />
        {account.hasPassword && (
          <TextField
            label="Email"
            name="email"
            type="email"
            value={account.email ?? ""}
            autocomplete="username"
            required
          />
        )}
      </Form>
    </Section>
  );
}

function Password({ email, onChange }: { email: string | null; onChange: () => void }) {
  const round = useSignal(0);
  const passkeys = useRead("GET /api/account/passkeys", {}).data.value?.passkeys;
  return (
    <Section title="Password">
      <p class="muted">A new password signs you out everywhere else.</p>
      <Form
        key={round.value}
        submit="Change password"
        onSubmit={async ({ currentPassword, newPassword, removePasskeys }) => {
          await api("PUT /api/account/password", {
            body: { currentPassword, newPassword, removePasskeys },
          });
          showStatus("Changed your password");
          round.value++;
          onChange();
        }}
      >
        <UserName email={email} />
        <TextField
          label="Current password"
          name="currentPassword"
          type="password"
          autocomplete="current-password"
          required
        />
        <NewPasswordField label="New password" />
        {passkeys !== undefined && passkeys.length > 0 && (
          <CheckField
            label="Delete my passkeys, which sign in without the password"
            name="removePasskeys"
          />
        )}
      </Form>
    </Section>
  );
}
