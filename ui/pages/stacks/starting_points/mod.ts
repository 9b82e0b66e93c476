/** Examples with which a new stack can begin. @module */

import cache from "./cache.yaml" with { type: "text" };
import gitServer from "./git_server.yaml" with { type: "text" };
import mariadb from "./mariadb.yaml" with { type: "text" };
import messageBroker from "./message_broker.yaml" with { type: "text" };
import monitoring from "./monitoring.yaml" with { type: "text" };
import postgresql from "./postgresql.yaml" with { type: "text" };
import registry from "./registry.yaml" with { type: "text" };
import reverseProxy from "./reverse_proxy.yaml" with { type: "text" };
import webApp from "./web_app.yaml" with { type: "text" };
import webServer from "./web_server.yaml" with { type: "text" };

export interface StartingPoint {
  name: string;
  compose: string;
  /** Variables that get a made password. */
  passwords?: readonly string[];
  /** Variables with an example. */
  variables?: Readonly<Record<string, string>>;
}

export const STARTING_POINTS: readonly StartingPoint[] = [
  { name: "Web server", compose: webServer },
  {
    name: "Reverse proxy with certificates",
    compose: reverseProxy,
    variables: { SITE: "app.example.com", UPSTREAM: "host.docker.internal:8080" },
  },
  { name: "Web application with database", compose: webApp, passwords: ["POSTGRES_PASSWORD"] },
  { name: "PostgreSQL", compose: postgresql, passwords: ["POSTGRES_PASSWORD"] },
  { name: "MariaDB", compose: mariadb, passwords: ["MARIADB_PASSWORD"] },
  { name: "Cache (Valkey)", compose: cache, passwords: ["CACHE_PASSWORD"] },
  {
    name: "Monitoring (Prometheus, Grafana)",
    compose: monitoring,
    passwords: ["GRAFANA_PASSWORD"],
  },
  { name: "Git server (Gitea)", compose: gitServer },
  { name: "Registry", compose: registry },
  { name: "Message broker (MQTT)", compose: messageBroker },
];

/** The text of `.env` for a starting point. */
export const environmentOf = (
  { passwords = [], variables = {} }: StartingPoint,
  makePassword: () => string,
): string =>
  [
    ...Object.entries(variables),
    ...passwords.map((name) => [name, makePassword()]),
  ].map(([name, value]) => `${name}=${value}\n`).join("");

/** E.g. `web-application` for `Web application with database`. */
export const stackNameOf = ({ name }: StartingPoint): string =>
  name.replace(/ (?:with |\().*/, "").toLowerCase().replaceAll(" ", "-");
