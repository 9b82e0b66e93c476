/** Shows a new secret once. @module */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

/** E.g. the dialog "Webhook created" with the field "Signing secret". */
export function SecretDialog({ title, label, secret, more, children, onClose }: {
  title: string;
  label: string;
  secret: string;
  /** Content below the secret, such as another form of it. */
  more?: ComponentChildren;
  /** Purpose of the secret. */
  children: ComponentChildren;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose} ignoresEscape>
      <p>{children} It is not shown again.</p>
      <SecretField label={label} secret={secret} />
      {more}
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

/** A secret with a button that copies it. */
export function SecretField({ label, secret }: { label: string; secret: string }) {
  const id = useId();
  const isCopied = useSignal(false);
  const copy = async () => {
    const field = document.getElementById(id) as HTMLInputElement;
    field.select();
    try {
      await navigator.clipboard.writeText(secret);
      isCopied.value = true;
    } catch { /* Browsers allow it over TLS and on localhost only; the text is selected. */ }
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="secret">
        <input
          id={id}
          class="code"
          readOnly
          data-autofocus
          value={secret}
          onFocus={(event) => event.currentTarget.select()}
        />
        <Button icon="copy" onClick={() => void copy()}>Copy</Button>
      </div>
      <p role="status" class="hint">{isCopied.value ? "Copied to the clipboard" : ""}</p>
    </div>
  );
}
