/** Sign in: with the API key, or with email and password. @module */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Credentials, MfaRequired } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { Mark } from "../components/mark.tsx";
import { PRODUCT } from "../base/product.ts";
import { useTitle } from "../components/page.tsx";
import { addStyles } from "../components/styles.ts";
import { canUsePasskeys } from "../state/passkeys.ts";
import { AUTH_MODE, sessionEnd, signIn, signInWithPasskey } from "../state/session.ts";
import { SecondStep } from "./second_step.tsx";
import { SignInProviders } from "./sign_in_providers.tsx";
import styles from "./sign_in.css" with { type: "text" };

addStyles(styles);

const SENTENCES = {
  none: undefined,
  ended: "Your session has ended",
  "signed-out": undefined,
};

/** Whether passwords are accepted: `PASSWORD_LOGIN=off` leaves identity providers. */
const HAS_FORM = AUTH_MODE === "key" || document.documentElement.dataset.passwords !== "off";

export default function SignIn() {
  useTitle("Sign in");
  const problem = useSignal<string | undefined>(SENTENCES[sessionEnd.peek()]);
  const missing = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  /** The second step, while it is open. */
  const needed = useSignal<MfaRequired | undefined>(undefined);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(
    () => form.current?.querySelector<HTMLElement>("input[name]")?.focus(),
    [needed.value],
  );
  useEffect(() => {
    // A link of the command "longshore user login-link".
    const [, link] = /^#link=([\w-]+)$/.exec(location.hash) ?? [];
    if (link === undefined) return;
    history.replaceState(null, "", location.pathname + location.search);
    void begin({ link });
  }, []);

  const begin = (credentials: Credentials) =>
    attempt(async () => void (needed.value = await signIn(credentials)));
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
  const send = async (event: Event) => {
    event.preventDefault();
    const fields = [...form.current!.querySelectorAll<HTMLInputElement>("input[name]")];
    const empty = fields.find(({ value }) => value === "");
    missing.value = empty?.name;
    if (empty) return empty.focus();
    const value = (name: string) => fields.find((field) => field.name === name)!.value;
    await begin(
      AUTH_MODE === "key"
        ? { apiKey: value("apiKey").trim() }
        : { email: value("email").trim(), password: value("password") },
    );
    if (form.current) fields.at(-1)!.select();
  };

  const field = (name: string, label: string, type: string, autocomplete: string) => (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type={type as "text"}
        autocomplete={autocomplete}
        spellcheck={false}
        aria-invalid={missing.value === name ? "true" : undefined}
        aria-describedby={missing.value === name ? `${name}-problem` : undefined}
      />
      {missing.value === name && <p id={`${name}-problem`} class="problem">Enter your {label}</p>}
    </div>
  );
  return (
    <div class="sign-in">
      <div class="sign-in-card">
        <Mark />
        <h1 tabIndex={-1}>Sign in</h1>
        <p class="muted">to {PRODUCT}</p>
        {problem.value !== undefined && <p class="note danger" role="alert">{problem.value}</p>}
        {needed.value
          ? (
            <SecondStep
              needed={needed.value}
              busy={isBusy.value}
              attempt={attempt}
              onRestart={() => {
                needed.value = undefined;
                problem.value = undefined;
              }}
            />
          )
          : (
            <>
              {HAS_FORM && (
                <form ref={form} class="form" noValidate onSubmit={send}>
                  {/* For password managers, which store a key under a name. */}
                  {AUTH_MODE === "key" && (
                    <input hidden autocomplete="username" value={PRODUCT} readOnly />
                  )}
                  {AUTH_MODE === "key"
                    ? field("apiKey", "API key", "password", "current-password")
                    : (
                      <>
                        {field("email", "Email", "email", "username")}
                        {field("password", "Password", "password", "current-password")}
                      </>
                    )}
                  <Button submit kind="primary" busy={isBusy.value}>Sign in</Button>
                </form>
              )}
              {AUTH_MODE === "key" && (
                <p class="hint">
                  Printed at the first start, or in the file <code>initial-credentials</code>{" "}
                  of the data directory. The command <code>longshore key new</code> creates another.
                </p>
              )}
              {document.documentElement.dataset.passkeys === "on" && canUsePasskeys() && (
                <div class="form">
                  <Button onClick={() => void attempt(signInWithPasskey)}>Use a passkey</Button>
                </div>
              )}
              {document.documentElement.dataset.sso === "on" && (
                <SignInProviders signIn={(code) => void begin({ code })} />
              )}
            </>
          )}
      </div>
    </div>
  );
}
