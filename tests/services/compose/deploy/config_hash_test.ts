import { deepEqual, equal } from "node:assert/strict";
import { composeHash } from "../../../../services/compose/deploy/config_hash.ts";
import { listComposeKeys } from "../../../../services/compose/load/completion.ts";
import type { Service } from "../../../../services/compose/load/resolve.ts";

Deno.test("the hash of a service is that of Compose's own test", () => {
  // TestHashGoldenValues in pkg/compose/hash_test.go.
  const service = {
    image: "nginx:latest",
    command: ["nginx", "-g", "daemon off;"],
    user: "nobody", // wording: allow
    tty: true,
    stdin_open: true,
    restart: "always",
    environment: { B: null, A: "1" },
    labels: { "com.example": "v" },
    annotations: { note: "x" },
    cap_add: ["NET_ADMIN"],
    extra_hosts: ["alpha=10.0.0.1"],
    deploy: { replicas: 3 },
    ports: [{ target: 80, published: "8080", protocol: "tcp" }],
    healthcheck: { test: ["CMD", "true"] },
    volumes: [{ type: "volume", source: "data", target: "/data" }],
    networks: { default: null },
  } as unknown as Service;

  equal(
    composeHash(service),
    "75bc312132c71fac4971d123202631b6978ac9d796336621af744d46611b42a2",
  );
});

/** Keys that only Compose itself reads, that are resolved before, or that Compose leaves out. */
const WITHOUT_EFFECT = [
  "depends_on",
  "env_file",
  "extends",
  "label_file",
  "profiles",
  "pull_policy",
  "scale",
];

Deno.test("the hash depends on every other key of a service", () => {
  const hashOf = (more: object) => composeHash({ image: "a", ...more } as Service);
  const changes = (key: string) =>
    [["x"], "x", { x: "x" }].some((value) => {
      try {
        return hashOf({ [key]: value }) !== hashOf({});
      } catch {
        // The value is not of the key's type.
        return false;
      }
    });

  const keys = listComposeKeys().keys["services.*"]!;
  deepEqual(keys.filter((key) => !changes(key)).sort(), WITHOUT_EFFECT);
  equal(hashOf({ deploy: { replicas: 2 } }), hashOf({ deploy: { replicas: 3 } }));
});
