import { deepEqual, equal, match } from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { type Asked, fakeSystem } from "../../../helpers/fake_system.ts";
import { integrate, integrationsApp, pollOnce } from "../../../helpers/integrations.ts";

const credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  region: "eu-central-1",
};

const alarm = (name: string, state: string) => `
  <member>
    <AlarmName>${name}</AlarmName>
    <AlarmArn>arn:aws:cloudwatch:eu-central-1:123456789012:alarm:${name}</AlarmArn>
    <StateValue>${state}</StateValue>
    <StateReason>Threshold Crossed: 1 datapoint &gt; 90 &amp; more</StateReason>
    <StateUpdatedTimestamp>2026-03-01T11:30:00.000Z</StateUpdatedTimestamp>
    <StateTransitionedTimestamp>2026-03-01T11:30:00.000Z</StateTransitionedTimestamp>
    <Namespace>AWS/EC2</Namespace>
    <MetricName>CPUUtilization</MetricName>
    <Unit>Percent</Unit>
    <Dimensions>
      <member><Name>InstanceId</Name><Value>00123</Value></member>
    </Dimensions>
    <Threshold>90.0</Threshold>
  </member>`;

const describe = (result: string) =>
  new Response(
    `<DescribeAlarmsResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/">
       <DescribeAlarmsResult>${result}</DescribeAlarmsResult>
       <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>
     </DescribeAlarmsResponse>`,
    { headers: { "content-type": "text/xml" } },
  );

const refuse = (code: string, status: number) =>
  new Response(
    `<ErrorResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/">
       <Error><Type>Sender</Type><Code>${code}</Code><Message>internal secret</Message></Error>
     </ErrorResponse>`,
    { status, headers: { "content-type": "text/xml" } },
  );

const integrateWith = async (app: ReturnType<typeof integrationsApp>, api_url: string) =>
  await integrate(app, "cloudwatch", { ...credentials, api_url });

Deno.test("cloud-metrics stores the states of alarms, page by page, and signs its requests", async () => {
  await using system = fakeSystem({
    "/": ({ body }: Asked) => {
      const token = new URLSearchParams(body).get("NextToken");
      return token === null
        ? describe(
          `<MetricAlarms>${alarm("cpu", "ALARM")}</MetricAlarms><CompositeAlarms/>` +
            "<NextToken>a+b/c=</NextToken>",
        )
        : describe(
          "<MetricAlarms/><CompositeAlarms><member><AlarmName>all</AlarmName>" +
            "<StateValue>OK</StateValue></member></CompositeAlarms>",
        );
    },
  });
  using app = integrationsApp({ edition: "pro" });
  const id = await integrateWith(app, system.url);

  const { outcome, data } = await pollOnce(app, id);

  deepEqual(outcome, { ok: true, records: 2, error: null });
  const alert = { type: "alert", value: null, timestamp: "2026-03-01T12:00:00.000Z" };
  deepEqual(data, [
    {
      ...alert,
      name: "all",
      unit: null,
      labels: { region: "eu-central-1" },
      severity: null,
      status: "ok",
      detail: null,
    },
    {
      ...alert,
      name: "cpu",
      unit: "Percent",
      labels: {
        region: "eu-central-1",
        namespace: "AWS/EC2",
        metric: "CPUUtilization",
        InstanceId: "00123",
      },
      severity: "critical",
      status: "alarm",
      detail: "Threshold Crossed: 1 datapoint > 90 & more",
    },
  ]);
  equal(new URLSearchParams(system.asked[1]!.body).get("NextToken"), "a+b/c=");
  for (const { method, body, headers } of system.asked) {
    const contentType = headers.get("content-type")!;
    equal(
      headers.get("authorization"),
      authorizationOf({ method, host: new URL(system.url).host, contentType, body }),
    );
    equal(headers.get("x-amz-date"), "20260301T120000Z");
    equal(body.includes("Action=DescribeAlarms&Version=2010-08-01"), true);
  }
});

/**
 * Signature Version 4, for a request to `/` at noon.
 * Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
 */
function authorizationOf(
  request: { method: string; host: string; contentType: string; body: string },
): string {
  const { accessKeyId, secretAccessKey, region } = credentials;
  const names = "content-type;host;x-amz-date";
  const scope = `20260301/${region}/monitoring/aws4_request`;
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const canonical = [
    request.method,
    "/",
    "",
    `content-type:${request.contentType}`,
    `host:${request.host}`,
    "x-amz-date:20260301T120000Z",
    "",
    names,
    sha256(request.body),
  ].join("\n");
  const key = scope.split("/").reduce<string | Uint8Array>(
    (key, step) => createHmac("sha256", key).update(step).digest(),
    `AWS4${secretAccessKey}`,
  );
  const signature = createHmac("sha256", key)
    .update(`AWS4-HMAC-SHA256\n20260301T120000Z\n${scope}\n${sha256(canonical)}`)
    .digest("hex");
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, ` +
    `Signature=${signature}`;
}

Deno.test("an empty list of alarms is not an error", async () => {
  for (const result of ["", "<MetricAlarms/><CompositeAlarms/>"]) {
    await using system = fakeSystem({ "/": () => describe(result) });
    using app = integrationsApp({ edition: "pro" });
    const id = await integrateWith(app, system.url);
    deepEqual((await pollOnce(app, id)).outcome, { ok: true, records: 0, error: null });
  }
});

for (
  const { what, answer, error } of [
    {
      what: "a wrong secret",
      answer: () => refuse("SignatureDoesNotMatch", 403),
      error: /^CloudWatch refused the request: the secret access key is wrong/,
    },
    {
      what: "an unknown error",
      answer: () => refuse("constructor", 400),
      error: /^CloudWatch refused the request$/,
    },
    {
      what: "an HTML page",
      answer: () => new Response("internal secret"),
      error: /^The response is not from CloudWatch; check the address$/,
    },
    {
      what: "expanding entities",
      answer: () => new Response(`<!DOCTYPE a [<!ENTITY a "internal secret">]><a>&a;</a>`),
      error: /^The response is not from CloudWatch; check the address$/,
    },
    {
      what: "XML of another service",
      answer: () => new Response("<a><b>internal secret</b></a>"),
      error: /^The system's answer is not as expected at DescribeAlarmsResponse; check/,
    },
  ]
) {
  Deno.test(`testing cloud-metrics reports ${what} without quoting it`, async () => {
    await using system = fakeSystem({ "/": answer });
    using app = integrationsApp({ edition: "pro" });
    const id = await integrateWith(app, system.url);
    const { body } = await app.call("POST", `/api/integrations/${id}/test`);
    equal(body.ok, false);
    match(body.error, error);
  });
}

Deno.test("cloud-metrics refuses an invalid region, which is part of a host name", async () => {
  using app = integrationsApp({ edition: "pro" });
  for (const region of ["evil.example/", "eu-central-1.evil.example", "eu", ""]) {
    const answer = await app.call("POST", "/api/integrations", {
      adapter: "cloud-metrics",
      name: "x",
      config: { ...credentials, region },
    });
    equal(answer.status, 400, region);
    match(answer.body.error, /^body\.config\.region: /);
  }
});
