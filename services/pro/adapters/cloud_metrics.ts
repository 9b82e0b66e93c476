/**
 * Adapter for Amazon CloudWatch: reads the state of alarms. Uses the Query protocol, which every
 * region and compatible gateway supports.
 * Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
 *
 * @module
 */

import * as z from "zod";
import { type AdapterRecord, dataRecord } from "../../automation/integrations/record.ts";
import {
  type AdapterAnswer,
  type AdapterContext,
  AdapterError,
  assertSuccess,
  fitting,
  under,
} from "../../automation/integrations/request.ts";
import { adapter, Address } from "../../automation/integrations/adapter.ts";
import { signAwsRequest } from "../../outbound/aws_signature.ts";
import { parseXml } from "../../outbound/xml.ts";

/** Alarms per page (CloudWatch's limit), and pages per poll. */
const PAGE = 100;
const PAGES_MAX = 8;

const Config = z.object({
  accessKeyId: z.string().regex(/^[A-Za-z0-9_]{8,128}$/, { error: "is not an access key ID" }),
  secretAccessKey: z.string().min(8).max(200),
  region: z.string().max(40).regex(/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/, {
    error: "must be a region, e.g. eu-central-1",
  }),
  api_url: Address.optional(),
});
type Config = z.output<typeof Config>;

const Alarm = z.object({
  AlarmName: z.string(),
  StateValue: z.string(),
  StateReason: z.string().optional(),
  StateUpdatedTimestamp: z.string().optional(),
  /** When the state last changed; older gateways send only the time above. */
  StateTransitionedTimestamp: z.string().optional(),
  AlarmDescription: z.string().optional(),
  Namespace: z.string().optional(),
  MetricName: z.string().optional(),
  Unit: z.string().optional(),
  Dimensions: members(z.object({ Name: z.string(), Value: z.string() })),
});

const DescribeAlarms = z.object({
  DescribeAlarmsResponse: z.object({
    DescribeAlarmsResult: z.union([
      z.literal("").transform(() => ({ MetricAlarms: [], CompositeAlarms: [] })),
      z.object({
        MetricAlarms: members(Alarm),
        CompositeAlarms: members(Alarm),
        NextToken: z.string().optional(),
      }),
    ]),
  }),
});

/** Explanations of the common error codes. */
const ERRORS: Record<string, string> = {
  AccessDenied: "the credentials lack the permission cloudwatch:DescribeAlarms",
  ExpiredToken: "the credentials have expired",
  InvalidClientTokenId: "the access key ID is unknown",
  RequestExpired: "the clock of this host is wrong",
  SignatureDoesNotMatch: "the secret access key is wrong, or the clock of this host is",
  Throttling: "too many requests; poll less often",
};

export const cloudMetrics = adapter({
  config: Config,
  addresses: ["api_url"],
  sensitive: ["secretAccessKey"],
  // The key signs requests and is never sent, so that all Amazon regions are one target. Another
  // host could guess a weak key from the signatures.
  target: ({ api_url = "https://amazonaws.com" }) => api_url,

  async fetch(context, config) {
    const records: AdapterRecord[] = [];
    let token: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const result = await describeAlarms(context, config, PAGE, token);
      for (const alarm of [...result.MetricAlarms, ...result.CompositeAlarms]) {
        records.push(toRecord(context, config, alarm));
      }
      token = "NextToken" in result ? result.NextToken : undefined;
      if (!token) break;
    }
    // Active alarms first: the number of records is limited.
    records.sort((a, b) => Number(b.active) - Number(a.active));
    return { records, alertsComplete: !token, problem: null };
  },

  async test(context, config) {
    await describeAlarms(context, config, 1, undefined);
  },
});

async function describeAlarms(
  context: AdapterContext,
  { accessKeyId, secretAccessKey, region, api_url }: Config,
  max: number,
  token: string | undefined,
) {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const url = under(api_url ?? `https://monitoring.${region}.${domain}`, api_url ? "" : "/");
  const body = new URLSearchParams({
    Action: "DescribeAlarms",
    Version: "2010-08-01",
    "AlarmTypes.member.1": "MetricAlarm",
    "AlarmTypes.member.2": "CompositeAlarm",
    MaxRecords: String(max),
    ...(token === undefined ? {} : { NextToken: token }),
  }).toString();
  const headers = await signAwsRequest({
    url: url.href,
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
    body,
    service: "monitoring",
    now: context.now,
  }, { accessKeyId, secretAccessKey, region });

  const response = await context.ask({ url, method: "POST", headers, body });
  const document = await readXml(response);
  assertNoError(document);
  assertSuccess(response);
  return fitting(document, DescribeAlarms).DescribeAlarmsResponse.DescribeAlarmsResult;
}

function toRecord(
  context: AdapterContext,
  { region }: Config,
  alarm: z.output<typeof Alarm>,
): AdapterRecord {
  const active = alarm.StateValue === "ALARM";
  const changedAt = alarm.StateTransitionedTimestamp ?? alarm.StateUpdatedTimestamp ?? "";
  return dataRecord(context, {
    type: "alert",
    name: alarm.AlarmName,
    unit: alarm.Unit,
    labels: {
      region,
      namespace: alarm.Namespace,
      metric: alarm.MetricName,
      ...Object.fromEntries(alarm.Dimensions.map(({ Name, Value }) => [Name, Value])),
    },
    severity: active ? "critical" : undefined,
    status: alarm.StateValue.toLowerCase(),
    detail: alarm.StateReason ?? alarm.AlarmDescription,
    // If the same alarm fires again later, it is a new alert.
    key: `alarm ${alarm.AlarmName} ${active ? changedAt : "idle"}`,
    active,
  });
}

/** A list in the Query protocol: `<member>` elements or an empty element. */
function members<Item extends z.ZodType>(item: Item) {
  return z.union([
    z.literal("").transform((): z.output<Item>[] => []),
    z.object({ member: z.array(item).optional() }).transform(({ member }) => member ?? []),
  ]).optional().transform((list) => list ?? []);
}

/** @throws {AdapterError} If the response is not XML. */
async function readXml(response: AdapterAnswer): Promise<unknown> {
  const document = await parseXml(response.text(), ["member"]);
  if (document !== undefined) return document;
  assertSuccess(response);
  throw new AdapterError("The response is not from CloudWatch; check the address");
}

const ErrorDocument = z.object({
  ErrorResponse: z.object({ Error: z.object({ Code: z.string() }) }),
});

function assertNoError(document: unknown): void {
  const { success, data } = ErrorDocument.safeParse(document);
  if (!success) return;
  const { Code } = data.ErrorResponse.Error;
  const reason = Object.hasOwn(ERRORS, Code) ? `: ${ERRORS[Code]}` : "";
  throw new AdapterError(`CloudWatch refused the request${reason}`);
}
