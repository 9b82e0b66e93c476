/**
 * The values of keys in all their forms. Expected is what the Compose Specification and Compose v2
 * make of them, except where Longshore refuses what v2 ignores or the engine refuses.
 */

import { deepEqual } from "node:assert/strict";
import { loadProject } from "../../../../services/compose/load/load.ts";
import type { Service } from "../../../../services/compose/load/resolve.ts";

const REST = `
  db: {image: b, healthcheck: {test: "true"}}
networks: {default: , back: }
volumes: {data: }
`;

async function read(keys: string) {
  const compose = `services:\n  web:\n    image: a\n    ${keys}${REST}`;
  const { project, errors } = await loadProject({ compose, directory: "/opt/shop" });
  return {
    service: project?.services.web as Record<string, unknown> | undefined,
    errors: errors.map(({ path, message }) => `${path.replace("services.web.", "")} ${message}`),
  };
}

const port = (target: number, more: object = {}) => ({
  mode: "ingress",
  ...more,
  target,
  protocol: "tcp",
  ...more,
});

const bind = (source: string, target: string, more: object = {}) => ({
  type: "bind",
  source,
  target,
  bind: { create_host_path: true },
  ...more,
});

const env = (value: string | null) => ({ A: value });

/** The value of the first key of the text. */
const VALUES: readonly (readonly [keys: string, value: unknown])[] = [
  // Scalars of YAML, as variables show them.
  ["environment: {A: text}", env("text")],
  ["environment: {A: 'it''s'}", env("it's")],
  ['environment: {A: "a\\nb\\x41"}', env("a\nbA")],
  ["environment: {A: }", env(null)],
  ["environment: {A: ~}", env(null)],
  ["environment: {A: null}", env(null)],
  ["environment: {A: ''}", env("")],
  ["environment: {A: 'null'}", env("null")],
  ["environment: {A: true}", env("true")],
  ["environment: {A: False}", env("false")],
  ["environment: {A: yes}", env("yes")],
  ["environment: {A: off}", env("off")],
  ["environment: {A: 12}", env("12")],
  ["environment: {A: -12}", env("-12")],
  ["environment: {A: +12}", env("12")],
  ["environment: {A: 12345678901234567890}", env("12345678901234567890")],
  ["environment: {A: 0x1F}", env("31")],
  ["environment: {A: 0o17}", env("15")],
  ["environment: {A: 017}", env("15")],
  ["environment: {A: -017}", env("-15")],
  ["environment: {A: 0b101}", env("5")],
  ["environment: {A: 08}", env("08")],
  ["environment: {A: 1_000}", env("1000")],
  ["environment: {A: 0x1_0}", env("16")],
  ["environment: {A: '1_000'}", env("1_000")],
  ["environment: {A: _1}", env("_1")],
  ["environment: {A: 1.5}", env("1.5")],
  ["environment: {A: 1e3}", env("1000")],
  ["environment: {A: 22:22}", env("22:22")],
  ["environment: {A: 2026-01-02}", env("2026-01-02")],
  ["environment: {A: 1.2.3}", env("1.2.3")],
  ["environment: {A: '#x'}", env("#x")],
  ["environment: [A=1=2]", env("1=2")],
  ["environment: [A]", env(null)],
  ["environment: [A=]", env("")],
  ["environment: ['A= b ']", env(" b ")],
  ["environment: {1: a, true: b}", { 1: "a", true: "b" }],
  ["labels: {a: 1, b: true, c: }", { a: "1", b: "true", c: "" }],
  ["labels: [a=1, b]", { a: "1", b: "" }],
  ["read_only: 'true'", true],
  ["read_only: False", false],
  ["oom_score_adj: '5'", 5],
  ["scale: 0x2", 2],
  // Durations.
  ["stop_grace_period: 90s", "1m30s"],
  ["stop_grace_period: 1m30s", "1m30s"],
  ["stop_grace_period: 1h5m30s20ms", "1h5m30.02s"],
  ["stop_grace_period: 1.5h", "1h30m0s"],
  ["stop_grace_period: +10s", "10s"],
  ["stop_grace_period: .5s", "500ms"],
  ["stop_grace_period: 5us", "5µs"],
  ["stop_grace_period: 5µs", "5µs"],
  ["stop_grace_period: 5μs", "5µs"],
  ["stop_grace_period: 1d", "24h0m0s"],
  ["stop_grace_period: 1w", "168h0m0s"],
  ["stop_grace_period: '0'", "0s"],
  ["cpu_rt_runtime: 400ms", 400_000],
  ["cpu_rt_runtime: 95000", 95_000],
  // Sizes.
  ["mem_limit: 2b", "2"],
  ["mem_limit: 1024kb", "1048576"],
  ["mem_limit: 2048k", "2097152"],
  ["mem_limit: 300m", "314572800"],
  ["mem_limit: 1gb", "1073741824"],
  ["mem_limit: 1GiB", "1073741824"],
  ["mem_limit: 0.5g", "536870912"],
  ["mem_limit: .5g", "536870912"],
  ["mem_limit: 1 g", "1073741824"],
  ["mem_limit: 1048576", "1048576"],
  ["mem_limit: 1_048_576", "1048576"],
  ["memswap_limit: -1", "-1"],
  // Ports.
  ["ports: [80]", [port(80)]],
  ["ports: ['8080:80']", [port(80, { published: "8080" })]],
  ["ports: ['3000-3001']", [port(3000), port(3001)]],
  ["ports: ['3000-3001:80-81']", [
    port(80, { published: "3000" }),
    port(81, { published: "3001" }),
  ]],
  ["ports: ['3000-3005:80']", [port(80, { published: "3000-3005" })]],
  ["ports: ['53:53/udp']", [port(53, { published: "53", protocol: "udp" })]],
  ["ports: ['53:53/UDP']", [port(53, { published: "53", protocol: "udp" })]],
  ["ports: ['53:53/']", [port(53, { published: "53" })]],
  ["ports: ['127.0.0.1:8080:80']", [port(80, { host_ip: "127.0.0.1", published: "8080" })]],
  ["ports: ['127.0.0.1::80']", [port(80, { host_ip: "127.0.0.1" })]],
  ["ports: ['127.0.0.1:5000-5001:80-81']", [
    port(80, { host_ip: "127.0.0.1", published: "5000" }),
    port(81, { host_ip: "127.0.0.1", published: "5001" }),
  ]],
  ["ports: ['[::1]:80:80']", [port(80, { host_ip: "::1", published: "80" })]],
  ["ports: ['::1:80:80']", [port(80, { host_ip: "::1", published: "80" })]],
  ["ports: ['${NO_ADDRESS:-}:80:80']", [port(80, { published: "80" })]],
  ["ports: ['0:80']", [port(80, { published: "0" })]],
  ["ports: [22:22]", [port(22, { published: "22" })]],
  ["ports: [{target: 80}]", [port(80)]],
  ["ports: [{target: '80', published: 8080, protocol: udp, mode: host, host_ip: '::1'}]", [
    { mode: "host", protocol: "udp", host_ip: "::1", target: 80, published: "8080" },
  ]],
  ["ports: [{target: 80, published: 8000-8010}]", [port(80, { published: "8000-8010" })]],
  ["ports: [{target: 80, published: ''}]", [port(80)]],
  ["expose: [80, '81-82/udp', '83/tcp']", ["80", "81-82/udp", "83/tcp"]],
  // Volumes.
  ["volumes: [/var/lib]", [{ type: "volume", target: "/var/lib" }]],
  ["volumes: ['data:/var/lib']", [
    { type: "volume", source: "data", target: "/var/lib", volume: {} },
  ]],
  ["volumes: ['data:/var/lib:ro,nocopy']", [{
    type: "volume",
    source: "data",
    target: "/var/lib",
    volume: { nocopy: true },
    read_only: true,
  }]],
  ["volumes: ['./a:/b']", [bind("/opt/shop/a", "/b")]],
  ["volumes: ['../a:/b']", [bind("/opt/a", "/b")]],
  ["volumes: ['.:/b']", [bind("/opt/shop", "/b")]],
  ["volumes: ['/a/../c/:/b/:rw']", [bind("/c", "/b")]],
  ["volumes: ['/a:/b:ro,Z']", [
    bind("/a", "/b", { read_only: true, bind: { create_host_path: true, selinux: "Z" } }),
  ]],
  ["volumes: ['/a:/b:rslave']", [
    bind("/a", "/b", { bind: { create_host_path: true, propagation: "rslave" } }),
  ]],
  ["volumes: ['/a:/b:cached']", [bind("/a", "/b", { consistency: "cached" })]],
  ["volumes: [{type: bind, source: ./a, target: /b}]", [
    { type: "bind", source: "/opt/shop/a", target: "/b" },
  ]],
  ["volumes: [{type: volume, target: /b, volume: {subpath: x}}]", [
    { type: "volume", target: "/b", volume: { subpath: "x" } },
  ]],
  ["volumes: [{type: tmpfs, target: /b, tmpfs: {size: 1m, mode: 01777}}]", [
    { type: "tmpfs", target: "/b", tmpfs: { size: "1048576", mode: "01777" } },
  ]],
  ["tmpfs: /run", ["/run"]],
  ["tmpfs: ['/run:size=1m,mode=755']", ["/run:size=1m,mode=755"]],
  // Commands.
  ["command: a 'b c' \"d\" e\\ f", ["a", "b c", "d", "e f"]],
  ["command: [a, 'b c']", ["a", "b c"]],
  ["command: ''", []],
  ["command: []", []],
  // Hosts.
  ["extra_hosts: ['a=192.0.2.1', 'b:192.0.2.2']", ["a=192.0.2.1", "b=192.0.2.2"]],
  ["extra_hosts: ['a:::1', 'b=[::1]', 'c:[2001:db8::1]']", ["a=::1", "b=::1", "c=2001:db8::1"]],
  ["extra_hosts: ['a:host-gateway']", ["a=host-gateway"]],
  ["extra_hosts: ['a=192.0.2.1,::1']", ["a=192.0.2.1", "a=::1"]],
  ["extra_hosts: {a: 192.0.2.1, b: '[::1]', c: [192.0.2.3, 192.0.2.4]}", [
    "a=192.0.2.1",
    "b=::1",
    "c=192.0.2.3",
    "c=192.0.2.4",
  ]],
  // Limits.
  ["ulimits: {nproc: 65535, nofile: {soft: 20000, hard: 40000}}", {
    nproc: 65535,
    nofile: { soft: 20000, hard: 40000 },
  }],
  ["ulimits: {memlock: -1, core: {soft: 0, hard: -1}, stack: '8'}", {
    memlock: -1,
    core: { soft: 0, hard: -1 },
    stack: 8,
  }],
  // Health checks.
  ["healthcheck: {test: curl -f localhost}", { test: ["CMD-SHELL", "curl -f localhost"] }],
  ["healthcheck: {test: [CMD, curl], interval: 1m30s, timeout: 10s, retries: 3}", {
    test: ["CMD", "curl"],
    interval: "1m30s",
    timeout: "10s",
    retries: 3,
  }],
  ["healthcheck: {test: [NONE]}", { test: ["NONE"] }],
  ["healthcheck: {disable: true}", { disable: true }],
  ["healthcheck: {start_period: 0s, start_interval: 1ms}", {
    start_period: "0s",
    start_interval: "1ms",
  }],
  // Dependencies.
  ["depends_on: [db]", { db: { condition: "service_started", required: true } }],
  ["depends_on: {db: {condition: service_healthy, restart: true, required: false}}", {
    db: { condition: "service_healthy", restart: true, required: false },
  }],
  // Networks.
  ["networks: [back]", { back: null }],
  ["networks: {back: }", { back: null }],
  ["networks: {back: {aliases: [x], ipv4_address: 192.0.2.5, mac_address: '02:42:ac:11:00:02'}}", {
    back: { aliases: ["x"], ipv4_address: "192.0.2.5", mac_address: "02:42:ac:11:00:02" },
  }],
  // Devices.
  ["devices: [/dev/a, '/dev/b:/dev/c', '/dev/d:/dev/e:r', vendor.com/gpu=0]", [
    { source: "/dev/a", target: "/dev/a", permissions: "rwm" },
    { source: "/dev/b", target: "/dev/c", permissions: "rwm" },
    { source: "/dev/d", target: "/dev/e", permissions: "r" },
    { source: "vendor.com/gpu=0" },
  ]],
  ["gpus: all", [{ capabilities: ["gpu"], count: -1 }]],
  ["gpus: [{driver: nvidia, count: all}]", [
    { driver: "nvidia", count: -1, capabilities: ["gpu"] },
  ]],
  ["device_cgroup_rules: ['c 1:3 mr', 'a *:* rwm']", ["c 1:3 mr", "a *:* rwm"]],
  // Others.
  ["restart: on-failure:5", "on-failure:5"],
  ["dns: 192.0.2.1", ["192.0.2.1"]],
  ["profiles: []", []],
  ["ipc: service:db", "service:db"],
  ["pid: host", "host"],
];

