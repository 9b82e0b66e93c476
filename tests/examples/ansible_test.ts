import { equal } from "node:assert/strict";
import { missingProgram } from "../helpers/sandbox.ts";

Deno.test({
  name: "Ansible accepts the example playbook",
  ignore: missingProgram("ansible-playbook") !== undefined,
  async fn() {
    const { code, stderr } = await new Deno.Command("ansible-playbook", {
      args: ["-i", "hosts.ini", "--syntax-check", "longshore.yml"],
      cwd: new URL("../../examples/ansible/", import.meta.url),
      stdin: "null",
    }).output();

    equal(code, 0, new TextDecoder().decode(stderr));
  },
});
