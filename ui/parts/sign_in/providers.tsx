/** Buttons of the identity providers that users can sign in with. @module */

import type { SignInMethods } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { plain } from "../../base/text.ts";

export type Provider = SignInMethods["providers"][number];

interface Props {
  providers: readonly Provider[];
  onOpen: (provider: Provider) => void;
}

export function SignInProviders({ providers, onOpen }: Props) {
  return (
    <div class="form">
      {providers.map((provider) => (
        <Button key={provider.id} onClick={() => onOpen(provider)}>
          Sign in with {plain(provider.name)}
        </Button>
      ))}
    </div>
  );
}
