import { deepEqual, equal, ok } from "node:assert/strict";
import { sampleHost } from "../../../services/metrics/host/metrics.ts";
import { toStats } from "../../../services/containers/stats.ts";
import { idOf, setContainers } from "../../helpers/fake_containers.ts";
import { CADVISOR_14282, CADVISOR_193, NODE_EXPORTER_FULL } from "../../helpers/dashboards.ts";
import { procDirectory } from "../../helpers/proc_directory.ts";
import { startPrometheus } from "../../helpers/prometheus.ts";
import { promtoolComplaints } from "../../helpers/promtool.ts";
import { isEngineRequired } from "../../helpers/real_engine.ts";
import { missingProgram } from "../../helpers/sandbox.ts";
import { testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const missing = missingProgram("prometheus", "promtool");

const TOKEN = "token-of-the-scraper";

const SAMPLE = {
  read: "2026-01-01T00:00:00Z",
  cpu_stats: {
    cpu_usage: { total_usage: 9, usage_in_usermode: 5, usage_in_kernelmode: 4 },
  },
  memory_stats: { usage: 9, limit: 90, stats: { total_rss: 5, total_cache: 4, total_swap: 0 } },
  networks: {
    eth0: {
      ...{ rx_bytes: 1, rx_packets: 1, rx_errors: 0, rx_dropped: 0 },
      ...{ tx_bytes: 1, tx_packets: 1, tx_errors: 0, tx_dropped: 0 },
    },
  },
};

Deno.test({
  name: "public dashboards get an answer to all of their expressions from a real Prometheus",
  ignore: missing !== undefined && !isEngineRequired(),
  async fn() {
    if (missing) throw new Error(missing);
    using proc = procDirectory();
    using app = testApp({ config: { procPath: proc.path, metricsToken: TOKEN } });
    const { stats } = app.deps;
    setContainers(app, { name: "web" });
    stats.put(idOf("web"), toStats(SAMPLE)!);
    stats.putSizes(new Map([[idOf("web"), 4_096]]));
    await sampleHost(app.deps);
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request, { remoteAddr }) => app.app(request, remoteAddr.hostname),
    );
    await using prometheus = await startPrometheus({
      target: `127.0.0.1:${server.addr.port}`,
      bearerToken: TOKEN,
    });

    await until(
      "it was scraped twice",
      async () =>
        Number((await prometheus.query("count_over_time(up[1m])"))[0]?.value[1] ?? 0) >= 3,
    );
    equal(await prometheus.lastError(), "");
    const unanswered = [];
    for (const expression of [...NODE_EXPORTER_FULL, ...CADVISOR_14282, ...CADVISOR_193]) {
      if ((await prometheus.query(expression)).length === 0) unanswered.push(expression);
    }

    deepEqual(unanswered, []);
    equal(new Set(NODE_EXPORTER_FULL).size, NODE_EXPORTER_FULL.length);
    ok(NODE_EXPORTER_FULL.length >= 190, String(NODE_EXPORTER_FULL.length));
    const text = await app.call("GET", "/metrics", undefined, { token: TOKEN });
    deepEqual(await promtoolComplaints(text.body), []);
  },
});
