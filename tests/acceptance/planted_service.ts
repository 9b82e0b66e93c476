/**
 * The Enterprise edition in users mode, put together with a planted secret in every place that
 * takes one.
 *
 * @module
 */

import type { UserRole } from "../../services/access/caller.ts";

import { storeUser } from "../../services/access/users/users.ts";
import type { Config } from "../../services/config/config.ts";
import { createLog } from "../../services/log.ts";
import { createSecrets } from "../../services/secrets/secrets.ts";
import { idOf, simulateContainers } from "../helpers/fake_containers.ts";
import { type FakeAnswer, fakeEngine, outputFrame } from "../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";
import type { HostileReceiver } from "./hostile_receiver.ts";
import type { PlantedSecrets } from "./planted_secrets.ts";
import { type Ids, plantedPassword } from "./secret_holders.ts";
import type { Witness } from "./witness.ts";

export interface PlantedService extends AsyncDisposable {
  app: TestApp;
  secrets: PlantedSecrets;
  receiver: HostileReceiver;
  heard: Witness;
  ids: Ids;
  passwords: Record<UserRole, string>;
  users: Record<UserRole, string>;
  /** Puts the license in force again that everything needs. */
  useEnterprise(): void;
  /** The lines of the log so far. */
  lines: string[];
}

const ROLES = ["viewer", "operator", "admin"] as const;

/** A little later than now: the certificates are made by a tool that knows no other time. */
const LATER_MS = 60_000;

