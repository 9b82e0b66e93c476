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
      CapDrop: ["ALL", "NET_RAW"],
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

/** As text, because the engine finds fields in any case and merges objects. */
const FORGED = `{
  "Config": {
    "Env": ["A=1", "SECRET", "*"], "User": "0", "Tty": true, "Image": "other",
    "hostconfig": { "Privileged": true, "Binds": ["/:/h"] }, "HOSTCONFIG": { "PidMode": "host" },
    "HostConfig": { "Privileged": true }, "networkingconfig": { "EndpointsConfig": { "lan": {} } },
    "NetworkingConfig": { "EndpointsConfig": { "lan": {} } }, "macaddress": "02:00:00:00:00:01",
    "__proto__": { "Hostname": "inherited", "Privileged": true },
    "Healthcheck": { "Test": ["CMD", "true"], "test": ["NONE"], "Interval": 5, "Other": 1 },
    "Volumes": { "/own": { "Any": 1 } }
  },
  "HostConfig": {
    "privileged": true, "PRIVILEGED": true, "devices": [{ "PathOnHost": "/dev/sda" }],
    "pidmode": "host", "binds": ["/:/h"], "CgroupnsMode": "host", "Annotations": { "a": "b" },
    "__proto__": { "Privileged": true },
    "Mounts": [{
      "Type": "tmpfs", "type": "bind", "Source": "/", "source": "/", "Target": "/h",
      "BindOptions": { "Propagation": "rshared" }, "bindoptions": {},
      "TmpfsOptions": { "SizeBytes": 1, "Mode": 511, "Options": [["exec"]] }
    }],
    "MaskedPaths": [], "ReadonlyPaths": [], "Runtime": "runc", "OomScoreAdj": -1000,
    "SecurityOpt": ["no-new-privileges"], "CapAdd": ["NET_RAW", "CAP_CHOWN", "cap_net_raw"],
    "Sysctls": {
      "net.ipv6.conf.all.disable_ipv6": "0", "net/ipv6/conf/all/disable_ipv6": "0",
      "net.core.somaxconn": "1", "kernel.core_pattern": "|/x", "kernel.shmmax": "2"
    },
    "GroupAdd": ["audio", "keep-groups"],
    "Ulimits": [{ "Name": "nofile", "Soft": 1, "Hard": 2, "Other": 3 }],
    "StorageOpt": { "size": "1G", "other": "x" }
  },
  "Mounts": [{ "Type": "volume", "Name": "data", "Destination": "/data", "type": "bind", "source": "/" }],
  "NetworkSettings": { "Networks": { "lan": { "Aliases": ["www"], "DriverOpts": { "a": "b" } } } }
}`;

Deno.test("a forged description gives a copy no field that it should not have", () => {
  const forged = member("web", JSON.parse(FORGED));
  equal(assertHarmless([forged]), undefined);
  const { Labels: _, ...body } = bodyOf(forged);
  // The text, which is what the engine reads.
  deepEqual(JSON.parse(JSON.stringify(body)), {
    Env: ["A=1"],
    User: "0",
    Tty: true,
    Image: "sha256:1",
    Healthcheck: { Test: ["CMD", "true"], Interval: 5 },
    Volumes: { "/own": {} },
    ExposedPorts: null,
    Entrypoint: null,
    Cmd: null,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    HostConfig: {
      Mounts: [
        { Type: "volume", Source: "copy", Target: "/data", ReadOnly: false },
        { Type: "tmpfs", Target: "/h", TmpfsOptions: { SizeBytes: 1, Mode: 511 } },
      ],
      SecurityOpt: ["no-new-privileges"],
      CapAdd: ["CAP_CHOWN"],
      CapDrop: ["NET_RAW"],
      Sysctls: { "net.core.somaxconn": "1", "kernel.shmmax": "2" },
      GroupAdd: ["audio"],
      Ulimits: [{ Name: "nofile", Soft: 1, Hard: 2 }],
      StorageOpt: { size: "1G" },
      NetworkMode: "private",
      RestartPolicy: { Name: "no" },
      Dns: ["127.0.0.1"],
      LogConfig: { Type: "json-file", Config: { "max-size": "10m" } },
    },
    NetworkingConfig: { EndpointsConfig: { private: { Aliases: ["web", "www"] } } },
  });
});

for (
  const [field, described] of Object.entries({
    "Config.Env": { Config: { Env: "A=1" } },
    // For Podman, a mount of the host.
    "Config.Volumes./:/h": { Config: { Volumes: { "/:/h": {} } } },
    "HostConfig.Tmpfs./h,type=bind": { HostConfig: { Tmpfs: { "/h,type=bind": "" } } },
    "HostConfig.CapAdd.0": { HostConfig: { CapAdd: [["SYS_ADMIN"]] } },
    "Mounts.0.Destination": { Mounts: [{ Type: "volume", Destination: "/h,type=bind,src=/" }] },
  })
) {
  Deno.test(`a description with another form of ${field} is refused`, () => {
    throws(() => member("web", described as unknown as Partial<ContainerInspect>), {
      message: `It cannot be tried out: web has an unknown form of ${field}`,
    });
  });
}

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
      what: "a right that the engine spells otherwise",
      HostConfig: { CapAdd: ["\u017fYS_ADMIN"] },
      error: "has the capability \u017fYS_ADMIN",
    },
    { what: "all rights", HostConfig: { CapAdd: ["all"] }, error: "has the capability all" },
    {
      what: "no profile",
      HostConfig: { SecurityOpt: ["no-new-privileges:true", "apparmor=unconfined"] },
      error: "has the security option apparmor=unconfined",
    },
    {
      what: "no label",
      HostConfig: { SecurityOpt: ["label:disable"] },
      error: "has the security option label:disable",
    },
    {
      what: "another runtime",
      HostConfig: { Runtime: "other" },
      error: "has a runtime that is not the default one",
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
