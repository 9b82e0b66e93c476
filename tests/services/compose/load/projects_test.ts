/** Small projects in the form of public bug reports: whole files in, the values that matter out. */

import { deepEqual } from "node:assert/strict";
import { loadProject } from "../../../../services/compose/load/load.ts";
import type { Project } from "../../../../services/compose/load/resolve.ts";

interface Case {
  what: string;
  /** By name; the first ones are the Compose files. */
  files: Record<string, string>;
  configFiles?: string[];
  read: (project: Project) => unknown;
  expected: unknown;
}

const IMAGE = "local/busybox:1";

const environmentOfWeb = ({ services }: Project) => services.web!.environment;

const CASES: Case[] = [
  {
    what: "values that begin with a number sign, in .env and in an env file",
    files: {
      "compose.yaml": `services:
  web:
    image: ${IMAGE}
    env_file: app.env
    environment:
      FROM_DOTENV: \${COLOR}
`,
      "app.env": "PRIMARY_COLOR=#ff0000\nDB_PASSWORD=#s3cret\nAFTER=a #b\n",
      ".env": "COLOR=#ff0000\n",
    },
    read: environmentOfWeb,
    expected: {
      PRIMARY_COLOR: "#ff0000",
      DB_PASSWORD: "#s3cret",
      AFTER: "a",
      FROM_DOTENV: "#ff0000",
    },
  },
  {
    what: "an external volume and a named network with an override",
    files: {
      "compose.yaml": `name: shop
services:
  db:
    image: ${IMAGE}
    volumes: ["data:/var/lib/data"]
    networks: [back]
volumes:
  data:
    name: prod_data
    external: true
networks:
  back:
    name: prod_back
    ipam: {config: [{subnet: 10.78.0.0/24}]}
`,
      "compose.override.yaml": `services:
  db:
    labels: {team: a}
volumes:
  data:
networks:
  back:
    labels: {team: a}
`,
    },
    configFiles: ["compose.yaml", "compose.override.yaml"],
    read: ({ volumes, networks }) => ({ volumes, networks }),
    expected: {
      volumes: { data: { name: "prod_data", external: true } },
      networks: {
        back: {
          name: "prod_back",
          ipam: { config: [{ subnet: "10.78.0.0/24" }] },
          labels: { team: "a" },
        },
      },
    },
  },
  {
    what: "JSON and templates as defaults",
    files: {
      "compose.yaml": `services:
  web:
    image: ${IMAGE}
    environment:
      LIMITS: '\${LIMITS:-{"a":1}}'
      NESTED: 'x \${LIMITS-{"a":{"b":1}}} y'
      FORMAT: '\${NAME:-{{.Name}}}'
`,
      ".env": `LIMITS='{"a":2}'\nNAME=n\n`,
    },
    read: environmentOfWeb,
    expected: { LIMITS: '{"a":2}', NESTED: 'x {"a":2} y', FORMAT: "n" },
  },
  {
    what: "two env files, of which the second uses the first",
    files: {
      "compose.yaml": `services:
  web:
    image: ${IMAGE}
    env_file: [common.env, app.env]
    environment: {REGION: eu}
`,
      "common.env": "DB_HOST=db.internal\n",
      "app.env": "DATABASE_URL=postgres://app@${DB_HOST}/app\nBUCKET=app-${REGION}\n",
    },
    read: environmentOfWeb,
    expected: {
      DB_HOST: "db.internal",
      DATABASE_URL: "postgres://app@db.internal/app",
      BUCKET: "app-eu",
      REGION: "eu",
    },
  },
  {
    what: "dollar signs of expressions, hashes and prices",
    files: {
      "compose.yaml": `services:
  web:
    image: ${IMAGE}
    labels:
      - traefik.http.routers.web.rule=HostRegexp(\`^.+$\`)
    environment:
      - HASH=\${HASH:-$2a$14$1l.AbCdEfGhIjKlMnOpQrStUvWxYz0123456789}
      - PRICE=5$
    env_file: app.env
`,
      "app.env": "PASSWORD=abc$\nOTHER=a$5b\n",
      ".env": "UNUSED=abc$\n",
    },
    read: ({ services: { web } }) => ({ ...web!.environment, ...web!.labels }),
    expected: {
      PASSWORD: "abc$",
      OTHER: "a$5b",
      HASH: "$2a$14$1l.AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
      PRICE: "5$",
      "traefik.http.routers.web.rule": "HostRegexp(`^.+$`)",
    },
  },
  {
    what: "an override that replaces ports and removes a variable",
    files: {
      "compose.yaml": `services:
  web:
    image: ${IMAGE}
    ports: ["8080:80"]
    environment: {DEBUG: "1"}
`,
      "compose.override.yaml": `services:
  web:
    ports: !override ["127.0.0.1:9090:80"]
    environment:
      DEBUG: !reset null
`,
    },
    configFiles: ["compose.yaml", "compose.override.yaml"],
    read: ({ services: { web } }) => [web!.ports, web!.environment],
    expected: [
      [{ mode: "ingress", host_ip: "127.0.0.1", target: 80, published: "9090", protocol: "tcp" }],
      {},
    ],
  },
  {
    what: "a service that extends another one with lists",
    files: {
      "compose.yaml": `services:
  base:
    image: ${IMAGE}
    devices: [vendor.com/gpu=0, vendor.com/gpu=1]
    configs: [{source: c, target: /x}, {source: c, target: /y}]
    secrets: [s]
    logging: {options: {max-size: 10m}}
    command: [sleep, "1"]
    deploy:
      resources:
        reservations:
          devices:
            - {driver: nvidia, device_ids: ["0"], capabilities: [gpu]}
            - {driver: nvidia, device_ids: ["1"], capabilities: [compute]}
  web:
    extends: base
    devices: [vendor.com/gpu=2]
    configs: [{source: c, target: /z}]
    secrets: [{source: s, target: copy}]
    logging: {driver: json-file}
    command:
    deploy:
      resources:
        reservations:
          devices: [{driver: cdi, device_ids: ["z"], capabilities: [x]}]
configs: {c: {content: hi}}
secrets: {s: {environment: TOKEN}}
`,
      ".env": "TOKEN=t\n",
    },
    read({ services: { web } }) {
      const { devices, configs, secrets, logging, command, deploy } = web!;
      return {
        devices: devices!.map(({ source }) => source),
        configs: configs!.map(({ target }) => target),
        secrets,
        logging,
        command,
        requests: deploy!.resources!.reservations!.devices!.map(({ device_ids }) => device_ids),
      };
    },
    expected: {
      devices: ["vendor.com/gpu=0", "vendor.com/gpu=1", "vendor.com/gpu=2"],
      configs: ["/x", "/y", "/z"],
      secrets: [{ source: "s" }, { source: "s", target: "copy" }],
      logging: { driver: "json-file", options: { "max-size": "10m" } },
      command: null,
      requests: [["0"], ["1"], ["z"]],
    },
  },
];

for (const { what, files, configFiles, read, expected } of CASES) {
  Deno.test(`a project has ${what}`, async () => {
    const { project, errors } = await loadProject({
      compose: files["compose.yaml"]!,
      configFiles,
      readFile: (path) => files[path.replace(/^\.\//, "")],
    });

    deepEqual(errors, []);
    deepEqual(read(project!), expected);
  });
}
