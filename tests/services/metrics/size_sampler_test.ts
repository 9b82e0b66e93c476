import { deepEqual, equal } from "node:assert/strict";
import { readSizes, sizeSampler } from "../../../services/metrics/size_sampler.ts";
import { idOf } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const list = () => Response.json([{ Id: idOf("web"), SizeRw: 4_096 }, { Id: idOf("unchanged") }]);

Deno.test("sizes are those of the writable layers and stay after a failure", async () => {
  await using fake = fakeEngine({ "GET /containers/json": list });
  using app = testApp({ engine: fake.engine });
  const { stats } = app.deps;
  const signal = new AbortController().signal;
  const sizes = () => ["web", "unchanged", "unknown"].map((name) => stats.size(idOf(name)));

  await readSizes(app.deps, signal);
  deepEqual(sizes(), [4_096, 0, undefined]);
  deepEqual(fake.requests, ["GET /containers/json?size=true"]);

  fake.answers["GET /containers/json"] = () => Response.json({ message: "busy" }, { status: 500 });
  await readSizes(app.deps, signal);
  deepEqual(sizes(), [4_096, 0, undefined]);
});

Deno.test("sizes are read only while a scraper is active", async () => {
  await using fake = fakeEngine({ "GET /containers/json": list });
  using app = testApp({ engine: fake.engine });
  const askedInRound = async () => {
    const before = fake.requests.length;
    const end = new AbortController();
    await sizeSampler.run(app.deps, end.signal, () => end.abort());
    return fake.requests.length - before;
  };

  equal(await askedInRound(), 0);
  await app.call("GET", "/metrics");
  equal(await askedInRound(), 1);
  app.clock.advance({ minutes: 11 });
  equal(await askedInRound(), 0);
});
