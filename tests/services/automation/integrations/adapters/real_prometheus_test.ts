/**
 * metrics-query on a real Prometheus server, which scrapes itself and an unreachable target.
 * Ignored if `prometheus` is not installed, unless `LONGSHORE_REQUIRE_ENGINE=1`.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { integrate, integrationsApp, pollOnce } from "../../../../helpers/integrations.ts";
import { until } from "../../../../helpers/until.ts";
import { freePort } from "../../../../helpers/free_port.ts";

const isInstalled = (Deno.env.get("PATH") ?? "").split(":")
  .some((folder) => isFile(`${folder}/prometheus`));
const isRequired = Deno.env.get("LONGSHORE_REQUIRE_ENGINE") === "1";

Deno.test({
  name: "metrics-query polls a real Prometheus: targets, queries, and an alert from start to end",
  ignore: !isInstalled && !isRequired,
  async fn() {
    await using server = await startPrometheus();
    using app = integrationsApp({ now: new Date().toISOString() });
    const id = await integrate(app, "prometheus", {
      url: server.url,
      queries: [
        { name: "targets", query: "count(up)", unit: "targets" },
        { name: "seconds", query: "time()", unit: "s" },
        { name: "nothing", query: "0 / 0" },
        { name: "wrong", query: "sum(" },
        { name: "range", query: "up[1m]" },
      ],
    });
    const test = (await app.call("POST", `/api/integrations/${id}/test`)).body;
    deepEqual([test.ok, test.error], [true, null]);

    const poll = async () => {
      app.clock.set(new Date().toISOString());
      return await pollOnce(app, id);
    };
    const newestOf = (data: Record<string, unknown>[], name: string, job?: string) =>
      data.find((each) =>
        each.name === name &&
        (job === undefined || (each.labels as Record<string, string>).job === job)
      );
    // Targets are scraped at different times, and the queries of a poll run one after the other.
    const { outcome, data } = await until(
      "the alert fires and both targets are known",
      async () => {
        const found = await poll();
        const valueOf = (name: string, job?: string) => newestOf(found.data, name, job)?.value;
        deepEqual(
          [valueOf("up", "itself"), valueOf("up", "away"), valueOf("targets")],
          [1, 0, 2],
        );
        return found.data.some(({ status }) => status === "firing") && found;
      },
      { deadlineMs: 120_000 },
    );

    deepEqual([outcome.ok, outcome.error], [
      false,
      "wrong: The query was refused (bad_data); " +
      "range: The query returns a matrix, not one value per series",
    ]);
    const newest = (name: string) => newestOf(data, name)!;
    equal(newest("nothing").value, null);
    equal(newest("targets").unit, "targets");
    equal(Math.abs(newest("seconds").value as number - Date.now() / 1000) < 120, true);
    match(newest("up").timestamp as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { timestamp: _, ...alert } = newest("TargetAway");
    deepEqual(alert, {
      type: "alert",
      name: "TargetAway",
      value: 0,
      unit: null,
      labels: { instance: "127.0.0.1:1", job: "away" },
      severity: "critical",
      status: "firing",
      detail: "away is away",
    });

    await server.withoutRules();
    await until("the alert is resolved", async () => {
      const { data } = await poll();
      const alerts = data.filter(({ name }) => name === "TargetAway");
      return alerts.length === 1 && alerts[0]!.status === "resolved";
    }, { deadlineMs: 120_000 });
  },
});

interface Prometheus extends AsyncDisposable {
  url: string;
  /** Removes the alert rules. */
  withoutRules(): Promise<void>;
}

/** Starts a server with a temporary directory on a free port. */
async function startPrometheus(): Promise<Prometheus> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-prometheus-" });
  const port = freePort();
  const configure = (hasRules: boolean) =>
    Deno.writeTextFile(
      `${directory}/prometheus.yml`,
      `global: { scrape_interval: 3s, scrape_timeout: 3s, evaluation_interval: 1s }
${hasRules ? `rule_files: ["${directory}/rules.yml"]` : ""}
scrape_configs:
  - { job_name: itself, static_configs: [{ targets: ["127.0.0.1:${port}"] }] }
  - { job_name: away, static_configs: [{ targets: ["127.0.0.1:1"] }] }
`,
    );
  await configure(true);
  await Deno.writeTextFile(
    `${directory}/rules.yml`,
    `groups:
  - name: test
    rules:
      - alert: TargetAway
        # Not of itself, which a busy machine may scrape too slowly.
        expr: up{job="away"} == 0
        labels: { severity: critical }
        annotations: { summary: "{{ $labels.job }} is away" }
`,
  );
  const process = new Deno.Command("prometheus", {
    args: [
      `--config.file=${directory}/prometheus.yml`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--web.enable-lifecycle",
      "--log.level=error",
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    try {
      process.kill("SIGTERM");
    } catch { /* it has ended already */ }
    await process.status;
    await Deno.remove(directory, { recursive: true });
  };
  try {
    await until("Prometheus is ready", async () => {
      const response = await fetch(`${url}/-/ready`);
      await response.body?.cancel();
      return response.ok;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    async withoutRules() {
      await configure(false);
      const response = await fetch(`${url}/-/reload`, { method: "POST" });
      equal(response.status, 200, await response.text());
    },
    [Symbol.asyncDispose]: stop,
  };
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
