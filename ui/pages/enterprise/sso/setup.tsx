/** The dialog with the values that the identity provider needs. @module */

import type { IdentityProvider } from "../../../api/types.ts";
import { plain } from "../../../base/text.ts";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { SetupValues } from "../../../parts/setup_values.tsx";

export function Setup({ provider, onClose }: { provider: IdentityProvider; onClose: () => void }) {
  const { id, name, sp_entity_id: entityId, acs_url: acsUrl } = provider;
  return (
    <Dialog title={`Setup of ${plain(name)}`} onClose={onClose} wide>
      <p>Enter these values at the identity provider. Users sign in at the last one.</p>
      <SetupValues
        values={{
          "Entity ID (audience)": entityId,
          "ACS URL": acsUrl,
          "Metadata": new URL("metadata", acsUrl).href,
          "Sign-in link": new URL(`login/${id}?return_to=/`, acsUrl).href,
        }}
      />
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
