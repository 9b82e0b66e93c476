/** Containers, stacks, updates and alerts of all hosts, from the copy that this server keeps. @module */

import type { InputOf } from "../../api/client.ts";
import type {
  FleetAlert,
  FleetContainer,
  FleetHost,
  FleetStack,
  FleetUpdate,
} from "../../api/types.ts";
import { imageName, plain } from "../../base/text.ts";
import { type Column, stateColumn, textColumn, timeColumn } from "../../components/columns.tsx";
import { Listing, type ListingProps } from "../../components/listing.tsx";
import { offsetOf, Pager } from "../../components/pager.tsx";
import { type Reading, useRead, useReloadEvery } from "../../components/reading.ts";
import { QuerySelect, SearchField } from "../../components/search.tsx";
import { State } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { stackPath } from "../../paths.ts";
import { ACTIONS, actionsFor, runAction } from "../../state/container_actions.ts";
import { href, navigate, query, setQuery } from "../../state/router.ts";
import { statusOf } from "../stacks/actions.ts";
import { WithSeverity } from "../alerts/active.tsx";
import { shortName, wordOf } from "../updates/columns.tsx";
import { labelText } from "./form.tsx";

export interface ListProps {
  hosts: readonly FleetHost[];
}

/** Number of rows on a page; the most that the API gives. */
const PAGE_SIZE = 200;

/** Time between two readings of the hub's copies, in milliseconds: who sees hosts alone gets no changes. */
const REREAD_MS = 10_000;

/** Resource that changes with the hub's copies. */
const COPIES = ["/api/fleet/overview"];

interface OfHost {
  id: string;
  host: string;
  asOf: string;
}

/** Address of a page of a host. */
const atHost = ({ host }: OfHost, path: string) => `/hosts/${host}${path}`;

const nameLink = <Row extends OfHost>(row: Row, name: string, path: string) => (
  <a class="name cut" href={href(atHost(row, path))}>{plain(name)}</a>
);

export function Containers({ hosts }: ListProps) {
  const reading = useRead("GET /api/fleet/containers", { query: readQuery() }, COPIES);
  return (
    <HostRows
      name="Containers"
      hosts={hosts}
      reading={reading}
      rows={reading.data.value?.containers}
      columns={[
        {
          title: "Name",
          cell: (row) => nameLink(row, row.name, containerPath(row)),
          width: "w-name",
        },
        stateColumn("State", ({ state }) => state, { secondLine: true, width: "w-s" }),
        stateColumn("Health", ({ health }) => health, { wide: true, width: "w-s" }),
        textColumn("Image", ({ image }) => imageName(image), { wide: true }),
        textColumn("Stack", ({ stack }) => stack, { wide: true, width: "w-m" }),
      ] satisfies Column<FleetContainer>[]}
      actions={(row) => [
        ...actionsFor(row).map((action) => ({
          name: ACTIONS[action].verb,
          onSelect: () => void runAction(row, action, row.host).then(reading.reload),
        })),
        { name: "Logs", onSelect: () => navigate(atHost(row, `${containerPath(row)}/logs`)) },
      ]}
    />
  );
}

const containerPath = ({ id }: FleetContainer) =>
  `/containers/${encodeURIComponent(id.slice(0, 12))}`;

export function Stacks({ hosts }: ListProps) {
  const reading = useRead("GET /api/fleet/stacks", { query: readQuery() }, COPIES);
  return (
    <HostRows
      name="Stacks"
      hosts={hosts}
      reading={reading}
      rows={reading.data.value?.stacks}
      columns={[
        { title: "Name", cell: (row) => nameLink(row, row.name, stackPath(row)), width: "w-name" },
        stateColumn("Status", statusOf, { secondLine: true, width: "w-m" }),
        textColumn("Running", ({ running, containerCount }) => `${running} of ${containerCount}`, {
          wide: true,
          width: "w-m",
        }),
      ] satisfies Column<FleetStack>[]}
    />
  );
}

export function Updates({ hosts }: ListProps) {
  const reading = useRead("GET /api/fleet/updates", { query: readQuery() }, COPIES);
  return (
    <HostRows
      name="Updates"
      hosts={hosts}
      reading={reading}
      rows={reading.data.value?.updates}
      nameOf={({ image }) => image}
      columns={[
        { title: "Image", cell: (row) => nameLink(row, shortName(row), "/updates") },
        {
          title: "Status",
          cell: ({ status }) => {
            const { name, tone } = wordOf(status);
            return <State state={name} tone={tone} />;
          },
          secondLine: true,
          width: "w-l",
        },
        textColumn("Newest", ({ newestTag }) => newestTag, { wide: true, width: "w-m" }),
        textColumn(
          "Containers",
          ({ containers }) => containers.map(({ name }) => name).join(", "),
          {
            wide: true,
          },
        ),
        timeColumn("Checked", ({ checkedAt }) => checkedAt, { wide: true, width: "w-s" }),
      ] satisfies Column<FleetUpdate>[]}
    />
  );
}

