/**
 * The part of the sign-in page for identity providers: a button for each, the start of a login by a
 * link with `provider`, and the end of a login that comes back from one.
 *
 * @module
 */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { SignInMethods } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { plain } from "../base/text.ts";
import { ROOT } from "../state/root.ts";
import { query } from "../state/router.ts";
import { call } from "../state/session.ts";

type Provider = SignInMethods["providers"][number];

/** @param signIn Signs in with the code in the address. */
export function SignInProviders({ signIn }: { signIn: (code: string) => void }) {
  const providers = useSignal<Provider[]>([]);
  useEffect(() => {
    const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? [];
    if (code !== undefined) {
      history.replaceState(null, "", location.pathname + location.search);
      signIn(code);
    }
    // Without the list, the other ways to sign in are left.
    call("GET", "auth/providers")
      .then(async (response) => {
        if (response.ok) providers.value = (await response.json()).providers;
        const wanted = providers.peek().find(({ id }) => id === query.peek().get("provider"));
        if (wanted) open(wanted);
      })
      .catch(() => {});
  }, []);
  const open = ({ path, kind }: Provider) => {
    const url = new URL(path.slice(1), ROOT);
    const name = kind === "saml" ? "return_to" : "returnTo";
    url.searchParams.set(name, query.peek().get("next") ?? "/");
    location.assign(url);
  };
  return (
    <div class="form">
      {providers.value.map((provider) => (
        <Button key={provider.id} onClick={() => open(provider)}>
          Sign in with {plain(provider.name)}
        </Button>
      ))}
    </div>
  );
}
