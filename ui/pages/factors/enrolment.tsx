/** The page of users who have to set up a second factor before anything else. @module */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { api } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { ROOT } from "../../state/root.ts";
import { signOut } from "../../state/session.ts";
import { showAlert } from "../../state/toasts.ts";
import { Passkeys } from "./passkeys.tsx";
import { SecondFactor } from "./second_factor.tsx";

export function Enrolment() {
  const isBusy = useSignal(false);
  const end = useRef<HTMLDivElement>(null);
  // After the dialog, which gives the focus back to a button that is gone.
  const focusEnd = () => setTimeout(() => end.current?.querySelector("button")?.focus());
  const goOn = async () => {
    isBusy.value = true;
    // The overview is refused until there is a factor.
    const isEnrolled = await api("GET /api/account").then(() => true, () => false);
    isBusy.value = false;
    if (isEnrolled) location.assign(ROOT);
    else showAlert("Set up an authenticator app or a passkey first");
  };
  return (
    <Page
      title="Set up a second factor"
      actions={<Button onClick={() => void signOut()}>Sign out</Button>}
    >
      <div class="stacked">
        <p>This server asks for a second factor. Set up one of these to continue.</p>
        <SecondFactor hasPassword={false} isRequired onChange={() => {}} onDone={focusEnd} />
        <Passkeys hasPassword={false} onChange={() => {}} onDone={focusEnd} />
        <div ref={end} class="actions">
          <Button kind="primary" busy={isBusy.value} onClick={() => void goOn()}>Continue</Button>
        </div>
      </div>
    </Page>
  );
}
