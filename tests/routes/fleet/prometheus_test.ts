import { equal } from "node:assert/strict";
import { startPrometheus } from "../../helpers/prometheus.ts";
import { isEngineRequired } from "../../helpers/real_engine.ts";
import { missingProgram } from "../../helpers/sandbox.ts";
import { scopedFleet } from "../../helpers/scoped_fleet.ts";
import { until } from "../../helpers/until.ts";

const missing = missingProgram("prometheus");

const TOKEN = "token-of-the-scraper";

Deno.test({
  name: "a real Prometheus discovers the hosts, and scrapes them through the hub",
  ignore: missing !== undefined && !isEngineRequired(),
  async fn() {
    if (missing) throw new Error(missing);
    await using fleet = await scopedFleet({ hubConfig: { metricsToken: TOKEN } });
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request, { remoteAddr }) => fleet.hub.app(request, remoteAddr.hostname),
    );
    await using prometheus = await startPrometheus({
      target: `127.0.0.1:${server.addr.port}`,
      bearerToken: TOKEN,
      isDiscovered: true,
    });
    const upOf = async (host: string) =>
      (await prometheus.query(`up{job="longshore",instance="${host}"}`))[0]?.value[1];
    await until(
      "both hosts were scraped",
      async () => await upOf("edge-7") === "1" && await upOf("shop-1") === "0",
    );
    const [series] = await prometheus.query(`longshore_build_info{host_site="kiel"}`);
    equal(series?.metric.instance, "edge-7");
  },
});
