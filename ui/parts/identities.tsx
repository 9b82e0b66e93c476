/** List of the identity providers that sign in a user. @module */

import type { Identity } from "../api/types.ts";
import { plain } from "../base/text.ts";
import { Button } from "../components/button.tsx";
import { Text } from "../components/states.tsx";
import { Time } from "../components/time.tsx";

/** The provider's name, or its issuer after it was removed. */
export const providerOf = ({ provider, issuer }: Identity): string => plain(provider ?? issuer);

/** @param props.onUnlink Missing for a user who may not. */
export function IdentityList({ identities, onUnlink }: {
  identities: readonly Identity[];
  onUnlink?: ((identity: Identity) => void) | undefined;
}) {
  return (
    <ul class="entries">
      {identities.map((identity) => (
        <li key={identity.id} class="filters">
          <span class="grow">
            <Text>{identity.provider ?? identity.issuer}</Text>
            <span class="muted secondary">
              {identity.kind === "oidc" ? "OpenID Connect" : "SAML"}
              {identity.provider === null && ", removed"}
              {identity.subject !== null && `, as ${plain(identity.subject)}`}, linked{" "}
              <Time at={identity.linkedAt} />
            </span>
          </span>
          {onUnlink && <Button onClick={() => onUnlink(identity)}>Unlink</Button>}
        </li>
      ))}
    </ul>
  );
}