for (const [keys, value] of VALUES) {
  Deno.test(`a service reads ${keys}`, async () => {
    const { service, errors } = await read(keys);
    const key = keys.slice(0, keys.indexOf(":")) as keyof Service;

    deepEqual([service?.[key], errors], [value, []]);
  });
}

for (
  const [keys, ...messages] of [
    ["environment: [1]", 'environment[0] must be a string; write "1"'],
    ["environment: {A: [b]}", "environment.A must be a string, a number or a boolean"],
    ["environment: a", "environment must be a map"],
    ["environment: [=a]", "environment[0] must have the form NAME=value"],
    ["read_only: on", "read_only must be true or false; on is text in YAML 1.2"],
    ["read_only: 1", "read_only must be true or false"],
    ["scale: 1.5", "scale must be a whole number from 0 to 1000"],
    ["stop_grace_period: 10", 'stop_grace_period must be a string; write "10"'],
    [
      "stop_grace_period: -1s",
      "stop_grace_period must be a duration with units, such as 30s or 1m30s",
    ],
    [
      "stop_grace_period: 1y",
      "stop_grace_period must be a duration with units, such as 30s or 1m30s",
    ],
    ["mem_limit: 1x", "mem_limit must be a size such as 512m or 2g"],
    ["mem_limit: -1", "mem_limit must be a size such as 512m or 2g"],
    ["cpus: -1", "cpus must not be negative"],
    ["ports: ['80:0']", "ports[0] must have a port of the container from 1 to 65535"],
    [
      "ports: ['80-79']",
      "ports[0] must have a port or a range of ports from 1 to 65535, not 80-79",
    ],
    ["ports: ['a:80:80']", "ports[0] must have an IP address before the port, not a"],
    ["ports: ['80:80/icmp']", "ports[0] must have one of the protocols tcp, udp, sctp"],
    ["ports: [80.5]", "ports[0] must have a port or a range of ports from 1 to 65535, not 80.5"],
    ["ports: [{published: 80}]", "ports[0] must have target"],
    [
      "volumes: [data]",
      "volumes[0] must have the form [SOURCE:]TARGET[:MODE] with an absolute path as the target, not data",
    ],
    [
      "volumes: ['data:/a:ro:x']",
      "volumes[0] must have the form [SOURCE:]TARGET[:MODE] with an absolute path as the target, not data:/a:ro:x",
    ],
    [
      "volumes: [':/a']",
      "volumes[0] must have the form [SOURCE:]TARGET[:MODE] with an absolute path as the target, not :/a",
    ],
    ["tmpfs: run", "tmpfs must be an absolute path"],
    ["working_dir: srv", "working_dir must be an absolute path"],
    ["extra_hosts: [a]", "extra_hosts[0] must have the form HOST:ADDRESS"],
    ["extra_hosts: ['=192.0.2.1']", "extra_hosts[0] must have the form HOST:ADDRESS"],
    ["extra_hosts: ['a:b=192.0.2.1']", "extra_hosts[0] must have the form HOST:ADDRESS"],
    [
      "extra_hosts: ['a:b']",
      "extra_hosts[0] must have an IP address or host-gateway behind the name of the host",
    ],
    [
      "extra_hosts: {a: b}",
      "extra_hosts.a must have an IP address or host-gateway behind the name of the host",
    ],
    ["ulimits: {nofiles: 5}", "ulimits.nofiles is unknown; did you mean nofile?"],
    ["ulimits: {nofile: {soft: 5}}", "ulimits.nofile must have hard"],
    ["ulimits: {nofile: {soft: 5, hard: 4}}", "ulimits.nofile must have soft not above hard"],
    ["ulimits: {nofile: {soft: -1, hard: 4}}", "ulimits.nofile must have soft not above hard"],
    ["healthcheck: {interval: 5us}", "healthcheck.interval must be 0 or at least 1ms"],
    ["healthcheck: {test: [curl]}", "healthcheck.test must begin with NONE, CMD or CMD-SHELL"],
    ["depends_on: {db: {restart: true}}", "depends_on.db must have condition"],
    ["depends_on: {db: }", "depends_on.db must have condition"],
    [
      "networks: {back: {ipv4_address: '::1'}}",
      "networks.back.ipv4_address must be an IPv4 address such as 192.0.2.10",
    ],
    [
      "networks: {back: {ipv6_address: 192.0.2.1}}",
      "networks.back.ipv6_address must be an IPv6 address such as 2001:db8::10",
    ],
    ["mac_address: '02:42'", "mac_address must be a MAC address such as 02:42:ac:11:00:02"],
    ["devices: ['/dev/a:/dev/b:x']", "devices[0] must have the form SOURCE[:TARGET[:PERMISSIONS]]"],
    [
      "device_cgroup_rules: [c 1:3]",
      "device_cgroup_rules[0] must have the form TYPE MAJOR:MINOR PERMISSIONS, such as c 1:3 mr",
    ],
    ["blkio_config: {weight: 5}", "blkio_config.weight must be a whole number from 10 to 1000"],
    [
      "ipc: shared",
      "ipc must be one of none, host, private, shareable, service:NAME, container:NAME",
    ],
    ["pid: none", "pid must be one of host, service:NAME, container:NAME"],
  ] as const
) {
  Deno.test(`a service refuses ${keys}`, async () => {
    deepEqual((await read(keys)).errors, messages);
  });
}

