import { equal } from "node:assert/strict";
import { findOwnContainer } from "../../../services/containers/self_search.ts";
import { createLog, LOG_LEVELS } from "../../../services/log.ts";
import { idOf, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";

for (const level of LOG_LEVELS) {
  Deno.test(`the own container is found by its log with LOG_LEVEL=${level}`, async () => {
    const written: string[] = [];
    await using fake = fakeEngine({
      ...simulateContainers([{ name: "app" }, { name: "other" }]),
      "GET /containers/*/logs": ({ parts: [id] }) =>
        new Response(id === idOf("app") ? written.join("") : ""),
    });
    const now = () => new Date("2026-01-01T00:00:00Z");
    const self = { isContainerized: true, id: null, hostname: "the-host" };
    const log = createLog({ level, format: "json", now }, (line) => written.push(`${line}\n`));

    await findOwnContainer({ engine: fake.engine, log, now, self });

    equal(self.id, idOf("app"));
    equal(JSON.parse(written[0]!).level, "info");
  });
}
