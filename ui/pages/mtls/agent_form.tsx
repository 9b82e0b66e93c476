/**
 * The dialog that adds or changes an agent.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { Agent, CertificateAuthority } from "../../api/types.ts";
import {
  EditDialog,
  type FormValues,
  listOf,
  SelectField,
  TextArea,
  TextField,
} from "../../components/form.tsx";

export function AgentForm({ agent, authorities, onClose, onSaved }: {
  /** Without one, a new agent is added. The certificate of an agent cannot be changed. */
  agent: Agent | undefined;
  authorities: readonly CertificateAuthority[];
  onClose: () => void;
  onSaved: () => void;
}) {
  const save = async ({ hostname, description, tags, certificate, ca_id: caId }: FormValues) => {
    const body = { hostname, description, tags: listOf(tags) ?? [] };
    const saved = agent
      ? await api("PUT /api/ext/service-enterprise/mtls/agents/{id}", {
        path: { id: agent.id },
        body,
      })
      : await api("POST /api/ext/service-enterprise/mtls/agents", {
        body: { ...body, certificate, ca_id: caId || null },
      });
    onSaved();
    return saved.hostname;
  };
  return (
    <EditDialog noun="agent" name={agent?.hostname} save={save} onClose={onClose}>
      <TextField
        label="Host name"
        name="hostname"
        value={agent?.hostname}
        placeholder="web-1.example.com"
        required
        maxLength={253}
      />
      <TextField
        label="Description"
        name="description"
        value={agent?.description}
        maxLength={1_000}
      />
      <TextField
        label="Tags"
        name="tags"
        value={agent?.tags.join(", ")}
        hint="Separated by commas"
      />
      {!agent && (
        <>
          <TextArea
            label="Certificate"
            name="certificate"
            hint="The client certificate of the machine (PEM). Never paste a private key"
            rows={6}
            required
          />
          <SelectField
            label="Certificate authority"
            name="ca_id"
            value=""
            options={[
              { value: "", name: "Any" },
              ...authorities.map(({ id, name }) => ({ value: id, name })),
            ]}
            hint="The authority that must have signed the certificate"
          />
        </>
      )}
    </EditDialog>
  );
}
