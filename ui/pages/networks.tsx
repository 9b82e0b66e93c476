/** Networks: the table of all, creating and removing them. @module */

import { api } from "../api/client.ts";
import type { Network } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { type Column, textColumn, timeColumn } from "../components/columns.tsx";
import { useDialog } from "../components/dialog.tsx";
import { CheckField, SelectField, TextArea, TextField } from "../components/fields.tsx";
import { EditDialog, type EditProps } from "../components/form.tsx";
import { type FormValues, pairsOf } from "../components/form_values.ts";
import { useRead } from "../components/reading.ts";
import { Badge, Text } from "../components/states.tsx";
import { plain } from "../base/text.ts";
import { hasRole } from "../state/session.ts";
import { Incomplete } from "../parts/incomplete.tsx";
import { PruneDialog } from "../parts/prune.tsx";
import { useContainerChanges, UsedBy } from "../parts/used_by.tsx";
import { ResourcePage } from "../components/resource.tsx";

/** The engine creates these itself and refuses to remove them. */
const PREDEFINED = ["bridge", "host", "none", "ingress", "docker_gwbridge", "podman"];

const COLUMNS: readonly Column<Network>[] = [
  {
    title: "Name",
    cell: ({ name, internal, warning }) => (
      <span class="name-cell wraps">
        <Text>{name}</Text>
        {internal && <Badge>Internal</Badge>}
        <Incomplete warning={warning} />
      </span>
    ),
    sort: ({ name }) => name,
  },
  textColumn("Driver", ({ driver }) => driver, { wide: true, width: "w-s" }),
  {
    title: "Subnets",
    cell: ({ subnets }) => <Text>{subnets.join(", ") || "–"}</Text>,
    sort: ({ subnets }) => subnets[0],
    wide: true,
  },
  {
    title: "Containers",
    cell: ({ containers }) => <UsedBy names={namesIn(containers)} />,
    sort: ({ containers }) => containers.length,
  },
  timeColumn("Created", ({ createdAt }) => createdAt, { wide: true, width: "w-s" }),
];

export default function Networks() {
  const reading = useRead("GET /api/networks", {});
  const { reload } = reading;
  useContainerChanges(reload);
  const networks = reading.data.value?.networks;
  const dialog = useDialog();
  const prune = () =>
    dialog.open(PruneDialog, { things: "networks", kinds: ["networks"], onPruned: reload });
  return (
    <ResourcePage
      title="Networks"
      noun="network"
      reading={reading}
      rows={networks}
      columns={COLUMNS}
      write={["admin", "networks:write"]}
      form={(props) => <NewNetwork {...props} drivers={driversOf(networks)} />}
      actionsFor={["admin", "networks:write"]}
      actions={({ name }, { remove }) =>
        // Those of the engine are shown, but cannot be chosen.
        remove.map((item) => PREDEFINED.includes(name) ? { ...item, onSelect: undefined } : item)}
      deletion={{
        verb: "Remove",
        consequence: describeLoss,
        work: ({ id }) => api("DELETE /api/networks/{id}", { path: { id } }),
      }}
      search={{ textOf, placeholder: "Filter by name, driver, subnet or container" }}
      dialog={dialog}
      defaultSort="name"
      empty="This host has no networks."
      buttons={hasRole("admin", "networks:write") && (
        <Button onClick={prune}>
          Prune networks
        </Button>
      )}
    />
  );
}

function NewNetwork({ drivers, ...dialog }: EditProps<Network> & { drivers: readonly string[] }) {
  const save = ({ subnet, gateway, labels, ...values }: FormValues) => {
    const body = {
      ...values as { name: string; driver: string; internal: boolean },
      ...(subnet && { subnet }),
      ...(gateway && { gateway }),
      labels: pairsOf(labels),
    };
    return api("POST /api/networks", { body });
  };
  return (
    <EditDialog noun="network" save={save} {...dialog}>
      <TextField label="Name" name="name" required maxLength={255} autocomplete="off" />
      <SelectField label="Driver" name="driver" options={drivers} value="bridge" />
      <CheckField label="Internal" name="internal" />
      <TextField
        label="Subnet"
        name="subnet"
        placeholder="10.80.0.0/24"
        hint="Optional; the engine chooses one otherwise"
        autocomplete="off"
      />
      <TextField
        label="Gateway"
        name="gateway"
        placeholder="10.80.0.1"
        hint="Optional; an address in the subnet"
        autocomplete="off"
      />
      <TextArea label="Labels" name="labels" rows={2} code hint="One per line: name=value" />
    </EditDialog>
  );
}

function describeLoss({ name, containers }: Network): string {
  const users = namesIn(containers).map(plain).join(", ");
  return users === ""
    ? `The network ${plain(name)} is removed. No container uses it.`
    : `The network ${plain(name)} is removed. These containers use it: ${users}.`;
}

const namesIn = (containers: Network["containers"]) => containers.map(({ name }) => name);

const textOf = ({ name, driver, subnets, containers }: Network) =>
  [name, driver, ...subnets, ...namesIn(containers)].join("\n");

/** The engine's own drivers, and those of plugins that existing networks have. */
function driversOf(networks: readonly Network[] | undefined): string[] {
  const used = networks?.map(({ driver }) => driver) ?? [];
  return [...new Set(["bridge", "macvlan", "ipvlan", "overlay", ...used])]
    .filter((driver) => driver !== "host" && driver !== "null");
}
