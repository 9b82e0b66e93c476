import { deepEqual } from "node:assert/strict";
import { addressesOf } from "../../../services/containers/addresses.ts";
import type { Container, ContainerPort } from "../../../services/containers/inventory.ts";

interface Case {
  labels?: Record<string, string>;
  env?: Record<string, string>;
  ports?: Partial<ContainerPort>[];
  publicHost?: string;
}

function addresses({ labels = {}, env = {}, ports = [], publicHost }: Case): string[] {
  const container = {
    labels,
    ports: ports.map((port) => ({ ip: "0.0.0.0", privatePort: 80, type: "tcp", ...port })),
    details: { env: Object.entries(env).map(([name, value]) => ({ name, value })) },
  } as unknown as Container;
  return addressesOf(container, { publicHost: publicHost ?? null })
    .map(({ url, source }) => `${source} ${url}`);
}

const router = (name: string, settings: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [`traefik.http.routers.${name}.${key}`, value]),
  );

const CASES: [what: string, given: Case, expected: string[]][] = [
  ["nothing", {}, []],
  ["the own label comes first, and equal addresses count once", {
    labels: {
      "homepage.href": "https://a.example.com",
      "dockhand.url": "https://b.example.com/x",
      "longshore.url": " https://a.example.com/ ",
    },
  }, ["longshore.url https://a.example.com/", "dockhand.url https://b.example.com/x"]],
  ["hosts of Traefik's rules, by the entry point's scheme", {
    labels: {
      ...router("a", { rule: "Host(`a.test`) || Host(`b.test`)", entrypoints: "web" }),
      ...router("c", { rule: "Host(`c.test`) && PathPrefix(`/api`)", entrypoints: "websecure" }),
      ...router("d", { rule: "Host(`d.test`, `e.test`)", tls: "true" }),
      ...router("f", { rule: 'Host("f.test")', "tls.certresolver": "le" }),
      ...router("g", { rule: "HostRegexp(`.+\\.g\\.test`)" }),
    },
  }, [
    "traefik http://a.test/",
    "traefik http://b.test/",
    "traefik https://c.test/api",
    "traefik https://d.test/",
    "traefik https://e.test/",
    "traefik https://f.test/",
  ]],
  ["containers that Traefik leaves out", {
    labels: { "traefik.enable": "false", ...router("a", { rule: "Host(`a.test`)" }) },
  }, []],
  ["hosts of nginx-proxy, without patterns", {
    env: { VIRTUAL_HOST: "a.test,b.test, *.c.test,~^d", LETSENCRYPT_HOST: "b.test" },
  }, ["VIRTUAL_HOST http://a.test/", "VIRTUAL_HOST https://b.test/"]],
  ["sites of Caddy", {
    labels: {
      "caddy": "a.test, http://b.test:8080",
      "caddy_1": "(snippet) *.c.test d.test/path",
      "caddy.reverse_proxy": "x.test",
    },
  }, [
    "caddy https://a.test/",
    "caddy http://b.test:8080/",
    "caddy https://d.test/path",
  ]],
  ["what a page must not lead to", {
    labels: {
      "longshore.url": "javascript:alert(1)",
      "homepage.href": "https://user:password@a.test/",
      "dockhand.url": `https://${"a".repeat(3_000)}.test`,
      ...router("a", { rule: "Host(``)" }),
    },
  }, []],
  ["ports without PUBLIC_HOST: those that are bound to one address", {
    ports: [
      { publicPort: 80 },
      { publicPort: 8080, ip: null },
      { publicPort: 9000, ip: "192.0.2.1" },
      { publicPort: 8443, ip: "2001:db8::1" },
      { publicPort: 9001, ip: "127.0.0.1" },
      { publicPort: 9002, ip: "::1" },
    ],
  }, ["port http://192.0.2.1:9000/", "port https://[2001:db8::1]:8443/"]],
  ["ports with PUBLIC_HOST", {
    publicHost: "host.test",
    ports: [
      { publicPort: 80 },
      { publicPort: 80, ip: "::" },
      { publicPort: 443 },
      { publicPort: 53, type: "udp" },
      { publicPort: null },
      { publicPort: 8080, ip: null },
    ],
  }, ["port http://host.test/", "port https://host.test/", "port http://host.test:8080/"]],
  ["an IPv6 address as PUBLIC_HOST", {
    publicHost: "2001:db8::2",
    ports: [{ publicPort: 8080 }],
  }, ["port http://[2001:db8::2]:8080/"]],
];

for (const [what, given, expected] of CASES) {
  Deno.test(`addresses of a container: ${what}`, () => deepEqual(addresses(given), expected));
}

Deno.test("a container has at most ten addresses", () => {
  const ports = Array.from({ length: 2_000 }, (_, index) => ({ publicPort: 1_000 + index }));
  deepEqual(addresses({ publicHost: "host.test", ports }).length, 10);
});

Deno.test("thousands of equal or unusable hosts in labels are not all read", () => {
  const labels: Record<string, string> = { "longshore.url": "https://a.test" };
  for (let site = 0; site < 480; site++) labels[`caddy_${site}`] = "x ".repeat(1_000);
  labels["homepage.href"] = "https://b.test";
  deepEqual(addresses({ labels }), ["longshore.url https://a.test/", "caddy https://x/"]);
});
