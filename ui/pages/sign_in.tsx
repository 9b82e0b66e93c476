/** Sign in: with the API key, or as a user. @module */

import type { Credentials } from "../api/types.ts";
import { Mark } from "../components/mark.tsx";
import { PRODUCT } from "../base/product.ts";
import { useTitle } from "../components/page.tsx";
import { SignInForm } from "../parts/sign_in/form.tsx";
import type { Provider } from "../parts/sign_in/providers.tsx";
import { ROOT } from "../state/root.ts";
import { query } from "../state/router.ts";
import { AUTH_MODE } from "../state/session.ts";
import { useMemo } from "preact/hooks";

export default function SignIn() {
  useTitle("Sign in");
  const given = useMemo(takeCredentials, []);
  return (
    <div class="sign-in">
      <div class="sign-in-card">
        <Mark />
        <h1 tabIndex={-1}>Sign in</h1>
        <p class="muted">to {PRODUCT}</p>
        <SignInForm given={given} onProvider={open} wanted={query.peek().get("provider")} />
        {AUTH_MODE === "key" && (
          <p class="hint">
            Printed at the first start, or in the file <code>initial-credentials</code>{" "}
            of the data directory. The command <code>longshore key new</code> creates another.
          </p>
        )}
      </div>
    </div>
  );
}

/**
 * Takes what the address has after `#`: a link of the command `longshore user login-link`, or the
 * code of a sign-in that comes back from an identity provider.
 */
function takeCredentials(): Credentials | undefined {
  const [, name, value] = /^#(link|code)=([\w-]+)$/.exec(location.hash) ?? [];
  if (value === undefined) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return name === "link" ? { link: value } : { code: value };
}

function open({ path, kind }: Provider): void {
  const url = new URL(path.slice(1), ROOT);
  const name = kind === "saml" ? "return_to" : "returnTo";
  url.searchParams.set(name, query.peek().get("next") ?? "/");
  location.assign(url);
}
