import { rejects } from "node:assert/strict";
import { dockerdObstacle, isEngineRequired, startDockerd } from "../helpers/real_engine.ts";

Deno.test({
  name: "an engine with a paused container can be disposed of",
  ignore: dockerdObstacle() !== undefined && !isEngineRequired(),
  async fn() {
    const engine = await startDockerd();
    const container = await engine.runContainer();
    await engine.docker("pause", container.id);

    await engine[Symbol.asyncDispose]();

    await rejects(Deno.stat(`/proc/${engine.sandbox!.pid}`), Deno.errors.NotFound);
  },
});
