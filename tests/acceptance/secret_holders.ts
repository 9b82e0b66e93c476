/** Every record that can contain a secret: how it is created, and where the secret is. @module */

import { createAuthority } from "../helpers/certificates.ts";
import { createIdp, type SamlIdp } from "../helpers/sso.ts";
import type { HostileReceiver } from "./hostile_receiver.ts";
import type { PlantedSecrets } from "./planted_secrets.ts";

export const PRO = "/api/ext/service-pro";
export const ENTERPRISE = "/api/ext/service-enterprise";

/** A kind of record that holds secrets, and the request that creates it. */
export interface Holder {
  /** The endpoint's path pattern. */
  at: string;
  /** The request body, with new secrets each time. */
  body: () => unknown;
}

/** Values of path parameters, by the path before them, e.g. `/api/webhooks`. */
export type Ids = Map<string, string>;

/** A path with its parameters filled in; unknown ones become `x`. */
export function filled(pattern: string, ids: Ids): string {
  const parts = pattern.split("/");
  return parts.map((part, at) =>
    part.startsWith(":") ? encodeURIComponent(ids.get(parts.slice(0, at).join("/")) ?? "x") : part
  ).join("/");
}

/** A password with characters that are escaped in JSON, XML and URLs. */
export const plantedPassword = (secrets: PlantedSecrets, name: string) =>
  secrets.plant(name, (secret) => `${secret} "\\&<ü`);

/** Certificates, which are public, and a private key. */
export interface Keys {
  idp: SamlIdp;
  ca: string;
  agent: string;
  /** PEM (PKCS #8). */
  privateKey: string;
}

export async function createKeys(secrets: PlantedSecrets): Promise<Keys> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const [idp, authority, pair] = await Promise.all([
    createIdp("https://idp.example.com/metadata"),
    createAuthority("Agents"),
    crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]),
  ]);
  const { d } = await crypto.subtle.exportKey("jwk", pair.privateKey);
  secrets.keep("a private key", Uint8Array.fromBase64(d!, { alphabet: "base64url" }));
  const der = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  const lines = der.toBase64().replace(/.{64}/g, "$&\n");
  return {
    idp,
    ca: authority.cert,
    agent: (await authority.issue({ name: "web-1", extendedKeyUsage: "clientAuth" })).cert,
    privateKey: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
  };
}

