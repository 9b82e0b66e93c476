/**
 * The part of the sign-in page for identity providers: a button for each, the start of a login by a
 * link with `provider`, and the end of a login that comes back from one.
 *
 * @module
 */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { SignInMethods } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { plain } from "../../../base/text.ts";
import { ROOT } from "../../../state/root.ts";
import { query } from "../../../state/router.ts";
import { call } from "../../../state/session.ts";

/** @param signIn Signs in with the code in the address. */
export function SignInProviders({ signIn }: { signIn: (code: string) => void }) {
  const providers = useSignal<SignInMethods["providers"]>([]);
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
        if (wanted) open(wanted.path);
      })
      .catch(() => {});
  }, []);
  const open = (path: string) => {
    const url = new URL(path.slice(1), ROOT);
    url.searchParams.set("return_to", query.peek().get("next") ?? "/");
    location.assign(url);
  };
  return (
    <div class="form">
      {providers.value.map(({ id, name, path }) => (
        <Button key={id} onClick={() => open(path)}>Sign in with {plain(name)}</Button>
      ))}
    </div>
  );
}
