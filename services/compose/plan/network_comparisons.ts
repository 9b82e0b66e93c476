/** Comparisons of a service's networks in the plan. @module */

import type { ContainerInspect } from "../../../engine/containers.ts";
import { exposedPorts } from "../deploy/container.ts";
import { type Comparison, entries, namespaceOf } from "./comparison.ts";
import { aliasOf, isNumbered, linksOf } from "./links.ts";
import { attachmentText, describedRequest, requestOf } from "./attachments.ts";

export const NETWORK_COMPARISONS: Readonly<Record<string, Comparison>> = {
  expose: {
    wanted: (service) => {
      if (sharesNetwork(service.network_mode)) return undefined;
      const published = service.ports?.map(({ target, protocol }) => `${target}/${protocol}`);
      return entries(withoutAll((service.expose ?? []).flatMap(exposedPorts), published ?? []));
    },
    found: ({ ExposedPorts }, { PortBindings }) =>
      entries(
        withoutAll(
          Object.keys(ExposedPorts ?? {}),
          Object.entries(PortBindings ?? {}).flatMap(([port, bindings]) => bindings ? [port] : []),
        ),
      ),
  },
  external_links: {
    wanted: ({ external_links }) => entries(external_links?.map(aliasOf)),
    found: (_, __, inspect, context) =>
      entries(
        linksOf(inspect).filter(({ container }) => context.serviceOf(container) === undefined)
          .map(({ alias }) => alias),
      ),
  },
  extra_hosts: {
    wanted: ({ extra_hosts }) => entries(extra_hosts),
    found: (_, { ExtraHosts }) => entries(ExtraHosts?.map((entry) => entry.replace(":", "="))),
  },
  hostname: {
    wanted: ({ hostname }) => hostname,
    // On the host's network, the engine gives the container the name of the host.
    found: ({ Hostname }, { NetworkMode }, _, { service }) =>
      NetworkMode === "host" && service.hostname === undefined ? undefined : Hostname,
  },
  links: {
    wanted: ({ links }) => entries(links?.map(aliasOf)),
    found: (_, __, inspect, context) =>
      entries(
        linksOf(inspect).filter(({ container, alias }) =>
          context.serviceOf(container) !== undefined && !isNumbered(alias, container)
        ).map(({ alias }) => alias),
      ),
  },
  mac_address: {
    wanted: ({ mac_address }) => mac_address?.toLowerCase(),
    found: ({ MacAddress }, _, { NetworkSettings }, { service }) =>
      service.mac_address === undefined
        ? undefined
        : (MacAddress || Object.values(NetworkSettings.Networks ?? {})[0]?.MacAddress)
          ?.toLowerCase(),
  },
  network_mode: {
    wanted: ({ network_mode }) => network_mode,
    found: (_, { NetworkMode = "" }, inspect, context) => {
      if (/^(?:host|none)$/.test(NetworkMode)) return NetworkMode;
      // The engine's own network; a service that does not ask for it is on others.
      if (/^(?:bridge|default)$/.test(NetworkMode)) {
        return context.service.network_mode === "bridge" ? "bridge" : undefined;
      }
      return networksOf(inspect).includes(NetworkMode)
        ? undefined
        : namespaceOf(NetworkMode, context);
    },
  },
  networks: {
    wanted: ({ networks, hostname = "" }, { name, project }) =>
      Object.fromEntries(
        Object.entries(networks ?? {}).map(([key, attachment]) => [
          project.networks[key]?.name ?? key,
          attachmentText(
            withoutAll(attachment?.aliases ?? [], [name, hostname]),
            requestOf(attachment),
          ),
        ]),
      ),
    found: (_, { NetworkMode = "" }, inspect, { name, project, service }) => {
      if (/^(?:host|none|container:.*)$/.test(NetworkMode)) return {};
      const { Config, Id, Name, NetworkSettings } = inspect;
      // The engine adds the short id and the host name.
      const { Hostname = "" } = Config;
      const automatic = [name, Id.slice(0, 12), Name.replace(/^\//, ""), Hostname];
      const wanted = new Map(
        Object.entries(service.networks ?? {}).map(([key, attachment]) => [
          project.networks[key]?.name ?? key,
          requestOf(attachment),
        ]),
      );
      const networks = Object.entries(NetworkSettings.Networks ?? {})
        .filter(([network]) => service.network_mode !== "bridge" || network !== "bridge");
      return Object.fromEntries(networks.map(([network, endpoint]) => [
        network,
        attachmentText(
          withoutAll(endpoint.Aliases ?? [], automatic),
          describedRequest(endpoint, wanted.get(network) ?? {}, inspect),
        ),
      ]));
    },
  },
  ports: {
    wanted: ({ ports = [] }) =>
      entries(
        ports.map(({ host_ip, published, target, protocol }) =>
          portText(host_ip, published, `${target}/${protocol}`)
        ),
      ),
    found: (_, { PortBindings }) =>
      entries(
        Object.entries(PortBindings ?? {}).flatMap(([port, bindings]) =>
          (bindings ?? []).map(({ HostIp, HostPort }) => portText(HostIp, HostPort, port))
        ),
      ),
  },
};

function withoutAll(list: readonly string[], others: readonly string[]): string[] {
  const excluded = new Set(others);
  return list.filter((each) => !excluded.has(each));
}

const portText = (ip: string | undefined, published: string | undefined, target: string) =>
  `${ip && ip !== "0.0.0.0" ? `${ip}:` : ""}${published ? `${published}:` : ""}${target}`;

const networksOf = ({ NetworkSettings }: ContainerInspect) =>
  Object.keys(NetworkSettings.Networks ?? {});

const sharesNetwork = (mode = "") => /^(?:service|container):/.test(mode);
