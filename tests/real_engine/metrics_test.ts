import { deepEqual, equal, ok } from "node:assert/strict";
import { readExposition } from "../helpers/exposition.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { startPrometheus } from "../helpers/prometheus.ts";
import { promtoolComplaints } from "../helpers/promtool.ts";
import {
  engineTest,
  isEngineRequired,
  podmanTest,
  type RealEngine,
} from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const TOKEN = "token-of-the-scraper";

const missing = missingProgram("prometheus", "promtool");

/** Like `engineTest`, but skipped without Prometheus. */
function prometheusTest(name: string, run: (engine: RealEngine) => Promise<void>): void {
  if (!missing) return engineTest(name, run);
  Deno.test({
    name,
    ignore: !isEngineRequired(),
    fn: () => Promise.reject(new Error(missing)),
  });
}

const start = ({ socketPath }: RealEngine) =>
  startLongshore({ engineSocket: socketPath, env: { METRICS_TOKEN: TOKEN } });

async function scrape(longshore: Longshore) {
  const { status, body } = await longshore.call("GET", "/metrics", undefined, { token: TOKEN });
  equal(status, 200);
  return readExposition(body);
}

prometheusTest(
  "a real Prometheus scrapes GET /metrics under the names of cAdvisor, for every example panel",
  async (engine) => {
    await using container = await engine.runContainer({
      options: ["--memory=64m", "--cpus=0.5"],
      labels: {
        "com.docker.compose.project": "shop",
        "com.docker.compose.service": "web",
      },
    });
    await using longshore = await start(engine);
    await using prometheus = await startPrometheus({
      target: new URL(longshore.baseUrl).host,
      bearerToken: TOKEN,
    });
    const one = `{name="${container.name}"}`;

    const [found] = await until("the container is scraped", async () => {
      const result = await prometheus.query(`container_memory_working_set_bytes${one}`);
      return result.length > 0 && result;
    });

    const { __name__: _, instance: _instance, job: _job, ...labels } = found!.metric;
    deepEqual(labels, {
      id: `/docker/${container.id}`,
      name: container.name,
      image: "longshore-test/busybox:1",
      container_label_com_docker_compose_project: "shop",
      container_label_com_docker_compose_service: "web",
    });
    ok(Number(found!.value[1]) > 0);
    const number = async (promql: string) => Number((await prometheus.query(promql))[0]?.value[1]);
    // A scrape that a busy machine did not end in time leaves nothing until the next one.
    await until("all of it is scraped", async () => {
      equal(await prometheus.lastError(), "");
      equal(await number("up"), 1);
      equal(await number("longshore_engine_up"), 1);
      equal(await number(`container_spec_memory_limit_bytes${one}`), 64 * 1024 * 1024);
      ok(
        await number(
          `100 * container_memory_working_set_bytes${one} / ` +
            `container_spec_memory_limit_bytes${one}`,
        ) < 100,
      );
      equal(await number(`container_spec_cpu_quota${one} / container_spec_cpu_period${one}`), 0.5);
      equal(
        await number(`count(node_cpu_seconds_total{mode="idle"})`),
        navigator.hardwareConcurrency,
      );
      ok(await number("time() - node_boot_time_seconds") > 0);
      return true;
    });

    const file = new URL("../../examples/grafana/longshore.json", import.meta.url);
    const { panels } = JSON.parse(await Deno.readTextFile(file));
    for (const { title, targets } of panels) {
      for (const { expr } of targets) {
        const query = expr.replaceAll("$instance", ".+").replaceAll("$__rate_interval", "5m");
        await until(`${title} has data`, async () => (await prometheus.query(query)).length > 0);
      }
    }
  },
);

long(engineTest)(
  "counters of a container that works rise, and it disappears with its removal",
  async (engine) => {
    await using longshore = await start(engine);
    let name: string;
    {
      await using container = await engine.runContainer({
        command: ["sh", "-c", "while :; do :; done"],
        options: ["--cpus=0.2"],
      });
      ({ name } = container);
      const read = async () => {
        const { find } = await scrape(longshore);
        return find("container_cpu_usage_seconds_total", { name })[0]?.value;
      };
      const first = await until("the container is sampled", read);
      await longshore.call("GET", "/api/containers");
      const { body } = await longshore.call("GET", "/metrics", undefined, { token: TOKEN });
      if (!missing) deepEqual(await promtoolComplaints(body), []);
      const seen = [first];
      await until("the next sample is there", async () => {
        const next = await read();
        if (next !== undefined) seen.push(next);
        return next !== undefined && next > first;
      });
      deepEqual(seen, seen.toSorted((a, b) => a - b));
    }
    await until("the container is gone", async () => {
      const { series } = await scrape(longshore);
      return !series.some(({ labels }) => labels.name === name);
    });
  },
);

long(podmanTest)("Podman's containers have what the contract asks for as well", async (engine) => {
  await using container = await engine.runContainer();
  await using longshore = await start(engine);
  const exposition = await until("the container is sampled", async () => {
    const exposition = await scrape(longshore);
    return exposition.find("container_memory_working_set_bytes").length > 0 && exposition;
  });
  const one = { name: container.name, id: `/machine.slice/libpod-${container.id}.scope` };
  for (
    const name of [
      "container_cpu_usage_seconds_total",
      "container_memory_usage_bytes",
      "container_memory_working_set_bytes",
      "container_spec_memory_limit_bytes",
      "container_fs_reads_bytes_total",
      "container_fs_writes_bytes_total",
      "container_last_seen",
      "container_start_time_seconds",
    ]
  ) ok(exposition.find(name, one).length > 0, name);
});
