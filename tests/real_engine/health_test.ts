import { deepEqual } from "node:assert/strict";
import type { AppEvent } from "../../services/events/events.ts";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

engineTest(
  "container.unhealthy contains the output of the health check",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    const events: AppEvent[] = [];
    app.deps.events.publish = (event) => void events.push(event);
    await using web = await engine.runContainer({
      options: [
        "--health-cmd=printf '\\033[31mdatabase is away\\033[0m\\n'; exit 1",
        "--health-interval=1s",
        "--health-retries=1",
      ],
    });

    const { data } = await until(
      "it is unhealthy",
      () => events.find(({ event, data }) => event === "container.unhealthy" && data.id === web.id),
    );

    deepEqual(data, {
      container: web.name,
      id: web.id,
      healthOutput: "database is away",
      image: BUSYBOX,
    });
  },
);
