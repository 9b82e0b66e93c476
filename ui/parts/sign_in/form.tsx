/**
 * The ways to sign in: the API key, or email and password with a second factor, a passkey, and
 * identity providers.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Credentials, MfaRequired, SignInMethods } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { PRODUCT } from "../../base/product.ts";
import { addStyles } from "../../components/styles.ts";
import { canUsePasskeys } from "../../state/passkeys.ts";
import { AUTH_MODE, call } from "../../state/session.ts";
import { signIn, signInWithPasskey } from "../../state/sign_in.ts";
import { type Provider, SignInProviders } from "./providers.tsx";
import { SecondStep } from "./second_step.tsx";
import styles from "./sign_in.css" with { type: "text" };

addStyles(styles);

const { passwords, passkeys, sso } = document.documentElement.dataset;

/** Whether passwords are accepted: `PASSWORD_LOGIN=off` leaves identity providers. */
export const HAS_FIELDS = AUTH_MODE === "key" || passwords !== "off";

interface Props {
  /** Credentials that are sent at once. */
  given?: Credentials | undefined;
  onProvider: (provider: Provider) => void;
  /** Id of a provider that is opened at once. */
  wanted?: string | null;
  /** Whether the document is old, so that passkeys and providers may have come since. */
  isOld?: boolean;
}

export function SignInForm({ given, onProvider, wanted, isOld }: Props) {
  const ways = useSignal<Pick<SignInMethods, "passkeys" | "providers">>({
    passkeys: passkeys === "on",
    providers: [],
  });
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  /** The second step, while it is open. */
  const needed = useSignal<MfaRequired | undefined>(undefined);
  const attempt = async (work: () => Promise<void>) => {
    isBusy.value = true;
    problem.value = undefined;
    try {
      await work();
    } catch (error) {
      problem.value = error instanceof TypeError
        ? `${PRODUCT} cannot be reached`
        : (error as Error).message;
    } finally {
      isBusy.value = false;
    }
  };
  const begin = (credentials: Credentials) =>
    attempt(async () => void (needed.value = await signIn(credentials)));
  const readWays = async () => {
    const response = await call("GET", "auth/providers");
    if (!response.ok) return;
    ways.value = await response.json();
    const known = ways.peek().providers.find(({ id }) => id === wanted);
    if (known) onProvider(known);
  };
  useEffect(() => {
    if (given) void begin(given);
    // Without the list, the other ways to sign in are left.
    if (sso === "on" || isOld) readWays().catch(() => {});
  }, []);
  return (
    <div class="sign-in-form">
      {problem.value !== undefined && <p class="note danger" role="alert">{problem.value}</p>}
      {needed.value
        ? (
          <SecondStep
            needed={needed.value}
            busy={isBusy.value}
            attempt={attempt}
            onSwitch={() => problem.value = undefined}
            onRestart={() => {
              needed.value = undefined;
              problem.value = undefined;
            }}
          />
        )
        : (
          <>
            {HAS_FIELDS && <FirstStep busy={isBusy.value} onSend={begin} />}
            {ways.value.passkeys && canUsePasskeys() && (
              <div class="form">
                <Button onClick={() => void attempt(signInWithPasskey)}>Use a passkey</Button>
              </div>
            )}
            {ways.value.providers.length > 0 && (
              <SignInProviders providers={ways.value.providers} onOpen={onProvider} />
            )}
          </>
        )}
    </div>
  );
}

/** The fields of the API key, or of email and password. */
function FirstStep(
  { busy, onSend }: { busy: boolean; onSend: (credentials: Credentials) => Promise<void> },
) {
  const id = useId();
  const missing = useSignal<string | undefined>(undefined);
  const form = useRef<HTMLFormElement>(null);
  const fields = () => [...form.current!.querySelectorAll<HTMLInputElement>("input[name]")];
  useLayoutEffect(() => fields()[0]!.focus(), []);
  const send = async (event: Event) => {
    event.preventDefault();
    const all = fields();
    const empty = all.find(({ value }) => value === "");
    missing.value = empty?.name;
    if (empty) return empty.focus();
    const value = (name: string) => all.find((field) => field.name === name)!.value;
    await onSend(
      AUTH_MODE === "key"
        ? { apiKey: value("apiKey").trim() }
        : { email: value("email").trim(), password: value("password") },
    );
    if (form.current) all.at(-1)!.select();
  };
  const field = (name: string, label: string, type: string, autocomplete: string) => (
    <div class="field">
      <label for={`${id}-${name}`}>{label}</label>
      <input
        id={`${id}-${name}`}
        name={name}
        type={type as "text"}
        autocomplete={autocomplete}
        spellcheck={false}
        aria-invalid={missing.value === name ? "true" : undefined}
        aria-describedby={missing.value === name ? `${id}-problem` : undefined}
      />
      {missing.value === name && <p id={`${id}-problem`} class="problem">Enter your {label}</p>}
    </div>
  );
  return (
    <form ref={form} class="form" noValidate onSubmit={send}>
      {/* For password managers, which store a key under a name. */}
      {AUTH_MODE === "key" && <input hidden autocomplete="username" value={PRODUCT} readOnly />}
      {AUTH_MODE === "key" ? field("apiKey", "API key", "password", "current-password") : (
        <>
          {field("email", "Email", "email", "username")}
          {field("password", "Password", "password", "current-password")}
        </>
      )}
      <Button submit kind="primary" busy={busy}>Sign in</Button>
    </form>
  );
}
