/** Shows new recovery codes once. @module */

import { useRef } from "preact/hooks";
import { copyText } from "../../base/copy.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { addStyles } from "../../components/styles.ts";
import styles from "./factors.css" with { type: "text" };

addStyles(styles);

export function RecoveryCodes({ codes, onClose }: {
  codes: readonly string[];
  onClose: () => void;
}) {
  const list = useRef<HTMLPreElement>(null);
  const text = codes.join("\n");
  return (
    <Dialog title="Recovery codes" onClose={onClose} ignoresEscape>
      <p>
        Each code signs you in once without your second factor. Save them now, apart from your
        password. They are not shown again.
      </p>
      <pre ref={list} class="recovery-codes" tabIndex={0}>{text}</pre>
      <div class="actions">
        <Button icon="copy" onClick={() => void copyText(list.current!, text)}>Copy</Button>
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
