/** Proof that the owner is there, before factors change. @module */

import type { PasskeyList } from "../../api/types.ts";
import { TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { factorOf } from "../../parts/second_factor.ts";

type NeededProof = PasskeyList["proof"];

export const PasswordField = () => (
  <TextField
    label="Password"
    name="password"
    type="password"
    autocomplete="current-password"
    required
  />
);

export const FactorField = () => (
  <TextField
    label="Code"
    name="code"
    hint="Of the app, or a recovery code"
    autocomplete="one-time-code"
    required
  />
);

/** Asks for what the service needs, and sends it with a change. */
export function ProofDialog({ title, submit, text, proof, send, onClose }: {
  title: string;
  submit: string;
  text: string;
  proof: NonNullable<NeededProof>;
  send: (proof: FormValues) => Promise<void>;
  onClose: () => void;
}) {
  return (
    <FormDialog
      title={title}
      submit={submit}
      onClose={onClose}
      onSubmit={({ password, code }) => send(proof === "password" ? { password } : factorOf(code))}
    >
      <p>{text}</p>
      {proof === "password" ? <PasswordField /> : <FactorField />}
    </FormDialog>
  );
}