export function Alerts({ hosts }: ListProps) {
  const reading = useRead("GET /api/fleet/alerts", { query: readQuery() }, COPIES);
  return (
    <HostRows
      name="Alerts"
      hosts={hosts}
      reading={reading}
      rows={reading.data.value?.alerts}
      nameOf={({ ruleName }) => ruleName}
      hasTallRows
      columns={[
        {
          title: "Alert",
          cell: (row) => (
            <WithSeverity name={row.ruleName} severity={row.severity}>
              {plain(row.message)}
            </WithSeverity>
          ),
        },
        timeColumn("Fired", ({ firedAt }) => firedAt, { width: "w-s" }),
      ] satisfies Column<FleetAlert>[]}
      actions={(row) => [
        { name: "Show alerts", onSelect: () => navigate(atHost(row, "/alerts")) },
      ]}
    />
  );
}

/** A list with its host in each row, its filters and its pages. */
function HostRows<Row extends OfHost>({ name, hosts, reading, columns, ...listing }:
  & Omit<ListingProps<Row>, "empty" | "filter" | "keyOf">
  & ListProps
  & { name: string; reading: Reading<{ total: number }> }) {
  const { data, reload } = reading;
  useReloadEvery(REREAD_MS, reload);
  const things = name.toLowerCase();
  const isWhole = (data.value?.total ?? 0) <= PAGE_SIZE;
  const { search, host, label } = readQuery();
  const isFiltered = search !== undefined || host !== undefined || label !== undefined;
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <SearchField name={`Filter ${things}`} placeholder="Name, image or host" />
        <QuerySelect
          name="Host"
          param="host"
          all="All hosts"
          options={options(hosts.map((each) => each.name))}
        />
        {labelsOf(hosts).length > 0 && (
          <QuerySelect
            name="Label"
            param="label"
            all="All labels"
            options={options(labelsOf(hosts))}
          />
        )}
      </div>
      <Listing
        {...listing}
        name={name}
        columns={[...columns, hostColumn<Row>(hosts)].map(({ sort, ...column }) => ({
          ...column,
          // A page alone cannot be sorted.
          ...isWhole && sort && { sort },
        }))}
        reading={reading}
        keyOf={({ host, id }) => `${host} ${id}`}
        empty={`No ${things} on any host, as far as is known here.`}
        filter={isFiltered
          ? {
            things,
            onClear: () => setQuery({ q: undefined, host: undefined, label: undefined }),
          }
          : undefined}
      />
      {data.value && (
        <Pager
          total={data.value.total}
          limit={PAGE_SIZE}
          offset={offsetOf()}
          words={["Previous", "Next"]}
        />
      )}
    </>
  );
}

/** The host of a row, and the age of what an absent one had. */
function hostColumn<Row extends OfHost>(hosts: readonly FleetHost[]): Column<Row> {
  const connected = new Set(hosts.flatMap(({ name, state }) => state === "connected" ? name : []));
  return {
    title: "Host",
    cell: (row) => (
      <span class="outcome">
        <a class="cut" href={href(atHost(row, "/"))}>{plain(row.host)}</a>
        {!connected.has(row.host) && (
          <span class="muted secondary">
            as of <Time at={row.asOf} />
          </span>
        )}
      </span>
    ),
    sort: ({ host }) => host,
    width: "w-l",
  };
}

const options = (values: readonly string[]) => values.map((value) => ({ value, name: value }));

/** Each label that a host has, as `key=value`. */
const labelsOf = (hosts: readonly FleetHost[]): string[] =>
  [
    ...new Set(
      hosts.flatMap(({ labels }) =>
        Object.entries(labels).map(([key, value]) => labelText({ [key]: value }))
      ),
    ),
  ].sort();

/** The filters and the page in the address, which anyone can have written. */
function readQuery(): NonNullable<InputOf<"GET /api/fleet/containers">["query"]> {
  const search = query.value.get("q")?.slice(0, 255);
  const host = query.value.get("host")?.slice(0, 255);
  const label = query.value.get("label")?.slice(0, 128);
  return {
    ...search && { search },
    ...host && { host },
    ...label && { label },
    limit: PAGE_SIZE,
    offset: offsetOf(),
  };
}