/** In the order of their dependencies; the last one of a kind is used for the requests. */
export function secretHolders(
  { secrets, receiver, ids, keys, dataDir }: {
    secrets: PlantedSecrets;
    receiver: HostileReceiver;
    ids: Ids;
    keys: Keys;
    /** `DATA_DIR` of the service. */
    dataDir: string;
  },
): Holder[] {
  const { failing, chatty, redirecting, unreachable } = receiver;
  const { plant } = secrets;
  const places = { unreachable, redirecting, chatty, failing };
  const each = (make: (place: string, name: string) => Holder) =>
    Object.entries(places).map(([name, place]) => make(place, name));
  const integration = (adapter: string, config: () => Record<string, unknown>) =>
    each((place, name) => ({
      at: "/api/integrations",
      body: () => {
        const { url, ...rest } = config();
        const address = url === undefined ? { api_url: place } : { url: place };
        return {
          adapter,
          name: `${adapter} ${name}`,
          config: { ...address, ...rest },
          poll_interval: 60,
        };
      },
    }));

  return [
    {
      at: "/auth/users",
      body: () => ({
        email: `${crypto.randomUUID()}@example.com`,
        password: plantedPassword(secrets, "the password of a new user"),
        role: "viewer",
      }),
    },
    { at: "/api/tokens", body: () => ({ name: "CI", role: "viewer" }) },
    { at: "/api/push/register", body: () => ({ token: plant("a push token", expoToken) }) },
    {
      at: "/api/alerts/rules",
      body: () => ({
        name: `High CPU ${crypto.randomUUID()}`,
        metric: "cpu_percent",
        operator: ">",
        threshold: 90,
        durationSeconds: 60,
      }),
    },
    {
      at: "/api/schedules",
      body: () => ({
        name: `Nightly ${crypto.randomUUID()}`,
        containerId: "web",
        containerName: "web",
        action: "restart",
        cronExpression: "0 3 * * *",
      }),
    },
    {
      at: "/api/stacks",
      body: () => ({
        name: "shop",
        compose: "services: {web: {image: nginx}}",
        env: { PASSWORD: plant("a variable of a stack") },
        files: { "app.env": plant("a file of a stack") },
        deploy: false,
      }),
    },
    {
      at: "/api/registries",
      body: () => ({
        host: `${crypto.randomUUID()}.example.com`,
        username: "longshore",
        password: plant("the password of a registry"),
      }),
    },
    {
      at: "/api/git/repositories",
      body: () => ({
        name: `Repository ${crypto.randomUUID()}`,
        url: `https://${crypto.randomUUID()}.example.com/a.git`,
        auth: "token",
        secret: plant("the token of a Git repository"),
        pollMinutes: 0,
      }),
    },
    {
      at: "/api/backup/targets",
      body: () => ({
        name: `Target ${crypto.randomUUID()}`,
        location: `${dataDir}/snapshots/${crypto.randomUUID()}`,
        password: plant("the password of a repository"),
      }),
    },
    ...each((place, name) => ({
      at: "/api/webhooks",
      body: () => ({
        name: `Webhook ${name}`,
        url: `${place}/webhook`,
        events: ["*"],
        headers: {
          authorization: plant("a webhook's authorization", (secret) => `Bearer ${secret}`),
          "x-api-key": plant("a webhook's x-api-key"),
        },
      }),
    })),
    ...each((place, name) => ({
      at: "/api/notifications/channels",
      body: () => ({
        name: `Telegram ${name}`,
        kind: "telegram",
        config: {
          botToken: plant("a botToken", (secret) => `110201543:AAHdq-${secret}_sw`),
          chatId: "-1001234567890",
          apiUrl: place,
        },
      }),
    })),
    ...each((place, name) => ({
      at: "/api/notifications/channels",
      body: () => ({
        name: `Hook ${name}`,
        kind: "webhook",
        config: {
          url: plant("the url of a channel", (secret) => `${place}/hooks/${secret}`),
          headers: { "x-api-key": plant("a channel's x-api-key") },
        },
      }),
    })),
    ...integration("metrics-query", () => ({
      url: true,
      bearerToken: plant("an integration's bearerToken"),
      queries: [{ name: "load", query: "node_load1" }],
    })),
    ...integration("dashboard", () => ({
      url: true,
      apiKey: plant("a dashboard's apiKey"),
    })),
    ...integration("http-json", () => ({
      url: true,
      method: "POST",
      headers: { "x-token": plant("a header of an http-json integration") },
      fieldMappings: [{ path: "load", name: "load" }],
    })),
    ...integration("monitoring-saas", () => ({
      apiKey: plant("a monitoring-saas apiKey"),
      appKey: plant("a monitoring-saas appKey"),
    })),
    ...integration("cloud-metrics", () => ({
      accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: plant("a secretAccessKey"),
      region: "eu-central-1",
    })),
    ...integration("incident-paging", () => ({ apiKey: plant("an incident-paging apiKey") })),
    ...each((place, name) => ({
      at: `${PRO}/uptime/monitors`,
      body: () => ({
        name: `Monitor ${name}`,
        type: "http",
        url: `${place}/monitor`,
        method: "POST",
        keyword: "all is well",
        retries: 0,
        timeout_ms: 2_000,
        interval_seconds: 86_400,
        auto_incident: true,
        headers: {
          authorization: plant("a monitor's authorization", (secret) => `Basic ${secret}`),
        },
        body: plant("a monitor's body", (secret) => `{"login":"${secret}"}`),
      }),
    })),
    {
      at: `${PRO}/sla/definitions`,
      body: () => ({
        name: `Shop ${crypto.randomUUID()}`,
        description: "",
        target_uptime: 99.9,
        period_type: "monthly",
        monitor_ids: [ids.get(`${PRO}/uptime/monitors`)],
      }),
    },
    {
      at: "/api/maintenance/windows",
      body: () => ({
        cron: "0 3 * * sat",
        durationMinutes: 90,
        scope: { target: { kind: "containers", containers: ["batch*"] } },
      }),
    },
    {
      at: "/api/silences",
      body: () => ({
        matchers: { container: "batch*" },
        endsAt: new Date(Date.now() + 24 * 60 * 60_000).toISOString(),
      }),
    },
    {
      at: `${PRO}/incidents`,
      body: () => ({ title: "Checkout answers with errors", severity: "major" }),
    },
    {
      at: `${PRO}/remediation/rules`,
      body: () => ({
        name: `Keep it running ${crypto.randomUUID()}`,
        condition_metric: "container_down",
        condition_operator: "==",
        condition_threshold: 1,
        action_type: "start",
        action_target: "web",
        action_config: {},
      }),
    },
    {
      at: `${PRO}/status-pages`,
      body: () => ({ name: "Acme", description: "", is_public: true }),
    },
    {
      at: `${PRO}/status-pages/:pageId/components`,
      body: () => ({ name: "API", status: "operational" }),
    },
    {
      at: `${PRO}/status-pages/:pageId/maintenances`,
      body: () => ({
        title: "Database upgrade",
        starts_at: "2099-02-07T22:00:00Z",
        ends_at: "2099-02-07T23:30:00Z",
      }),
    },
    {
      at: `${PRO}/status-pages/:pageId/subscribers`,
      body: () => ({ email: `${crypto.randomUUID()}@example.com` }),
    },
    ...each((place) => ({
      at: `${PRO}/status-pages/:pageId/subscribers`,
      body: () => ({ webhook_url: `${place}/subscriber/${crypto.randomUUID()}` }),
    })),
    {
      at: `${PRO}/status-pages/:pageId/maintenances`,
      body: () => ({
        title: "Upgrade",
        starts_at: "2999-01-01T00:00:00Z",
        ends_at: "2999-01-01T01:00:00Z",
      }),
    },
    {
      at: `${PRO}/status-pages/:pageId/incidents`,
      body: () => ({
        title: "API answers slowly",
        message: "We are looking into it.",
        severity: "major",
        status: "investigating",
      }),
    },
    ...each((place, name) => ({
      at: `${PRO}/chatops/channels`,
      body: () => ({
        platform: "messenger",
        name: `On-call ${name}`,
        config: {
          bot_token: plant("a bot_token", (secret) => `110201543:AAHdq-${secret}_sw`),
          chat_id: "-1001234567890",
          api_url: place,
        },
        events: ["*"],
        enabled: true,
      }),
    })),
    ...each((place, name) => ({
      at: `${PRO}/chatops/channels`,
      body: () => ({
        platform: "team-chat",
        name: `Operations ${name}`,
        config: {
          webhook_url: plant(
            "a chat's webhook_url",
            (secret) => `${place}/services/T0/B0/${secret}`,
          ),
        },
        events: ["*"],
        enabled: true,
      }),
    })),
    {
      at: `${ENTERPRISE}/sso/providers`,
      body: () => ({
        name: "Acme",
        entity_id: keys.idp.entityId,
        sso_url: "https://idp.example.com/sso",
        certificate: keys.idp.certificate,
        attribute_mapping: { email: "mail", name: "displayName" },
        auto_provision: true,
      }),
    },
    {
      at: `${ENTERPRISE}/branding`,
      body: () => ({ name: "Harbor", app_name: "Harbor", primary_color: "#0f5c6e" }),
    },
    {
      at: `${ENTERPRISE}/roles`,
      body: () => ({
        name: `Night shift ${crypto.randomUUID()}`,
        permissions: [{ resource: "containers", actions: ["read", "restart"] }],
      }),
    },
    {
      at: `${ENTERPRISE}/ip-allowlist/rules`,
      body: () => ({ cidr: "203.0.113.0/24", label: "Office" }),
    },
    { at: `${ENTERPRISE}/mtls/ca`, body: () => ({ name: "Agents", certificate: keys.ca }) },
    {
      at: `${ENTERPRISE}/mtls/agents`,
      body: () => ({ hostname: "web-1.example.com", certificate: keys.agent }),
    },
    {
      at: `${ENTERPRISE}/compliance/logs`,
      body: () => ({
        category: "security",
        severity: "info",
        actor_id: "backup",
        actor_type: "system",
        action: "backup.verified",
        outcome: "success",
      }),
    },
    { at: `${ENTERPRISE}/encryption/rotate-key`, body: () => ({ notes: "Every quarter" }) },
  ];
}

/** A push token of Expo. */
const expoToken = (secret: string) => `ExponentPushToken[${secret}]`;
