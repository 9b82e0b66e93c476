/** Containers of a trial, made from the descriptions of others. */

import { deepEqual, equal, throws } from "node:assert/strict";
import type { ContainerInspect } from "../../../engine/containers.ts";
import type { ImageInspect } from "../../../engine/images.ts";
import { trialBody } from "../../../services/updates/trial/create_body.ts";
import {
  assertHarmless,
  inStartOrder,
  planMember,
  type TrialMember,
} from "../../../services/updates/trial/members.ts";

const IMAGE = { Id: "sha256:1", Config: {} } as ImageInspect;

/** A container as the engine describes it. */
function member(
  name: string,
  { HostConfig = {}, ...more }: Partial<ContainerInspect> & { service?: string } = {},
): TrialMember {
  return planMember(
    {
      name,
      id: name.padEnd(64, "0"),
      service: more.service ?? null,
      Config: { ...more.Config },
      HostConfig,
      Mounts: more.Mounts ?? [],
      NetworkSettings: more.NetworkSettings ?? {},
    },
    { own: IMAGE, image: IMAGE },
    {},
  );
}

const bodyOf = (subject: TrialMember, others: readonly TrialMember[] = []) =>
  trialBody({ kind: "docker" }, subject, {
    network: "private",
    volumes: new Map([["volume:data", "copy"]]),
    files: new Set<string>(),
    created: others.map((other) => ({ member: other, id: `new-${other.name}` })),
    members: [subject, ...others],
    labels: { "longshore.trial": "x" },
  }, { "traefik.http.routers.web.rule": "Host(`web`)" });

Deno.test("a copy has nothing that reaches outside of its trial", () => {
  const body = bodyOf(member("web", {
    service: "web",
    Config: {
      Hostname: "0123456789ab",
      MacAddress: "02:42:ac:11:00:02",
      Labels: { "com.docker.compose.project": "shop", "traefik.enable": "true" },
      Env: ["A=1", "VIRTUAL_HOST=shop.example"],
    },
    HostConfig: {
      NetworkMode: "shop_default",
      PortBindings: { "80/tcp": [{ HostPort: "80" }] },
      PublishAllPorts: true,
      RestartPolicy: { Name: "always" },
      AutoRemove: true,
      Binds: ["/var/run/docker.sock:/var/run/docker.sock", "data:/data"],
      VolumesFrom: ["other"],
      CgroupParent: "/other",
      LogConfig: { Type: "gelf", Config: { "gelf-address": "udp://logs.example:1" } },
      Dns: ["192.0.2.1"],
      Memory: 1_000_000,
      CapDrop: ["ALL"],
    },
    Mounts: [
      { Type: "bind", Source: "/var/run/docker.sock", Destination: "/var/run/docker.sock" },
      { Type: "volume", Name: "data", Destination: "/data", RW: false },
    ],
    NetworkSettings: {
      Networks: {
        shop_default: {
          Aliases: ["www", "0123456789ab"],
          IPAMConfig: { IPv4Address: "172.20.0.9" },
        },
      },
    },
  }));

  deepEqual(body, {
    Env: ["A=1"],
    ExposedPorts: null,
    Volumes: null,
    Healthcheck: null,
    Entrypoint: null,
    Cmd: null,
    Image: "sha256:1",
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    Labels: {
      "traefik.http.routers.web.rule": "",
      "autoheal": "false",
      "com.centurylinklabs.watchtower.enable": "false",
      "com.ouroboros.enable": "false",
      "diun.enable": "false",
      "ofelia.enabled": "false",
      "traefik.enable": "false",
      "wud.watch": "false",
      "longshore.trial": "x",
    },
    HostConfig: {
      CapDrop: ["ALL"],
      Memory: 1_000_000,
      NetworkMode: "private",
      Mounts: [{ Type: "volume", Source: "copy", Target: "/data", ReadOnly: true }],
      RestartPolicy: { Name: "no" },
      Dns: ["127.0.0.1"],
      LogConfig: { Type: "json-file", Config: { "max-size": "10m" } },
    },
    NetworkingConfig: { EndpointsConfig: { private: { Aliases: ["web", "www"] } } },
  });
});

Deno.test("copies share namespaces and names with each other", () => {
  const vpn = member("vpn", { service: "vpn" });
  const app = member("app", {
    Config: { Hostname: "app" },
    HostConfig: {
      NetworkMode: `container:${vpn.id}`,
      PidMode: "container:vpn",
      Links: ["/vpn:/app/gate"],
    },
  });
  const { HostConfig, NetworkingConfig, Hostname } = bodyOf(app, [vpn]);
  deepEqual([HostConfig?.NetworkMode, HostConfig?.PidMode, NetworkingConfig, Hostname], [
    "container:new-vpn",
    "container:new-vpn",
    undefined,
    undefined,
  ]);
  deepEqual(bodyOf(vpn, [app]).NetworkingConfig?.EndpointsConfig?.private?.Aliases, [
    "vpn",
    "gate",
  ]);
  deepEqual(inStartOrder([app, vpn]).map(({ name }) => name), ["vpn", "app"]);
  equal(assertHarmless([app, vpn]), undefined);
});

for (
  const { what, HostConfig, error } of [
    { what: "privileges", HostConfig: { Privileged: true }, error: "is privileged" },
    { what: "a device", HostConfig: { Devices: [{}] }, error: "has devices of the host" },
    {
      what: "the host's network",
      HostConfig: { NetworkMode: "host" },
      error: "is in the host's network",
    },
    {
      what: "the host's processes",
      HostConfig: { PidMode: "host" },
      error: "sees the host's processes",
    },
    {
      what: "a right",
      HostConfig: { CapAdd: ["CAP_SYS_ADMIN"] },
      error: "has the capability CAP_SYS_ADMIN",
    },
    {
      what: "another container's network",
      HostConfig: { NetworkMode: "container:other" },
      error: "shares a namespace with a container that is not part of it",
    },
  ]
) {
  Deno.test(`a container with ${what} is not tried out`, () => {
    throws(() => assertHarmless([member("web", { HostConfig })]), {
      message: `It cannot be tried out: web ${error}`,
    });
  });
}
