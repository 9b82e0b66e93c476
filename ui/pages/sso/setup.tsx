/**
 * The dialog with the values that the identity provider needs.
 *
 * @module
 */

import type { IdentityProvider } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { plain } from "../../components/text.ts";
import { ROOT } from "../../state/root.ts";

export function Setup({ provider, onClose }: { provider: IdentityProvider; onClose: () => void }) {
  const values = {
    "Entity ID (audience)": provider.sp_entity_id,
    "ACS URL": provider.acs_url,
    "Metadata": serviceUrl("metadata"),
    "Sign-in link": serviceUrl(`login/${provider.id}`),
  };
  return (
    <Dialog title={`Setup of ${plain(provider.name)}`} onClose={onClose} wide>
      <p>Enter these values at the identity provider.</p>
      <dl class="setup-values">
        {Object.entries(values).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{plain(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

const serviceUrl = (path: string) => new URL(`api/ext/service-enterprise/sso/${path}`, ROOT).href;
