import { insertMetricSample, rollUpMetricSamples } from "../../db/metric_samples.ts";
import { openMetricsDatabase } from "../../db/database.ts";
import { METRICS_FILE } from "../../services/backup/files.ts";
import { LOCAL_HOST } from "../../db/host_id.ts";
import type { Longshore } from "./longshore.ts";
import { until } from "./until.ts";

/** Gives a host the samples of an hour before its first one. */
export async function addHostHistory(service: Longshore): Promise<void> {
  const [first] = await until("the host is measured", async () => {
    const { body } = await service.call("GET", "/api/metrics/history?hours=1");
    return body.history.length > 0 && body.history;
  });
  const { timestamp, memoryPercent, diskPercent, load1, containersRunning, containersTotal } =
    first;
  const metrics = openMetricsDatabase(`${service.dataDir}/${METRICS_FILE}`);
  const end = Math.floor(Date.parse(timestamp) / 60_000) * 60;
  for (let ts = end - 65 * 60; ts < end; ts += 15) {
    const minute = (ts - end) / 60;
    // Some jobs take a while each quarter of an hour.
    const job = Math.max(0, Math.sin(minute / 15 * 2 * Math.PI) - 0.8) * 5;
    const noise = Math.sin(ts) + Math.sin(ts / 3.3);
    insertMetricSample(metrics, {
      hostId: LOCAL_HOST,
      ts,
      cpuPercent: 9 + 2.5 * noise + 30 * job,
      memoryPercent: memoryPercent + minute / 60 + 2 * job,
      diskPercent,
      load1,
      containersRunning,
      containersTotal,
    });
    rollUpMetricSamples(metrics, { hostId: LOCAL_HOST, ts, of: 15, into: 60 });
  }
  metrics.close();
}
