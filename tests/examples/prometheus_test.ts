import { equal } from "node:assert/strict";
import { missingProgram } from "../helpers/sandbox.ts";

const EXAMPLE = new URL("../../examples/prometheus/", import.meta.url);

Deno.test({
  name: "promtool accepts the example configuration and its alert rules",
  ignore: missingProgram("promtool") !== undefined,
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "longshore-test-prometheus-" });
    try {
      for (const name of ["prometheus.yml", "alerts.yml"]) {
        await Deno.copyFile(new URL(name, EXAMPLE), `${directory}/${name}`);
      }
      await Deno.writeTextFile(`${directory}/metrics-token`, "a-token");

      const { code, stderr } = await new Deno.Command("promtool", {
        args: ["check", "config", `${directory}/prometheus.yml`],
        stdin: "null",
      }).output();

      equal(code, 0, new TextDecoder().decode(stderr));
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});
