/** Buttons of the identity providers that users can sign in with. @module */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { SignInMethods } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { plain } from "../../base/text.ts";
import { call } from "../../state/session.ts";

export type Provider = SignInMethods["providers"][number];

interface Props {
  onOpen: (provider: Provider) => void;
  /** Id of a provider that is opened at once. */
  wanted?: string | null | undefined;
}

export function SignInProviders({ onOpen, wanted }: Props) {
  const providers = useSignal<Provider[]>([]);
  useEffect(() => {
    // Without the list, the other ways to sign in are left.
    call("GET", "auth/providers")
      .then(async (response) => {
        if (response.ok) providers.value = (await response.json()).providers;
        const known = providers.peek().find(({ id }) => id === wanted);
        if (known) onOpen(known);
      })
      .catch(() => {});
  }, []);
  return (
    <div class="form">
      {providers.value.map((provider) => (
        <Button key={provider.id} onClick={() => onOpen(provider)}>
          Sign in with {plain(provider.name)}
        </Button>
      ))}
    </div>
  );
}
