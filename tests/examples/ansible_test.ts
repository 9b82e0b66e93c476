import { deepEqual, equal } from "node:assert/strict";
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

Deno.test("the example playbook installs every program that the unit runs", async () => {
  const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const unit = await read("deploy/longshore.service");
  const playbook = await read("examples/ansible/longshore.yml");

  const programs = new Set(Array.from(unit.matchAll(/^Exec\w+=\+?(\S+)/gm), ([, path]) => path!));

  equal(programs.size, 2);
  deepEqual([...programs].filter((path) => !playbook.includes(`dest: ${path}\n`)), []);
});
