/** The dialog with the values that the identity provider needs. @module */

import { useRef } from "preact/hooks";
import type { IdentityProvider } from "../../../api/types.ts";
import { Button, IconButton } from "../../../components/button.tsx";
import { copyText } from "../../../base/copy.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { plain } from "../../../base/text.ts";
import { addStyles } from "../../../components/styles.ts";
import styles from "./setup.css" with { type: "text" };

addStyles(styles);

export function Setup({ provider, onClose }: { provider: IdentityProvider; onClose: () => void }) {
  const { id, name, sp_entity_id: entityId, acs_url: acsUrl } = provider;
  return (
    <Dialog title={`Setup of ${plain(name)}`} onClose={onClose} wide>
      <p>Enter these values at the identity provider. Users sign in at the last one.</p>
      <dl class="setup-values">
        <Value name="Entity ID (audience)" value={entityId} />
        <Value name="ACS URL" value={acsUrl} />
        <Value name="Metadata" value={new URL("metadata", acsUrl).href} />
        <Value name="Sign-in link" value={new URL(`login/${id}?return_to=/`, acsUrl).href} />
      </dl>
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

function Value({ name, value }: { name: string; value: string }) {
  const shown = useRef<HTMLElement>(null);
  return (
    <div>
      <dt>
        {name}{" "}
        <IconButton
          name={`Copy ${name}`}
          icon="copy"
          onClick={() => void copyText(shown.current!, value)}
        />
      </dt>
      <dd>
        <code ref={shown}>{plain(value)}</code>
      </dd>
    </div>
  );
}
