/** Checks an export with Prometheus's own tool. @module */

/**
 * Runs `promtool check metrics`. @returns Its complaints; empty if there are none.
 *
 * @throws {Error} For a text that is not in the exposition format.
 */
export async function promtoolComplaints(text: string): Promise<string[]> {
  const child = new Deno.Command("promtool", {
    args: ["check", "metrics"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { code, stdout, stderr } = await output;
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  // 3: complaints; 1: the text could not be parsed.
  if (code !== 0 && code !== 3) throw new Error(said);
  return said.trim().split("\n").filter((line) => line !== "" && !NODE_EXPORTER.test(line));
}

/**
 * node_exporter takes the kernel's own names as they are, and leaves this complaint out of its own
 * checks for that reason. Dashboards know these names.
 */
const NODE_EXPORTER =
  /^node_((memory|netstat|sockstat)_\w+ metric names should be written in 'snake_case'|entropy_\w+ use base unit)/;
