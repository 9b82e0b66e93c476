/**
 * A real Prometheus server for tests, with its own configuration and storage, on loopback.
 *
 * @module
 */

import { until } from "./until.ts";
import { freePort } from "./free_port.ts";

export interface Prometheus extends AsyncDisposable {
  /** E.g. `http://127.0.0.1:40123`. */
  baseUrl: string;
  /** Answers a PromQL query with its result, e.g. `[{ metric: {...}, value: [time, "1"] }]`. */
  query(promql: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
  /** Why the last scrape of the first target failed; empty when it did not. */
  lastError(): Promise<string>;
}

export interface PrometheusOptions {
  /** Host and port to scrape every three seconds, with a timeout of three seconds. */
  target: string;
  bearerToken?: string;
  /** Whether the targets are those of `GET /api/fleet/targets` there. */
  isDiscovered?: boolean;
}

/** Starts the server and waits until it is ready. */
export async function startPrometheus(
  { target, bearerToken, isDiscovered = false }: PrometheusOptions,
): Promise<Prometheus> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-prometheus-" });
  const port = freePort();
  const authorization = bearerToken !== undefined && {
    // Some versions have no default type for a discovery.
    authorization: { type: "Bearer", credentials: bearerToken },
  };
  const discovery = { url: `http://${target}/api/fleet/targets`, refresh_interval: "1s" };
  const config = {
    global: { scrape_interval: "3s", scrape_timeout: "3s" },
    scrape_configs: [{
      job_name: "longshore",
      ...(isDiscovered
        ? { http_sd_configs: [{ ...discovery, ...authorization }] }
        : { static_configs: [{ targets: [target] }] }),
      ...authorization,
    }],
  };
  // JSON is YAML.
  await Deno.writeTextFile(`${directory}/prometheus.yml`, JSON.stringify(config));
  const child = new Deno.Command("prometheus", {
    args: [
      `--config.file=${directory}/prometheus.yml`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    cwd: directory,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let hasEnded = false;
  const ended = child.status.then(() => void (hasEnded = true));

  const baseUrl = `http://127.0.0.1:${port}`;
  const get = async (path: string) => {
    const response = await fetch(baseUrl + path);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  };
  const dispose = async () => {
    if (!hasEnded) child.kill("SIGKILL");
    await ended;
    await Deno.remove(directory, { recursive: true });
  };
  try {
    await until("Prometheus is ready", async () => hasEnded || await get("/-/ready") !== "");
    if (hasEnded) throw new Error("Prometheus ended at once");
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    baseUrl,
    async query(promql) {
      const answer = await get(`/api/v1/query?query=${encodeURIComponent(promql)}`);
      return JSON.parse(answer).data.result;
    },
    async lastError() {
      const { data } = JSON.parse(await get("/api/v1/targets"));
      return data.activeTargets[0]?.lastError ?? "not scraped yet";
    },
    [Symbol.asyncDispose]: dispose,
  };
}
