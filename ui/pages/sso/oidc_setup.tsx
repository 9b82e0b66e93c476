/** The dialogs with what an OpenID Connect provider needs, and what it sends. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { OidcProvider, OidcTest, OidcTestResult } from "../../api/types.ts";
import { plain, plainLines } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SetupValues } from "../../parts/setup_values.tsx";
import { sentenceOf } from "../../state/toasts.ts";

interface ProviderProps {
  provider: OidcProvider;
  onClose: () => void;
}

export function OidcSetup({ provider, onClose }: ProviderProps) {
  const { id, name, callbackUrl, backchannelLogoutUrl } = provider;
  return (
    <Dialog title={`Setup of ${plain(name)}`} onClose={onClose} wide>
      <p>Enter these values at the identity provider. Users sign in at the last one.</p>
      <SetupValues
        values={{
          "Redirect URI": callbackUrl,
          "Post-logout redirect URI": new URL("../../sign-in", backchannelLogoutUrl).href,
          "Back-channel logout URL": backchannelLogoutUrl,
          "Sign-in link": new URL(`${id}/login`, backchannelLogoutUrl).href,
        }}
      />
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

/** Checks the provider, and shows the claims of a sign-in that starts no session. */
export function OidcTestDialog(
  { provider, check, onClose }: ProviderProps & { check: OidcTest },
) {
  const { id, name } = provider;
  const result = useSignal<OidcTestResult | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const read = async () => {
    problem.value = undefined;
    try {
      result.value = await api("GET /api/identity/oidc/{id}/test", { path: { id } });
    } catch (error) {
      problem.value = sentenceOf(error);
    }
  };
  return (
    <Dialog title={`Test of ${plain(name)}`} onClose={onClose} wide>
      <p>
        The provider answers and publishes {check.keys} {check.keys === 1 ? "key" : "keys"}.{" "}
        <a href={check.url} target="_blank" rel="noopener">Sign in there</a>{" "}
        to see what it says about you; no session is started.
      </p>
      {problem.value !== undefined && <p class="note danger" role="alert">{problem.value}</p>}
      {result.value && <Claims result={result.value} provider={provider} />}
      <div class="actions">
        <Button onClick={() => void read()}>Show claims</Button>
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

function Claims({ result, provider }: { result: OidcTestResult; provider: OidcProvider }) {
  const { error, role, customRoles, secondFactor, claims } = result;
  if (error !== null) return <p class="note danger">{plain(error)}</p>;
  const roles = [role, ...customRoles].filter((each) => each !== null);
  return (
    <>
      <p>
        Role: {roles.length > 0 ? plain(roles.join(", ")) : describeNoRole(provider)}
        . Several factors: {secondFactor ? "yes" : "no"}.
      </p>
      <pre tabIndex={0} aria-label="Claims">{plainLines(JSON.stringify(claims, null, 2))}</pre>
    </>
  );
}

/** Why no role is given, and by which fields. */
const describeNoRole = ({ rolesClaim }: OidcProvider): string =>
  rolesClaim === null
    ? "none, because “Claim with the groups” and “Role of other users” are empty; new users are " +
      "refused, and existing ones keep theirs"
    : `none, because no group in the claim ${plain(rolesClaim)} is in “Roles of groups”, and ` +
      "“Role of other users” is empty; the sign-in would be refused";
