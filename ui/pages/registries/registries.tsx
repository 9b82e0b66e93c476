/** Registries: credentials for private images. @module */

import { api } from "../../api/client.ts";
import type { Registry } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { RegistryForm } from "./form.tsx";

export default function Registries() {
  const { data, error, reload } = useRead("GET /api/registries", {});
  const dialog = useDialog();
  const edit = (registry?: Registry) => dialog.open(RegistryForm, { registry, onSaved: reload });
  const problems = data.value?.authFile?.problems ?? [];
  return (
    <Page
      title="Registries"
      actions={hasRole("admin", "registries:write") && (
        <Button
          kind="primary"
          icon="plus"
          onClick={() => edit()}
        >
          New registry
        </Button>
      )}
    >
      {problems.length > 0 && (
        <div class="note" role="note" aria-label="Problems of REGISTRY_AUTH_FILE">
          <ul>{problems.map((problem) => <li key={problem}>{plain(problem)}</li>)}</ul>
        </div>
      )}
      <Listing
        name="Registries"
        columns={COLUMNS}
        rows={data.value?.registries}
        error={error.value}
        onRetry={reload}
        nameOf={nameOf}
        actionsFor={["admin", "registries:write"]}
        actions={(registry) => menuOf(registry, { onChange: reload, onEdit: () => edit(registry) })}
        defaultSort="host"
        empty={"No registries yet. Credentials of a registry let Longshore pull its private " +
          "images and check them for updates."}
      />
      {dialog.shown}
    </Page>
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

function menuOf(registry: Registry, { onChange, onEdit }: {
  onChange: () => void;
  onEdit: () => void;
}): MenuItem[] {
  const test = { name: "Test", onSelect: () => void testRegistry(registry) };
  if (registry.source === "file") return [test];
  return [
    { name: "Edit", onSelect: onEdit },
    test,
    deleteItem(() => remove(registry), onChange),
  ];
}

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

async function remove(registry: Registry): Promise<boolean> {
  const name = nameOf(registry);
  const consequence = `The credentials of ${plain(name)} are deleted. Its private images can no ` +
    "longer be pulled.";
  return await deleteConfirmed(
    name,
    consequence,
    () => api("DELETE /api/registries/{id}", { path: { id: registry.id } }),
  );
}
