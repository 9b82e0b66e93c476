/**
 * The service next to an empty app on the same framework: the list of 100 containers next to an app
 * that returns the same bytes, `GET /livez`, and the idle memory while all containers are sampled.
 *
 * @module
 */

import type { RealEngine } from "../tests/helpers/real_engine.ts";
import { CONTAINERS, live, makeContainers, row, sideBySide } from "./containers.ts";
import { load } from "./load.ts";
import { bundlePrograms, start, tokenOf } from "./programs.ts";
import { printTable, printVerdict } from "./table.ts";

const CONNECTIONS = 16;
const SECONDS = 4;

/** Long enough for two rounds of the sampler. */
const IDLE_MS = 40_000;

export async function benchBaseline(engine: RealEngine): Promise<void> {
  const ids = await makeContainers(engine);
  const bodyFile = await Deno.makeTempFile({ prefix: "longshore-bench-" });
  try {
    await using bundles = await bundlePrograms();
    await using service = await start(bundles.service, {
      DOCKER_HOST: `unix://${engine.socketPath}`,
    });
    const headers = { authorization: `Bearer ${await tokenOf(service)}` };
    await live(service, headers);
    const list = await fetch(`http://127.0.0.1:${service.target.port}/api/containers`, { headers });
    await Deno.writeFile(bodyFile, await list.bytes());
    await using empty = await start(bundles.empty, { BODY_FILE: bodyFile }, { plain: true });

    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const [serviceMb, emptyMb] = [await service.memoryMb(), await empty.memoryMb()];
    printTable(`Idle memory with ${CONTAINERS} containers`, [
      { program: "Longshore", "RSS MB": serviceMb },
      { program: "empty app", "RSS MB": emptyMb },
    ]);
    printVerdict("idle memory above the empty app", serviceMb - emptyMb, 36, " MB");

    const options = { headers, connections: CONNECTIONS, seconds: SECONDS };
    for (
      const { title, path, emptyPath, share } of [
        {
          title: `List of ${CONTAINERS} containers`,
          path: "/api/containers",
          emptyPath: "/body",
          share: 0.7,
        },
        { title: "GET /livez", path: "/livez", emptyPath: "/livez", share: 0.4 },
      ]
    ) {
      const [ours, theirs] = await sideBySide(
        () => load(service.target, { path, ...options }),
        () => load(empty.target, { path: emptyPath, ...options }),
      );
      printTable(`${title}, ${CONNECTIONS} connections`, [
        row("Longshore", ours),
        row("empty app", theirs),
      ]);
      printVerdict(
        `empty app's requests per second, times ${share}, over ours`,
        theirs.requestsPerSecond * share / ours.requestsPerSecond,
        1,
      );
    }
  } finally {
    await Deno.remove(bodyFile);
    for (let at = 0; at < ids.length; at += 20) {
      await engine.docker("rm", "-f", ...ids.slice(at, at + 20));
    }
  }
}
