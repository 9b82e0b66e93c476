/** Registries: credentials for private images. @module */

import { api } from "../../api/client.ts";
import type { Registry } from "../../api/types.ts";
import { useRead } from "../../components/reading.ts";
import { Badge, Text } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { plain } from "../../base/text.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { RegistryForm } from "./form.tsx";
import { ResourcePage } from "../../components/resource.tsx";

export default function Registries() {
  const reading = useRead("GET /api/registries", {});
  const problems = reading.data.value?.authFile?.problems ?? [];
  return (
    <ResourcePage
      title="Registries"
      noun="registry"
      reading={reading}
      rows={reading.data.value?.registries}
      columns={COLUMNS}
      nameOf={nameOf}
      write={["admin", "registries:write"]}
      form={RegistryForm}
      isFixed={({ source }) => source === "file"}
      actionsFor={["admin", "registries:write"]}
      actions={(registry, { edit, remove }) => [
        ...edit,
        { name: "Test", onSelect: () => void testRegistry(registry) },
        ...remove,
      ]}
      deletion={{
        consequence: (registry) =>
          `The credentials of ${plain(nameOf(registry))} are deleted. Its private images can no ` +
          "longer be pulled.",
        work: ({ id }) => api("DELETE /api/registries/{id}", { path: { id } }),
      }}
      defaultSort="host"
      empty={"No registries yet. Credentials of a registry let Longshore pull its private " +
        "images and check them for updates."}
      above={problems.length > 0 && (
        <div class="note" role="note" aria-label="Problems of REGISTRY_AUTH_FILE">
          <ul>{problems.map((problem) => <li key={problem}>{plain(problem)}</li>)}</ul>
        </div>
      )}
    />
  );
}

/** E.g. `ghcr.io/team`. */
export const nameOf = ({ host, pathPrefix }: Pick<Registry, "host" | "pathPrefix">): string =>
  pathPrefix === null ? host : `${host}/${pathPrefix}`;

const COLUMNS: readonly Column<Registry>[] = [
  {
    title: "Host",
    cell: (registry) => (
      <span class="name-cell wraps">
        <Text>{nameOf(registry)}</Text>
        {registry.insecure && <Badge tone="warn">Plain HTTP</Badge>}
        {registry.caCertificate !== null && <Badge>Own authority</Badge>}
      </span>
    ),
    sort: nameOf,
  },
  {
    title: "User name",
    cell: ({ username, hasPassword }) =>
      username !== null
        ? <Text>{username}</Text>
        : <span class="muted">{hasPassword ? "Identity token" : "Anonymous"}</span>,
    sort: ({ username }) => username,
  },
  {
    title: "Source",
    cell: ({ source }) => source === "file" ? "REGISTRY_AUTH_FILE" : "Stored",
    sort: ({ source }) => source,
    width: "w-l",
    wide: true,
  },
];

async function testRegistry(registry: Registry): Promise<void> {
  try {
    const { ok, error } = await api("POST /api/registries/{id}/test", {
      path: { id: registry.id },
    });
    if (!ok) return showAlert(plain(error ?? ""));
    const found = registry.hasPassword ? "accepts the credentials" : "answers";
    showStatus(`${plain(nameOf(registry))} ${found}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
