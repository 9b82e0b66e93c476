/** List of the identity providers that sign in a user. @module */

import type { Identity } from "../api/types.ts";
import { plain } from "../base/text.ts";
import { Button } from "../components/button.tsx";
import { Text } from "../components/states.tsx";
import { Time } from "../components/time.tsx";

/** The provider's name, or its issuer after it was removed. */
export const providerOf = ({ provider, issuer }: Identity): string => plain(provider ?? issuer);

/**
 * @param props.onUnlink Missing for a user who may not.
 * @param props.whyNot Says why an identity cannot be unlinked.
 */
export function IdentityList({ identities, onUnlink, whyNot = () => undefined }: {
  identities: readonly Identity[];
  onUnlink?: ((identity: Identity) => void) | undefined;
  whyNot?: (identity: Identity) => string | undefined;
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
              {whyNot(identity) && `. ${whyNot(identity)}`}
            </span>
          </span>
          {onUnlink && !whyNot(identity) && (
            <Button onClick={() => onUnlink(identity)}>Unlink</Button>
          )}
        </li>
      ))}
    </ul>
  );
}
