import { equal } from "node:assert/strict";
import { certificateWatcher } from "../../../services/probes/certificate_watcher.ts";
import { testApp } from "../../helpers/test_app.ts";

for (const sslDomains of [[], [{ domain: "127.0.0.1", port: 1 }]]) {
  Deno.test(`the certificate watcher of ${sslDomains.length} domains stops immediately`, async () => {
    using app = testApp({ config: { sslDomains } });
    const stop = new AbortController();
    let rounds = 0;
    const ended = certificateWatcher.run(app.deps, stop.signal, () => rounds++);
    stop.abort();
    await ended;
    equal(rounds, 0);
  });
}
