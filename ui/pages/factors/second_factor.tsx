/** The user's authenticator app: setting it up and removing it. @module */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { TotpSetup } from "../../api/types.ts";
import { count } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, useDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/fields.tsx";
import { Form, FormDialog } from "../../components/form.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { factorOf } from "../../parts/second_factor.ts";
import { sentenceOf, showStatus } from "../../state/toasts.ts";
import { FactorField, PasswordField } from "./proof.tsx";
import { RecoveryCodes } from "./recovery_codes.tsx";

interface Props {
  /** Whether the user is known to sign in with a password. */
  hasPassword: boolean;
  /** Whether a factor is required first: then an app is set up, and not removed. */
  isRequired?: boolean;
  /** Called after other sessions have ended. */
  onChange: () => void;
  /** Called when the recovery codes are closed. */
  onDone?: () => void;
}

export function SecondFactor({ hasPassword, isRequired, onChange, onDone }: Props) {
  const { data, error, reload } = useRead("GET /api/account/totp", {});
  const dialog = useDialog();
  const totp = data.value;
  const onSaved = (recoveryCodes: readonly string[] = []) => {
    reload();
    onChange();
    if (recoveryCodes.length > 0) dialog.open(RecoveryCodes, { codes: recoveryCodes }, onDone);
  };
  return (
    <Section title="Second factor">
      {error.value && <Failure error={error.value} onRetry={reload} />}
      {!error.value && !totp && <Loading name="Second factor" />}
      {totp && (
        <>
          <p class="muted">
            {totp.enabled
              ? "Sign-ins ask for a code of your authenticator app."
              : describeGain(hasPassword)}
            {totp.recoveryCodesLeft > 0 &&
              ` ${count(totp.recoveryCodesLeft, "recovery code")} left.`}
          </p>
          <div class="actions">
            {totp.enabled && !isRequired && (
              <Button onClick={() => dialog.open(RemoveForm, { hasPassword, onSaved })}>
                Remove
              </Button>
            )}
            {!totp.enabled && (
              <Button onClick={() => dialog.open(SetUpDialog, { onSaved })}>Set up</Button>
            )}
          </div>
        </>
      )}
      {dialog.shown}
    </Section>
  );
}

const describeGain = (hasPassword: boolean) =>
  hasPassword
    ? "An authenticator app on your phone protects your account if your password is stolen."
    : "With an authenticator app on your phone, each of your sign-ins also asks for a code.";

function SetUpDialog({ onSaved, onClose }: {
  onSaved: (recoveryCodes: readonly string[]) => void;
  onClose: () => void;
}) {
  const setup = useSignal<TotpSetup | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    api("POST /api/account/totp")
      .then((created) => setup.value = created)
      .catch((error) => problem.value = sentenceOf(error));
  }, []);
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => content.current?.querySelector("input")?.focus(), [setup.value]);
  return (
    <Dialog title="Set up an authenticator app" onClose={onClose}>
      {problem.value !== undefined && <p class="note danger" role="alert">{problem.value}</p>}
      {setup.value && (
        <div ref={content} class="stacked">
          <p>Scan the QR code with the app, or enter the secret. Then enter the code it shows.</p>
          <img
            class="qr-code"
            alt="QR code of the secret"
            src={`data:image/svg+xml,${encodeURIComponent(setup.value.qrSvg)}`}
          />
          <p class="field">
            <span>Secret</span>
            <code class="wraps">{setup.value.secret.replace(/.{4}(?=.)/g, "$& ")}</code>
          </p>
          <Form
            submit="Verify"
            onCancel={onClose}
            onSubmit={async ({ code, ...proof }) => {
              const { recoveryCodes } = await api("POST /api/account/totp/confirm", {
                body: { code: code.replace(/\s/g, ""), ...proof },
              });
              showStatus("Set up your authenticator app");
              onClose();
              onSaved(recoveryCodes);
            }}
          >
            <TextField
              label="Code"
              name="code"
              autocomplete="one-time-code"
              pattern="\s*(\d\s*){6}"
              required
            />
            {setup.value.proof === "password" && <PasswordField />}
            {setup.value.proof === "code" && (
              <TextField label="Recovery code" name="recoveryCode" required />
            )}
          </Form>
        </div>
      )}
    </Dialog>
  );
}

function RemoveForm({ hasPassword, onSaved, onClose }: {
  hasPassword: boolean;
  onSaved: () => void;
  onClose: () => void;
}) {
  return (
    <FormDialog
      title="Remove your authenticator app"
      submit="Remove"
      onClose={onClose}
      onSubmit={async ({ password, code }) => {
        await api("DELETE /api/account/totp", {
          body: { ...(hasPassword && { password }), ...factorOf(code) },
        });
        showStatus("Removed your authenticator app");
        onSaved();
      }}
    >
      <p>You are signed out everywhere else.</p>
      {hasPassword && <PasswordField />}
      <FactorField />
    </FormDialog>
  );
}
