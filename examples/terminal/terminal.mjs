// A terminal in a container, in Node 22 or newer, without dependencies:
//   TOKEN=... node terminal.mjs http://localhost:3000 web [COMMAND]
import process from "node:process";

const [base, container, command] = process.argv.slice(2);
const { stdin, stdout } = process;
const size = () => ({ cols: stdout.columns ?? 80, rows: stdout.rows ?? 24 });
const path = `${base}/api/containers/${encodeURIComponent(container)}/terminal`;

const answer = await fetch(`${path}/ticket`, {
  method: "POST",
  headers: { authorization: `Bearer ${process.env.TOKEN}`, "content-type": "application/json" },
  body: JSON.stringify({ ...size(), command }),
});
const { ticket, error } = await answer.json();
if (!ticket) fail(error);

const socket = new WebSocket(`${path.replace(/^http/, "ws")}?ticket=${ticket}`);
socket.binaryType = "arraybuffer";
socket.onopen = () => {
  stdin.setRawMode?.(true);
  stdin.on("data", (bytes) => socket.send(bytes));
  stdout.on("resize", () => socket.send(JSON.stringify({ resize: Object.values(size()) })));
};
socket.onmessage = ({ data }) => {
  if (typeof data !== "string") return stdout.write(new Uint8Array(data));
  const { exit, error } = JSON.parse(data);
  if (error) fail(error);
  process.exit(exit);
};
socket.onclose = () => fail("The connection was lost");

function fail(message) {
  console.error(message);
  process.exit(1);
}
