/** The button that starts the trial. @module */

import { useSignal } from "@preact/signals";
import { api } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { readEdition } from "../state/edition.ts";
import { withResult } from "../state/toasts.ts";

export function StartTrial({ kind = "plain", disabled = false }: {
  kind?: "plain" | "primary";
  disabled?: boolean;
}) {
  const isBusy = useSignal(false);
  const start = async () => {
    isBusy.value = true;
    await withResult("Started the trial", async () => {
      await api("POST /api/edition/trial");
      await readEdition();
    });
    isBusy.value = false;
  };
  return (
    <Button kind={kind} busy={isBusy.value} disabled={disabled} onClick={() => void start()}>
      Start trial
    </Button>
  );
}
