/** Serves what a hub passes on to this member, on a private socket. @module */

import { join } from "node:path";
import type { App } from "../routes/app.ts";
import { createNotedRequests } from "../routes/pipeline/noted_request.ts";
import type { Deps } from "../services/deps.ts";
import { STREAM_HEADER } from "../services/fleet/notes/note.ts";
import { createAccept, type Intakes } from "../services/fleet/passing/accept.ts";
import { provideIntake } from "../services/stream/intake.ts";
import { respondInternalError } from "./listener/internal_error.ts";
import { listenPrivately, type PrivateSocket } from "./listener/private_socket.ts";

const NAME = "fleet.sock";

/** Lets streams of a link be served. The socket is opened by the first one. */
export function serveFleet(
  deps: Pick<Deps, "anonymousLog" | "config" | "passing" | "log" | "now">,
  app: App,
): { shutdown(): Promise<void> } {
  const { config, passing, log } = deps;
  let socket: PrivateSocket | undefined;
  const intakes: Intakes = new Map();
  const answer = createNotedRequests(deps, (request, noted) => {
    const intake = intakes.get(request.headers.get(STREAM_HEADER));
    if (intake) provideIntake(request, intake);
    return app(request, "", noted).finally(() => intake?.end());
  });
  passing.perform = (request, caller) => app(request, "", { caller, received: request });
  passing.accept = createAccept(async () => {
    socket ??= listenPrivately(
      join(config.dataDir, NAME),
      answer,
      (error) => respondInternalError(log, error),
    );
    return await socket.connect();
  }, intakes);

  return {
    async shutdown() {
      delete passing.accept;
      delete passing.perform;
      await socket?.shutdown();
    },
  };
}