/** @param options.directory For the license; the databases are in memory. */
export async function plantedService(
  { secrets, receiver, heard, directory, licenseKeysFile }: {
    secrets: PlantedSecrets;
    receiver: HostileReceiver;
    heard: Witness;
    directory: string;
    licenseKeysFile: string;
  },
): Promise<PlantedService> {
  const lines: string[] = [];
  const now = new Date(Date.now() + LATER_MS);
  const config = plantedConfig(secrets, receiver);
  const fake = fakeEngine(engineOf(secrets));
  const app = testApp({
    edition: "enterprise",
    now: now.toISOString(),
    engine: fake.engine,
    config: { ...config, dataDir: directory, licenseKeysFile },
    secrets: createSecrets({
      jwtSecret: new TextEncoder().encode(config.jwtSecret!),
      secretKey: new TextEncoder().encode(config.secretKey!),
    }),
    log: createLog({ level: "debug", format: "json", now: () => now }, (line) => {
      lines.push(line);
    }),
  });

  const passwords = {} as Record<UserRole, string>;
  const users = {} as Record<UserRole, string>;
  for (const role of ROLES) {
    passwords[role] = plantedPassword(secrets, `the password of the ${role}`);
    const passwordHash = await app.deps.passwords.hash(passwords[role]);
    secrets.keep("the hash of a password", passwordHash.split("$").at(-1)!);
    users[role] = storeUser(app.deps, { email: `${role}@example.com`, passwordHash, role }).id;
  }
  return {
    app,
    secrets,
    receiver,
    heard,
    ids: new Map([
      ["/api/containers", idOf("web")],
      ["/api/stacks", "shop"],
      ["/api/backup/stacks", "shop"],
      ["/api/stacks/:name/versions", "1"],
      ["/api/stacks/:name/versions/:version/diff", "1"],
      ["/api/images", IMAGE],
      ["/api/volumes", "data"],
      ["/api/icons/uploaded", "grafana"],
    ]),
    passwords,
    users,
    lines,
    useEnterprise: () =>
      app.deps.license.use({
        customer: "test",
        edition: "enterprise",
        expiresAt: new Date("2999-01-01T00:00:00Z"),
        limits: {},
      }),
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

export function plantedConfig(
  { plant }: PlantedSecrets,
  { failing, mail }: HostileReceiver,
): Partial<Config> {
  return {
    authMode: "users",
    apiKey: plant("API_KEY", (secret) => `lsk_${secret}`),
    adminPassword: plant("ADMIN_PASSWORD"),
    jwtSecret: plant("JWT_SECRET", (secret) => secret.padEnd(40, "+/")),
    secretKey: plant("SECRET_KEY", (secret) => secret.padEnd(40, "+/")),
    metricsToken: plant("METRICS_TOKEN"),
    mtlsVerifySecret: plant("MTLS_VERIFY_SECRET"),
    smtpUrl: `smtp://longshore:${plant("the password in SMTP_URL")}@${mail}`,
    pushUrl: plant("the password in PUSH_URL", (secret) => withPassword(failing, secret)),
    endpoints: [{
      name: "Shop",
      url: plant("the password in ENDPOINTS", (secret) => withPassword(failing, secret)),
      expectedStatus: 200,
    }],
    serviceBaseUrl: "http://longshore.test",
    outboundAllow: ["127.0.0.0/8"],
    terminal: "admin",
    logLevel: "debug",
  };
}

/** The variables of a configuration. */
export function environmentOf(config: Partial<Config>): Record<string, string> {
  return {
    AUTH_MODE: "users",
    API_KEY: config.apiKey!,
    ADMIN_PASSWORD: config.adminPassword!,
    JWT_SECRET: config.jwtSecret!,
    SECRET_KEY: config.secretKey!,
    METRICS_TOKEN: config.metricsToken!,
    MTLS_VERIFY_SECRET: config.mtlsVerifySecret!,
    SMTP_URL: config.smtpUrl!,
    PUSH_URL: config.pushUrl!,
    ENDPOINTS: config.endpoints!.map(({ name, url }) => `${name}|${url}`).join(","),
  };
}

const withPassword = (url: string, password: string) =>
  url.replace("//", () => `//longshore:${password}@`);

const IMAGE = `sha256:${"1".repeat(64)}`;

/** A stack without sources, which can be adopted. */
export const FOREIGN_STACK = "blog";

/** An image whose pull does not end. */
export const SLOW_IMAGE = "slow";

const PULLING = `{"status":"Pulling from library/app"}\n`;

const encoded = (text: string) => new TextEncoder().encode(text);

/** An engine whose records hold secrets where an engine's do. */
export function engineOf({ plant }: PlantedSecrets): Record<string, FakeAnswer> {
  const password = plant("an environment variable");
  const labelsOf = (project: string) => ({
    "com.docker.compose.project": project,
    "com.docker.compose.service": "web",
    "com.docker.compose.config-hash": "0".repeat(64),
  });
  const played = simulateContainers([
    { name: "web", labels: labelsOf("shop"), volumes: ["data"] },
    { name: "blog", labels: labelsOf(FOREIGN_STACK) },
  ]);
  const inspect = played["GET /containers/*/json"]!;
  const proxy = plant("the password of a proxy", (secret) => `http://ada:${secret}@proxy:3128`);
  const mountOptions = {
    type: "cifs",
    o: plant("the password of a network volume", (secret) => `username=ada,password=${secret}`),
  };
  const volume = {
    Name: "data",
    Driver: "local",
    Mountpoint: "/var/lib/docker/volumes/data/_data",
    Scope: "local",
    CreatedAt: "2026-01-01T12:00:00Z",
    Labels: {},
    Options: mountOptions,
  };
  const network = {
    Id: "n1",
    Name: "backend",
    Created: "2026-01-01T12:00:00Z",
    Scope: "local",
    Driver: "bridge",
    Internal: false,
  };
  return {
    ...played,
    "GET /containers/*/json": async (request) => {
      const answer = await inspect(request);
      if (!answer.ok) return answer;
      const found = await answer.json();
      found.Config.Env = ["PATH=/bin", `POSTGRES_PASSWORD=${password}`];
      found.HostConfig.Mounts = [{
        Type: "volume",
        Source: "data",
        Target: "/data",
        VolumeOptions: { DriverConfig: { Name: "local", Options: mountOptions } },
      }];
      return Response.json(found);
    },
    ...Object.fromEntries(
      ["pause", "unpause", "kill", "rename", "update"].map((action) => [
        `POST /containers/*/${action}`,
        () => new Response(null, { status: 204 }),
      ]),
    ),
    "GET /containers/*/changes": () => Response.json([{ Path: "/etc", Kind: 0 }]),
    // The container stays, because later requests need it.
    "DELETE /containers/*": () => new Response(null, { status: 204 }),
    "GET /containers/*/logs": () =>
      new Response(outputFrame("stdout", "2026-01-01T12:00:00Z listening\n")),
    "GET /containers/*/top": () =>
      Response.json({ Titles: ["PID", "CMD"], Processes: [["1", "sh"]] }),
    // The engine's own sentence for a variable that it does not take.
    "POST /containers/create": () =>
      Response.json(
        { message: `invalid environment variable: POSTGRES_PASSWORD=${password}` },
        { status: 400 },
      ),
    "POST /images/create": (request) =>
      new Response(
        // A pull that goes on until it is cancelled.
        request.query.get("fromImage")?.includes(SLOW_IMAGE)
          ? new ReadableStream({ start: (body) => body.enqueue(encoded(PULLING)) })
          : PULLING,
      ),
    "GET /images/*/history": () => Response.json([]),
    "GET /images/*/get": () => new Response("an archive"),
    "POST /images/*/tag": () => new Response(null, { status: 201 }),
    "POST /images/load": () => new Response(`{"stream":"Loaded image: app:1\\n"}\n`),
    "GET /images/*/json": () => Response.json({ Id: `sha256:${"2".repeat(64)}`, Config: {} }),
    "GET /images/json": () =>
      Response.json([{ Id: IMAGE, RepoTags: ["app:1"], Created: 1_760_000_000, Size: 7 }]),
    "DELETE /images/*": () => Response.json([{ Untagged: "app:1" }]),
    "POST /images/prune": () => Response.json({ ImagesDeleted: [], SpaceReclaimed: 0 }),
    "POST /containers/prune": () => Response.json({ ContainersDeleted: [], SpaceReclaimed: 0 }),
    "POST /networks/prune": () => Response.json({ NetworksDeleted: [] }),
    "POST /volumes/prune": () => Response.json({ VolumesDeleted: [], SpaceReclaimed: 0 }),
    "POST /build/prune": () => Response.json({ CachesDeleted: [], SpaceReclaimed: 0 }),
    "GET /networks": () => Response.json([]),
    "GET /networks/*": () => Response.json(network),
    "POST /networks/create": () => Response.json({ Id: network.Id }),
    "DELETE /networks/*": () => new Response(null, { status: 204 }),
    "GET /volumes": () => Response.json({ Volumes: [volume] }),
    "GET /volumes/data": () => Response.json(volume),
    "POST /volumes/create": () => Response.json(volume),
    "DELETE /volumes/*": () => new Response(null, { status: 204 }),
    "GET /version": () => Response.json({ Version: "20.10.24", ApiVersion: "1.41" }),
    "GET /info": () =>
      Response.json({
        Name: "host1",
        ServerVersion: "20.10.24",
        Containers: 1,
        Images: 1,
        Driver: "overlay2",
        CgroupVersion: "2",
        KernelVersion: "6.1.0",
        OperatingSystem: "Debian GNU/Linux 12",
        Architecture: "x86_64",
        NCPU: 4,
        MemTotal: 8_000_000_000,
        SecurityOptions: ["name=seccomp,profile=default"],
        Warnings: [],
        HttpProxy: proxy,
        HttpsProxy: proxy,
        Swarm: { LocalNodeState: "inactive" },
      }),
    "GET /system/df": () =>
      Response.json({ LayersSize: 10, Images: [{ Size: 10 }], Containers: [], Volumes: [] }),
  };
}
