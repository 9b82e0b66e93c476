/** The identity providers that sign in the user. @module */

import { api } from "../../api/client.ts";
import type { Identity } from "../../api/types.ts";
import { confirm, useDialog } from "../../components/dialog.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { IdentityList, providerOf } from "../../parts/identities.tsx";
import { showStatus, withResult } from "../../state/toasts.ts";
import { ProofDialog } from "./proof.tsx";

/** @param props.onChange Called after other sessions have ended. */
export function OwnIdentities({ onChange }: { onChange: () => void }) {
  const { data, error, reload } = useRead("GET /api/account/identities", {});
  const dialog = useDialog();
  const identities = data.value?.identities;
  const unlink = async (identity: Identity) => {
    const provider = providerOf(identity);
    const { id } = identity;
    const remove = (body: FormValues) =>
      api("DELETE /api/account/identities/{id}", { path: { id }, body });
    const changed = () => {
      reload();
      onChange();
    };
    const text = `${provider} does not sign you in any more. You are signed out everywhere ` +
      "else, and here if you signed in there.";
    const { proof } = await api("GET /api/account/identities").catch(() => ({ proof: null }));
    if (proof === null) {
      if (!await confirm({ verb: "Unlink", name: provider, consequence: text })) return;
      if (await withResult(`Unlinked ${provider}`, () => remove({}))) changed();
      return;
    }
    dialog.open(ProofDialog, {
      ...{ title: `Unlink ${provider}`, submit: "Unlink", text, proof },
      send: async (body) => {
        await remove(body);
        showStatus(`Unlinked ${provider}`);
        changed();
      },
    });
  };
  if (identities?.length === 0) return null;
  return (
    <Section title="Identity providers">
      {error.value && <Failure error={error.value} onRetry={reload} />}
      {!error.value && !identities && <Loading name="Identity providers" />}
      {identities && (
        <IdentityList
          identities={identities}
          onUnlink={(each) => void unlink(each)}
          whyNot={whyNot}
        />
      )}
      {dialog.shown}
    </Section>
  );
}

function whyNot(identity: Identity): string | undefined {
  const provider = providerOf(identity);
  if (identity.isOnlyWayIn) return `You could not sign in without ${provider}.`;
  if (!identity.setsRole) return undefined;
  return `${provider} decides about your role; an administrator can unlink it.`;
}
