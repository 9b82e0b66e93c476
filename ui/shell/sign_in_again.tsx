/** The sign-in over the open page after its session has ended. @module */

// As every part that is loaded later, see `shared.ts`.
import "../components/page.tsx";
import { useSignal } from "@preact/signals";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { HAS_FIELDS, SignInForm } from "../parts/sign_in/form.tsx";
import type { Provider } from "../parts/sign_in/providers.tsx";
import { href } from "../state/router.ts";
import { leaveSession, WINDOW_END } from "../state/session.ts";

const WINDOW = "popup,width=520,height=720";

export function SignInAgain() {
  const isBlocked = useSignal(false);
  const open = (provider: Provider) => void (isBlocked.value = !openWindow(provider));
  return (
    <Dialog title="Sign in again" ignoresEscape onClose={() => {}}>
      {/* Without a field, a key that is pressed as the dialog opens must not press a button. */}
      <p tabIndex={-1} data-autofocus={HAS_FIELDS ? undefined : ""}>
        Your session has ended. The page stays as it is until you have signed in.
      </p>
      {isBlocked.value && (
        <p class="note danger" role="alert">
          The browser has blocked the window of the sign-in. Allow pop-ups for this address.
        </p>
      )}
      <SignInForm onProvider={open} isOld />
      <div class="actions">
        <Button kind="quiet" onClick={leaveSession}>Leave this page</Button>
      </div>
    </Dialog>
  );
}

/**
 * Opens the sign-in of a provider, of which this tab learns by the storage. The window gets no access
 * to this page.
 */
function openWindow({ id }: Provider): boolean {
  const opened = open("", "_blank", WINDOW);
  if (!opened) return false;
  opened.opener = null;
  const query = new URLSearchParams({ next: WINDOW_END, provider: id });
  opened.location.replace(new URL(href(`/sign-in?${query}`), location.href));
  return true;
}
