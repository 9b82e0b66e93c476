import { deepEqual } from "node:assert/strict";
import { loadTexts } from "../../../services/compose/load/texts.ts";
import { recoverVariables } from "../../../services/takeover/recovery.ts";
import { containerOf } from "../../helpers/fake_containers.ts";

const web = containerOf({ name: "shop-web-1", composeService: "web", image: "nginx:1.27" });
const container = {
  ...web,
  labels: { "traefik.rule": "Host(`a.example`)", team: "blue" },
  ports: [{ ip: "127.0.0.1", privatePort: 80, publicPort: 8080, type: "tcp" }],
  details: {
    ...web.details,
    command: ["serve", "--level", "debug"],
    env: [
      { name: "PASSWORD", value: "p=a$s" },
      { name: "URL", value: "db://root:p=a$s@db/shop" },
      { name: "EMPTY", value: "" },
      { name: "LEVEL", value: "info" },
      { name: "PAIR", value: "one-two" },
    ],
    mounts: [{
      type: "bind",
      name: null,
      source: "/srv/data",
      destination: "/data",
      readOnly: true,
    }],
  },
};

async function recover(service: string, env = "", more = "") {
  const compose = `${more}services:\n  web:\n    image: nginx\n    ${service}\n`;
  const { unset } = JSON.parse(await loadTexts(JSON.stringify({ compose, env, files: {} })));
  return recoverVariables(unset, [container]);
}

for (
  const [what, service, found, env = "", more = ""] of [
    ["a variable", "environment: {PASSWORD: $PW}", { PW: "p=a$s" }],
    ["a list", "environment: ['PASSWORD=${PW}']", { PW: "p=a$s" }],
    ["a name without a value", "environment: [PASSWORD]", { PASSWORD: "p=a$s" }],
    ["a part of a text", "environment: {URL: 'db://root:${PW}@db/${DB}'}", {
      PW: "p=a$s",
      DB: "shop",
    }],
    [
      "known variables around it",
      "environment: {URL: 'db://$U:${PW}@db/shop'}",
      { PW: "p=a$s" },
      "U=root\n",
    ],
    ["a required one", "environment: {PASSWORD: '${PW:?must be set}'}", { PW: "p=a$s" }],
    ["another value than the default", "environment: {LEVEL: '${L:-warn}'}", { L: "info" }],
    ["the default", "environment: {LEVEL: '${L:-info}'}", {}],
    ["nothing", "environment: {EMPTY: $E}", {}],
    ["an image", "image: 'nginx:${TAG}'", { TAG: "1.27" }],
    ["a label", "labels: {traefik.rule: 'Host(`${HOST}`)'}", { HOST: "a.example" }],
    ["a label of a list", "labels: ['team=$TEAM']", { TEAM: "blue" }],
    ["a port", "ports: ['127.0.0.1:${PORT}:80']", { PORT: "8080" }],
    ["a directory", "volumes: ['${DATA}:/data:ro']", { DATA: "/srv/data" }],
    ["an argument", "command: 'serve --level ${L}'", { L: "debug" }],
    ["an anchor", "environment: *env", { PW: "p=a$s" }, "", "x-env: &env {PASSWORD: $PW}\n"],
    ["another text", "environment: {LEVEL: 'x-${L}'}", {}],
    ["two values for one name", "environment: {PAIR: '${A}-${A}'}", {}],
    ["variables without a text between them", "environment: {PAIR: '${A}${B}'}", {}],
    ["a variable of Compose", "environment: {LEVEL: $COMPOSE_PROJECT_NAME_X}", {}],
    ["a text for a set variable", "environment: {LEVEL: '${L:+info}'}", {}],
  ] as [string, string, Record<string, string>, string?, string?][]
) {
  Deno.test(`recoverVariables() and ${what}`, async () => {
    deepEqual(await recover(service, env, more), found);
  });
}

Deno.test("recoverVariables() takes nothing of another service", async () => {
  const compose = "services:\n  api:\n    image: nginx\n    environment: {PASSWORD: $PW}\n";
  const { unset } = JSON.parse(await loadTexts(JSON.stringify({ compose, files: {} })));
  deepEqual(recoverVariables(unset, [container]), {});
});
