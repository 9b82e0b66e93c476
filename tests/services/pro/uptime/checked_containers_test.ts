import { deepEqual } from "node:assert/strict";
import { checkedContainers } from "../../../../services/pro/uptime/checked_containers.ts";
import { setContainers } from "../../../helpers/fake_containers.ts";
import { testApp } from "../../../helpers/test_app.ts";

const attachment = {
  networkId: "n",
  network: "shop",
  ipv4: "172.18.0.2",
  ipv6: "fd00::2",
  mac: "",
};
const port = { ip: "0.0.0.0", privatePort: 80, publicPort: 8080, type: "tcp" };

for (
  const [type, url, containers] of [
    ["http", "http://web/health", ["web"]],
    ["http", "http://172.18.0.2:9000/", ["web"]],
    ["http", "https://[fd00::2]/", ["web"]],
    ["http", "http://127.0.0.1:8080/", ["web"]],
    ["http", "http://localhost:8080/", ["web"]],
    ["http", "http://localhost/", undefined],
    ["http", "https://shop.example.com/", undefined],
    ["http", "http://192.0.2.1:8080/", undefined],
    ["tcp", "db:5432", ["db"]],
    ["tcp", "localhost:8080", ["web"]],
    ["dns", "web", undefined],
  ] as const
) {
  Deno.test(`a monitor for ${type} ${url} checks ${containers ?? "no container"}`, () => {
    using app = testApp();
    setContainers(app, { name: "web", attachments: [attachment], ports: [port] }, {
      name: "db",
      ports: [{ ...port, publicPort: null }],
    });
    deepEqual(checkedContainers(app.deps, { type, url }).containers, containers);
  });
}
