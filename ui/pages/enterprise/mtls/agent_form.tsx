/** The dialog that adds or changes an agent. @module */

import type { Agent, CertificateAuthority } from "../../../api/types.ts";
import { fieldsOf, SelectField, TextArea, TextField } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import { type FormValues, listOf } from "../../../components/form_values.ts";

export function AgentForm({ item: agent, authorities, ...dialog }: EditProps<Agent> & {
  authorities: readonly CertificateAuthority[];
}) {
  const { text } = fieldsOf(agent);
  const save = ({ hostname, description, tags, certificate, ca_id: caId }: FormValues) =>
    saveItem("/api/ext/service-enterprise/mtls/agents", agent, {
      hostname,
      description,
      tags: listOf(tags) ?? [],
      ...(!agent && { ca_id: caId || null }),
      certificate,
    });
  return (
    <EditDialog
      noun="agent"
      item={agent}
      nameOf={({ hostname }) => hostname}
      save={save}
      {...dialog}
    >
      {text("Host name", "hostname", {
        placeholder: "web-1.example.com",
        required: true,
        maxLength: 253,
      })}
      {text("Description", "description", { maxLength: 1_000 })}
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
