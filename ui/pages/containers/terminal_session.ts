/** Joins a screen with a program in a container: `docs/terminal.md` has the protocol. @module */

import { api } from "../../api/client.ts";
// Common parts of all pages, as one file.
import "../../components/page.tsx";
import { apiUrl } from "../../state/root.ts";
import { openScreen, type Size } from "./terminal_screen.ts";

export interface Program {
  /** A new shell; the main process; the main process without input. */
  kind: "shell" | "attach" | "watch";
  /** Of a new shell; empty for the first one that the container has. */
  command?: string;
  /** Of a new shell; empty for the container's own. */
  user?: string;
}

/**
 * Shows a program until it ends or `signal` aborts. What it has written stays until then.
 *
 * @returns The end as a sentence.
 * @throws {ApiError} If the service refuses a terminal.
 */
export async function runTerminal(
  frame: HTMLElement,
  containerId: string,
  program: Program,
  signal: AbortSignal,
): Promise<string> {
  const isShell = program.kind === "shell";
  const screen = openScreen(frame, {
    isReadOnly: program.kind === "watch",
    // Without a terminal of its own, the main process ends its lines without a carriage return.
    convertEol: !isShell,
    signal,
  });
  let socket: WebSocket;
  try {
    socket = await openSocket(containerId, program, screen.size());
  } catch (error) {
    screen.end();
    throw error;
  }
  signal.addEventListener("abort", () => socket.close());
  if (signal.aborted) socket.close();

  const end = Promise.withResolvers<string>();
  const send = (message: Uint8Array<ArrayBuffer> | string) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(message);
  };
  const resize = ({ cols, rows }: Size) => send(JSON.stringify({ resize: [cols, rows] }));
  screen.onInput(send);
  screen.onResize(resize);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    resize(screen.size());
    screen.focus();
  };
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
    if (typeof data === "string") end.resolve(sentenceOfEnd(JSON.parse(data)));
    else screen.write(new Uint8Array(data));
  };
  socket.onclose = () => {
    end.resolve(`The connection was lost${isShell ? ", which ends the shell" : ""}`);
  };
  const sentence = await end.promise;
  screen.end();
  return sentence;
}

async function openSocket(
  id: string,
  { kind, command, user }: Program,
  size: Size,
): Promise<WebSocket> {
  const path = { id };
  const { ticket } = kind === "shell"
    ? await api("POST /api/containers/{id}/terminal/ticket", {
      path,
      body: { ...size, ...(command && { command }), ...(user && { user }) },
    })
    : await api("POST /api/containers/{id}/attach/ticket", { path, body: size });
  const url = apiUrl(`api/containers/${id}/${kind === "shell" ? "terminal" : "attach"}`);
  url.protocol = url.protocol.replace("http", "ws");
  url.searchParams.set("ticket", ticket);
  return new WebSocket(url);
}

function sentenceOfEnd(message: { exit: number | null } | { error: string }): string {
  if ("error" in message) return message.error;
  return message.exit === null
    ? "The program has ended"
    : `The program has ended with exit code ${message.exit}`;
}
