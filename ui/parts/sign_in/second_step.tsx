/** The second step of a sign-in: a code, a passkey, or a recovery code. @module */

import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { MfaRequired } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { factorOf } from "../second_factor.ts";
import { canUsePasskeys } from "../../state/passkeys.ts";
import { askForPasskey, completeSignIn } from "../../state/sign_in.ts";

interface Props {
  needed: MfaRequired;
  busy: boolean;
  /** Does the work of a button and shows its failure. */
  attempt: (work: () => Promise<void>) => Promise<void>;
  /** Removes the failure of the way before. */
  onSwitch: () => void;
  /** Returns to the first step. */
  onRestart: () => void;
}

export function SecondStep(
  { needed: { mfaToken, methods }, busy, attempt, onSwitch, onRestart }: Props,
) {
  const [first] = methods;
  const isRecovery = useSignal(first === "recoveryCode");
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), [isRecovery.value]);
  const label = isRecovery.value ? "Recovery code" : "Code";
  const hasCodes = methods.includes("totp") || isRecovery.value;

  const send = async (event: Event) => {
    event.preventDefault();
    const field = input.current!;
    if (field.value.trim() === "") return field.focus();
    await attempt(() => completeSignIn({ mfaToken, ...factorOf(field.value) }));
    input.current?.select();
  };
  const use = (recovery: boolean) => {
    isRecovery.value = recovery;
    onSwitch();
  };
  const sendPasskey = async () =>
    await completeSignIn({ mfaToken, passkey: await askForPasskey({ mfaToken }) });
  return (
    <form class="form" noValidate onSubmit={send}>
      {hasCodes && (
        <div class="field" key={label}>
          <label for={id}>{label}</label>
          <input
            ref={input}
            id={id}
            class="code"
            inputMode={isRecovery.value ? "text" : "numeric"}
            autocomplete={isRecovery.value ? "off" : "one-time-code"}
            spellcheck={false}
            maxLength={32}
          />
          <p class="hint">
            {isRecovery.value
              ? "One of the codes that you saved when you set up the second factor"
              : "6 digits of your authenticator app"}
          </p>
        </div>
      )}
      {hasCodes && <Button submit kind="primary" busy={busy}>Verify</Button>}
      {methods.includes("passkey") && canUsePasskeys() && (
        <Button
          kind={hasCodes ? "plain" : "primary"}
          onClick={() => void attempt(sendPasskey)}
        >
          Use a passkey
        </Button>
      )}
      {!isRecovery.value && methods.includes("recoveryCode") && (
        <Button onClick={() => use(true)}>Use a recovery code</Button>
      )}
      {isRecovery.value && methods.includes("totp") && (
        <Button onClick={() => use(false)}>Use the authenticator app</Button>
      )}
      <Button kind="quiet" onClick={onRestart}>Sign in again</Button>
    </form>
  );
}
