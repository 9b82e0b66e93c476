/** The identity providers of a user: shown, and unlinked by an admin. @module */

import { api } from "../../api/client.ts";
import type { Identity, ListedUser } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { confirm, Dialog } from "../../components/dialog.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { IdentityList, providerOf } from "../../parts/identities.tsx";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";

export function Identities(
  { user, isOwn, onClose }: { user: ListedUser; isOwn: boolean; onClose: () => void },
) {
  const { data, error, reload } = useRead("GET /api/users/{id}/identities", {
    path: { id: user.id },
  });
  const identities = data.value?.identities;
  const unlink = async (identity: Identity) => await unlinkFrom(user, identity) && reload();
  return (
    <Dialog title={`Identity providers of ${plain(user.email)}`} onClose={onClose}>
      {error.value && <Failure error={error.value} onRetry={reload} />}
      {!error.value && !identities && <Loading name="Identity providers" />}
      {identities?.length === 0 && <p class="muted">No identity provider signs in this user.</p>}
      {identities && identities.length > 0 && (
        <IdentityList
          identities={identities}
          onUnlink={hasRole("admin") && !isOwn ? (each) => void unlink(each) : undefined}
        />
      )}
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

async function unlinkFrom(user: ListedUser, identity: Identity): Promise<boolean> {
  const { id, email } = user;
  const [name, provider] = [plain(email), providerOf(identity)];
  const left = describeWayIn(user, identity);
  const consequence = `${provider} does not sign in ${name} any more unless it may link existing ` +
    `users, and all their sessions end. The role stays. ${left}`;
  if (!await confirm({ verb: "Unlink", name: provider, consequence })) return false;
  const path = { id, identityId: identity.id };
  return await withResult(
    `Unlinked ${provider} from ${name}`,
    () => api("DELETE /api/users/{id}/identities/{identityId}", { path }),
  );
}

function describeWayIn({ email, isSuspended }: ListedUser, { isOnlyWayIn }: Identity): string {
  const name = plain(email);
  if (isSuspended) {
    return `${name} stays suspended, also with a password, until you choose "End the suspension" ` +
      "under Edit.";
  }
  return isOnlyWayIn
    ? `${name} cannot sign in any more until you set a password.`
    : `${name} can still sign in another way.`;
}

/** Asks whether an address belongs to its user, and confirms it. */
export async function confirmEmail({ id, email, formerEmail }: ListedUser): Promise<boolean> {
  const name = plain(email);
  const origin = formerEmail === null
    ? "No admin has entered this address."
    : `The address was ${plain(formerEmail)} until the user changed it.`;
  const consequence = `${origin} Identity providers that may link existing users can sign in ` +
    `${name} then. At that sign-in, the password, second factors and API tokens of the account are ` +
    "removed. Confirm it only if you know that the address belongs to the user.";
  if (!await confirm({ verb: "Confirm", name: email, consequence, isSafe: true })) return false;
  return await withResult(
    `Confirmed ${name}`,
    () => api("POST /auth/users/{id}/email/confirm", { path: { id }, body: { email } }),
  );
}
