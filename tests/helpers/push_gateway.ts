/** A gateway on loopback that implements the Expo push API. @module */

export interface PushMessage {
  to: string;
  title: string;
  body: string;
  data: Record<string, string>;
  sound: string;
  priority: string;
}

export interface PushGateway extends AsyncDisposable {
  url: string;
  /** Accepted messages, in order. */
  messages: PushMessage[];
  /** Number of requests, including refused ones. */
  requests: Request[];
  /** Devices that are no longer registered. */
  unregistered: Set<string>;
  /** Answers the next request in place of the gateway. */
  answerOnce(answer: () => Response | Promise<Response>): void;
}

/** Maximum number of messages per request of the API. */
const MESSAGES_MAX = 100;

export function pushGateway(): PushGateway {
  const messages: PushMessage[] = [];
  const requests: Request[] = [];
  const unregistered = new Set<string>();
  const answers: (() => Response | Promise<Response>)[] = [];

  const ticket = (message: PushMessage) => {
    if (typeof message.to !== "string" || JSON.stringify(message).length > 4_096) {
      return { status: "error", message: "too big", details: { error: "MessageTooBig" } };
    }
    if (unregistered.has(message.to)) {
      return {
        status: "error",
        message: `"${message.to}" is not a registered push notification recipient`,
        details: { error: "DeviceNotRegistered" },
      };
    }
    messages.push(message);
    return { status: "ok", id: crypto.randomUUID() };
  };

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = await request.text();
    requests.push(request);
    const answer = answers.shift();
    if (answer) return await answer();
    const isJson = request.headers.get("content-type") === "application/json";
    const list = isJson ? JSON.parse(body) : undefined;
    if (request.method !== "POST" || !Array.isArray(list) || list.length > MESSAGES_MAX) {
      return Response.json({ errors: [{ code: "VALIDATION_ERROR" }] }, { status: 400 });
    }
    return Response.json({ data: list.map(ticket) });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/--/api/v2/push/send`,
    messages,
    requests,
    unregistered,
    answerOnce: (answer) => void answers.push(answer),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
