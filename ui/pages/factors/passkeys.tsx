/** The user's passkeys. @module */

import { api } from "../../api/client.ts";
import type { Passkey } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { confirm, useDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading, Text } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { canUsePasskeys, createPasskey } from "../../state/passkeys.ts";
import { showAlert, showStatus, withResult } from "../../state/toasts.ts";
import { ProofDialog } from "./proof.tsx";
import { RecoveryCodes } from "./recovery_codes.tsx";

interface Props {
  /** Whether the user is known to sign in with a password. */
  hasPassword: boolean;
  /** Called after other sessions have ended. */
  onChange: () => void;
  /** Called when the recovery codes are closed. */
  onDone?: () => void;
}

export function Passkeys({ hasPassword, onChange, onDone }: Props) {
  const { data, error, reload } = useRead("GET /api/account/passkeys", {});
  const dialog = useDialog();
  const passkeys = data.value?.passkeys;
  const changed = () => {
    reload();
    onChange();
  };
  const addWith = async (given: FormValues) => {
    const { name, recoveryCodes } = await addPasskey(given);
    showStatus(`Added ${plain(name)}`);
    if (recoveryCodes.length > 0) dialog.open(RecoveryCodes, { codes: recoveryCodes }, onDone);
    changed();
  };
  const add = async () => {
    try {
      // The need of a proof depends on the time since the sign-in.
      const { proof } = await api("GET /api/account/passkeys");
      if (proof === null) return await addWith({});
      const text = "Your sign-in is older than 5 minutes.";
      dialog.open(ProofDialog, { title: "Add passkey", submit: "Add", text, proof, send: addWith });
    } catch (problem) {
      showAlert((problem as Error).message);
    }
  };
  const remove = async (passkey: Passkey) => {
    const { id } = passkey;
    const name = plain(passkey.name);
    const { proof } = await api("GET /api/account/passkeys").catch(() => ({ proof: null }));
    if (proof === null) return await deletePasskey(passkey) && changed();
    dialog.open(ProofDialog, {
      ...{ title: `Delete ${name}`, submit: "Delete", text: consequenceOf(passkey), proof },
      send: async (body) => {
        await api("DELETE /api/account/passkeys/{id}", { path: { id }, body });
        showStatus(`Deleted ${name}`);
        changed();
      },
    });
  };
  return (
    <Section title="Passkeys">
      <p class="muted">
        {canUsePasskeys()
          ? describeGain(hasPassword)
          : "Passkeys need HTTPS or localhost. This page has neither."}
      </p>
      {error.value && <Failure error={error.value} onRetry={reload} />}
      {!error.value && !passkeys && <Loading name="Passkeys" />}
      {passkeys && passkeys.length > 0 && (
        <ul class="entries">
          {passkeys.map((passkey) => (
            <li key={passkey.id} class="filters">
              <span class="grow">
                <Text>{passkey.name}</Text>
                <span class="muted secondary">
                  {plain(passkey.rpId)}, used{" "}
                  {passkey.lastUsedAt ? <Time at={passkey.lastUsedAt} /> : "never"}
                </span>
              </span>
              <Button onClick={() => dialog.open(RenameForm, { passkey, onSaved: reload })}>
                Rename
              </Button>
              <Button onClick={() => void remove(passkey)}>Delete</Button>
            </li>
          ))}
        </ul>
      )}
      {canUsePasskeys() && (
        <div class="actions">
          <Button onClick={() => void add()}>Add passkey</Button>
        </div>
      )}
      {dialog.shown}
    </Section>
  );
}

const describeGain = (hasPassword: boolean) =>
  hasPassword
    ? "A passkey of this device or a security key signs you in without a password, or is the " +
      "second factor after it."
    : "With a passkey of this device or a security key, each of your sign-ins also asks for it.";

async function addPasskey(proof: FormValues) {
  const options = await api("POST /api/account/passkeys/options");
  return await api("POST /api/account/passkeys", {
    body: { credential: await createPasskey(options), ...proof },
  });
}

const consequenceOf = ({ name }: Passkey) =>
  `${plain(name)} cannot sign you in any more. You are signed out everywhere else.`;

async function deletePasskey(passkey: Passkey): Promise<boolean> {
  const { id, name } = passkey;
  const consequence = consequenceOf(passkey);
  if (!await confirm({ verb: "Delete", name, consequence })) return false;
  return await withResult(
    `Deleted ${plain(name)}`,
    () => api("DELETE /api/account/passkeys/{id}", { path: { id }, body: {} }),
  );
}

function RenameForm({ passkey: { id, name: current }, onSaved, onClose }: {
  passkey: Passkey;
  onSaved: () => void;
  onClose: () => void;
}) {
  return (
    <FormDialog
      title={`Rename ${plain(current)}`}
      submit="Save"
      onClose={onClose}
      onSubmit={async ({ name }) => {
        await api("PUT /api/account/passkeys/{id}", { path: { id }, body: { name } });
        showStatus(`Saved ${plain(name)}`);
        onSaved();
      }}
    >
      <TextField label="Name" name="name" value={current} required maxLength={100} />
    </FormDialog>
  );
}