for (
  const [config, message] of [
    ["{subnet: 192.0.2.0}", "subnet must be a range of addresses such as 192.0.2.0/24"],
    ["{subnet: 192.0.2.0/33}", "subnet must be a range of addresses such as 192.0.2.0/24"],
    ["{gateway: 192.0.2.0/24}", "gateway must be an IP address"],
    ["{aux_addresses: {a: b}}", "aux_addresses.a must be an IP address"],
  ] as const
) {
  Deno.test(`a network refuses ${config}`, async () => {
    const compose = `services: {}\nnetworks: {a: {ipam: {config: [${config}]}}}`;
    const { errors } = await loadProject({ compose });

    deepEqual(errors.map(({ path, message }) => `${path} ${message}`), [
      `networks.a.ipam.config[0].${message}`,
    ]);
  });
}

for (const id of ["a", "-1", "2097152"]) {
  Deno.test(`the owner ${id} of a secret's file is an error`, async () => {
    const compose = "services: {web: {image: a, secrets: [{source: s, uid: '" + id +
      "'}]}}\nsecrets: {s: {file: /s}}";
    const { errors } = await loadProject({ compose, directory: "/opt/shop" });

    deepEqual(errors.map(({ path, message }) => `${path} ${message}`), [
      "services.web.secrets[0].uid must be a number below 2097152",
    ]);
  });
}
