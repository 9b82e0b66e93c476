/**
 * Types of the API, generated from its document by `deno task openapi:accept`.
 *
 * @module
 */

export type AcceptedGitWebhook = { accepted: true };

export type Account = {
  mode: "key" | "users";
  id: string;
  email: string | null;
  name: string | null;
  role: UserRole;
  hasPassword: boolean;
  createdAt: string | null;
  lastLoginAt: string | null;
};

export type AccountUpdate = { name?: string | null; email?: string };

export type ActiveAlert = {
  id: string;
  ruleId: string;
  ruleName: string;
  metric: AlertMetric;
  operator: AlertOperator;
  threshold: number;
  value: number;
  valueText: string;
  message: string;
  severity: "info" | "warning" | "critical";
  container: string | null;
  stack: string | null;
  firedAt: string;
  rule_name: string;
  created_at: string;
  resolvedAt: string | null;
  acknowledgedAt: string | null;
  acknowledgedBy: string | null;
  comment: string | null;
  inhibitedBy: "maintenance" | "silence" | null;
};

export type ActiveAlertList = { alerts: (ActiveAlert)[] };

export type ActiveBrand = { brand: Brand | null };

export type AdapterList = { adapters: (IntegrationAdapter)[] };

export type AddedPasskey = {
  id: string;
  name: string;
  rpId: string;
  createdAt: string;
  lastUsedAt: string | null;
  recoveryCodes: (string)[];
};

export type Agent = {
  id: string;
  hostname: string;
  description: string;
  tags: (string)[];
  ca_id: string | null;
  enabled: boolean;
  pending: boolean;
  certificate: string | null;
  fingerprint: string;
  subject: string | null;
  issuer: string | null;
  serial: string | null;
  not_before: string | null;
  not_after: string | null;
  last_seen_at: string | null;
  last_seen_ip: string | null;
  created_at: string;
  updated_at: string;
  revoked_at: string | null;
};

export type AgentChanges = { hostname?: string; description?: string; tags?: (string)[] };

export type AgentPage = { agents: (Agent)[]; total: number; limit: number; offset: number };

export type AgentRevocation = { ok: true; id: string; revoked_at: string };

export type AlertAcknowledgement = { comment?: string };

export type AlertEvent = {
  id: string;
  ruleId: string;
  ruleName: string;
  metric: AlertMetric;
  operator: AlertOperator;
  threshold: number;
  value: number;
  valueText: string;
  message: string;
  severity: "info" | "warning" | "critical";
  container: string | null;
  stack: string | null;
  firedAt: string;
  rule_name: string;
  created_at: string;
  resolvedAt: string | null;
  acknowledgedAt: string | null;
  acknowledgedBy: string | null;
  comment: string | null;
};

export type AlertEventPage = {
  events: (AlertEvent)[];
  total: number;
  limit: number;
  offset: number;
};

export type AlertMetric =
  | "disk_percent"
  | "disk_full_in_hours"
  | "memory_percent"
  | "cpu_percent"
  | "swap_percent"
  | "load_1"
  | "pressure_cpu"
  | "pressure_memory"
  | "pressure_io"
  | "network_bytes_per_second"
  | "temperature_celsius"
  | "container_not_running"
  | "container_unhealthy"
  | "container_stopped"
  | "container_restarts"
  | "container_oom"
  | "container_log_matches"
  | "container_memory_percent"
  | "container_memory_bytes"
  | "container_cpu_percent"
  | "container_network_bytes_per_second"
  | "backup_age_hours"
  | "drill_age_days"
  | "service_replicas_missing"
  | "nodes_down"
  | "fleet_hosts_away"
  | "engine_down"
  | "update_available_days"
  | "outbox_age_seconds"
  | "certificate_days_remaining";

export type AlertMetricDescription = {
  id: string;
  group: "Host" | "Containers" | "Backups" | "Swarm" | "Fleet" | "Service";
  words: string;
  title: string;
  description: string;
  unit: "%" | "B" | "B/s" | "days" | "h" | "s" | "°C" | null;
  target: "host" | "containers" | "stacks";
  isState: boolean;
  hasPath: boolean;
  hasPattern: boolean;
  operator: AlertOperator;
  threshold: number;
  windowSeconds: number | null;
};

export type AlertMetricList = { metrics: (AlertMetricDescription)[] };

export type AlertOperator = ">" | "<" | ">=" | "<=" | "==";

export type AlertRule = {
  name: string;
  metric: AlertMetric;
  operator: AlertOperator;
  threshold: number;
  durationSeconds: number;
  severity: "info" | "warning" | "critical";
  scope: AlertScope;
  pattern: string | null;
  path: string | null;
  windowSeconds: number | null;
  forMissingDataSeconds: number | null;
  id: string;
  autoIncident: boolean;
  enabled: boolean;
  createdAt: string;
  duration_seconds: number;
  created_at: string;
  condition: string;
  lastFiredAt: string | null;
  state: "ok" | "pending" | "firing" | "no_data";
  problem: string | null;
  inhibitedBy: "maintenance" | "silence" | null;
};

export type AlertRuleChanges = {
  name?: string;
  metric?: AlertMetric;
  operator?: AlertOperator;
  threshold?: number;
  durationSeconds?: number;
  severity?: "info" | "warning" | "critical";
  scope?: AlertScope;
  pattern?: string | null;
  path?: string | null;
  windowSeconds?: number | null;
  forMissingDataSeconds?: number | null;
  duration_seconds?: number;
  autoIncident?: boolean;
  enabled?: boolean;
};

export type AlertRuleList = { rules: (AlertRule)[] };

export type AlertRuleTest = {
  wouldFire: boolean;
  value: number | null;
  valueText: string | null;
  since: string | null;
  firesAt: string | null;
  firings24h: number | null;
  containers: (string)[];
  problem: string | null;
};

export type AlertScope = { target: AlertTarget };

export type AlertTarget = { kind: "host" } | {
  kind: "containers";
  containers?: (string)[];
  stacks?: (string)[];
  labels?: Record<string, string>;
} | { kind: "stacks"; stacks?: (string)[] };

export type AlertTemplate = {
  id: string;
  description: string;
  condition: string;
  rule: AlertTemplateRule;
};

export type AlertTemplateList = { templates: (AlertTemplate)[] };

export type AlertTemplateRule = {
  name: string;
  metric: AlertMetric;
  operator: AlertOperator;
  threshold: number;
  durationSeconds: number;
  severity?: "info" | "warning" | "critical";
  scope?: AlertScope;
  pattern?: string | null;
  path?: string | null;
  windowSeconds?: number | null;
  forMissingDataSeconds?: number | null;
  autoIncident: boolean;
};

export type ApiKeyLogin = { apiKey: string };

export type ApiToken = {
  id: string;
  name: string;
  role: UserRole;
  permissions:
    | (
      | "containers:read"
      | "containers:start"
      | "containers:stop"
      | "containers:restart"
      | "containers:pause"
      | "containers:update"
      | "containers:write"
      | "containers:delete"
      | "containers:rebuild"
      | "containers:exec"
      | "containers:logs"
      | "stacks:read"
      | "stacks:start"
      | "stacks:stop"
      | "stacks:restart"
      | "stacks:update"
      | "stacks:write"
      | "stack_sources:read"
      | "git:read"
      | "git:write"
      | "images:read"
      | "images:write"
      | "images:export"
      | "images:delete"
      | "images:prune"
      | "volumes:read"
      | "volumes:write"
      | "volumes:delete"
      | "volumes:prune"
      | "networks:read"
      | "networks:write"
      | "swarm:read"
      | "swarm:write"
      | "swarm_secrets:read"
      | "swarm_secrets:write"
      | "system:read"
      | "system:prune"
      | "alerts:read"
      | "alerts:write"
      | "registries:read"
      | "registries:write"
      | "webhooks:read"
      | "webhooks:write"
      | "notifications:read"
      | "notifications:write"
      | "schedules:read"
      | "schedules:write"
      | "integrations:read"
      | "integrations:write"
      | "backup:read"
      | "backup:run"
      | "backup:write"
      | "files:read"
      | "files:write"
      | "incidents:read"
      | "incidents:write"
      | "remediation:read"
      | "remediation:write"
      | "status_pages:read"
      | "status_pages:write"
      | "uptime:read"
      | "uptime:write"
      | "chatops:read"
      | "chatops:write"
      | "sla:read"
      | "sla:write"
      | "fleet:read"
      | "fleet:write"
      | "users:read"
      | "users:write"
      | "settings:read"
      | "settings:write"
      | "compliance:read"
      | "compliance:write"
      | "sso:read"
      | "sso:write"
      | "custom_roles:read"
      | "custom_roles:write"
      | "ip_allowlist:read"
      | "ip_allowlist:write"
      | "mtls:read"
      | "mtls:write"
      | "encryption:read"
      | "encryption:write"
    )[]
    | null;
  stacks: (string)[] | null;
  containers: (string)[] | null;
  hosts: (string)[] | null;
  hostLabels: (string)[] | null;
  userId: string;
  createdAt: string;
  rotatedAt: string | null;
  expiresAt: string | null;
  lastUsedAt: string | null;
  lastUsedAddress: string | null;
  isSuspended: boolean;
};

export type ApiTokenList = { tokens: (ApiToken)[] };

export type AuditEntry = {
  id: string;
  at: string;
  actor: string;
  actorEmail: string | null;
  token: { id: string; name: string } | null;
  hub: { id: string; name: string; user: string } | null;
  role: string;
  action: string;
  target: string;
  targets: (string)[];
  command: string | null;
  outcome: "success" | "failure" | "denied";
  ip: string;
};

export type AuditPage = { entries: (AuditEntry)[]; total: number; limit: number; offset: number };

export type BackupDiff = {
  changes: ({ path: string; change: "added" | "removed" | "content" | "metadata" })[];
  truncated: boolean;
};

export type BackupDrill = {
  id: string;
  stack: string;
  snapshot: string;
  target: string;
  ok: boolean;
  reason: string;
  durationMs: number;
  at: string;
};

export type BackupDrillList = { drills: (BackupDrill)[] };

export type BackupDrillRequest = {
  stack: string;
  snapshot?: string;
  target?: string;
  stableSeconds?: number;
};

export type BackupEstimate = {
  size: number | null;
  added: number | null;
  seconds: number | null;
  room: number | null;
  sqlite: (string)[] | null;
  mode: "stop" | "pause" | "hooks" | "live";
  leftOut: (string)[];
};

export type BackupFileList = {
  files: ({
    name: string;
    path: string;
    type: "file" | "dir" | "symlink" | "fifo" | "socket" | "dev" | "chardev";
    size: number;
    mode: string;
    uid: number;
    gid: number;
    modifiedAt: string;
    linkTarget: string | null;
  })[];
  truncated: boolean;
};

export type BackupKeepRules = {
  last?: number;
  hourly?: number;
  daily?: number;
  weekly?: number;
  monthly?: number;
  yearly?: number;
  within?: { years?: number; months?: number; days?: number; hours?: number };
};

export type BackupModeSetting = { mode: "stop" | "pause" | "hooks" | "live" | null };

export type BackupRequest = {
  stack?: string;
  volumes?: (string)[];
  target?: string;
  mode?: "stop" | "pause" | "hooks" | "live";
  note?: string;
  withImages?: boolean;
  keepStopped?: boolean;
  includeSharedUsers?: boolean;
};

export type BackupRestoreRequest = {
  target?: string;
  what: "volume" | "file" | "stack";
  paths?: (string)[];
  to?: "new" | "replace";
  stableSeconds?: number;
  as?: string;
};

export type BackupSendRequest = {
  host: string;
  from?: string;
  target?: string;
  hostTarget?: string;
  restore?: boolean;
  as?: string;
};

export type BackupSnapshot = {
  id: string;
  time: string;
  hostname: string;
  isOwn: boolean;
  stack: string | null;
  lastBackupOf: (string)[];
  hasStack: boolean;
  volumes: (string)[];
  directories: (string)[];
  hasLongshore: boolean;
  reason: string | null;
  note: string | null;
  tags: (string)[];
  target: string;
  size: number | null;
};

export type BackupSnapshotList = {
  snapshots: (BackupSnapshot)[];
  total: number;
  targets: ({ name: string; default: boolean; error: string | null })[];
};

export type BackupStackRestorePlan = {
  stack: string;
  services: ({ name: string; action: "create" | "recreate" | "start" | "remove" | "none" })[];
  volumes: ({ name: string; action: "create" | "replace" })[];
  directories: ({ path: string; action: "create" | "replace" })[];
  networks: (string)[];
  images: ({ name: string; from: "host" | "snapshot" | "registry" })[];
  directory: string | null;
  isGenerated: boolean;
  stops: (string)[];
  room: { needed: number | null; free: number | null };
  warnings: (string)[];
};

export type BackupTarget = {
  id: string;
  name: string;
  location: string;
  kind: "directory" | "s3" | "rest";
  password: string;
  accessKeyId: string | null;
  secretAccessKey: string | null;
  region: string | null;
  username: string | null;
  userPassword: string | null;
  caCertificate: string | null;
  default: boolean;
  room: number | null;
  lastTestAt: string | null;
  lastTestError: string | null;
  lastCheckAt: string | null;
  lastCheckError: string | null;
  createdAt: string;
  updatedAt: string;
};

export type BackupTargetChanges = {
  name?: string;
  location?: string;
  password?: string | null;
  accessKeyId?: string | null;
  secretAccessKey?: string | null;
  region?: string | null;
  username?: string | null;
  userPassword?: string | null;
  caCertificate?: string | null;
  default?: boolean;
};

export type BackupTargetCheck = { readDataSubset?: string };

export type BackupTargetList = { targets: (BackupTarget)[] };

export type BackupTargetPrune = { maxUnusedPercent?: number; dryRun?: boolean };

export type BackupTargetTest = { ok: boolean; error: string | null; durationMs: number };

export type BackupTargetUnlock = { all?: boolean };

export type BlockedUpdate = {
  id: string;
  containerName: string;
  digest: string;
  image: string;
  reason: string;
  jobId: string;
  createdAt: string;
};

export type BlockedUpdateList = { blocked: (BlockedUpdate)[] };

export type Brand = {
  id: string;
  name: string;
  app_name: string;
  logo_url: string | null;
  logo_dark_url: string | null;
  email_logo_url: string | null;
  primary_color: string | null;
  secondary_color: string | null;
  accent_color: string | null;
  font_family: string | null;
  custom_css: string | null;
  is_active: boolean;
  created_at: string;
  updated_at: string;
};

export type BrandChanges = {
  name?: string;
  app_name?: string;
  logo_url?: string | null;
  logo_dark_url?: string | null;
  email_logo_url?: string | null;
  primary_color?: string | null;
  secondary_color?: string | null;
  accent_color?: string | null;
  font_family?: string | null;
  custom_css?: string | null;
};

export type BrandList = {
  brands: ({
    id: string;
    name: string;
    app_name: string;
    logo_url: string | null;
    logo_dark_url: string | null;
    email_logo_url: string | null;
    primary_color: string | null;
    secondary_color: string | null;
    accent_color: string | null;
    font_family: string | null;
    is_active: boolean;
    created_at: string;
    updated_at: string;
  })[];
};

export type BrowserSession = {
  accessToken: string;
  expiresIn: number;
  role: UserRole;
  serverName: string;
  permissions: (string)[];
  isLimitedToHosts: boolean;
};

export type BulkAction = { ids: (string)[]; action: "start" | "stop" | "restart" };

export type BulkActionResult = {
  results: ({ id: string; ok: boolean; state: ContainerState | null; error: string | null })[];
  succeeded: number;
  failed: number;
};

export type CertificateAuthority = {
  id: string;
  name: string;
  certificate: string;
  fingerprint: string;
  subject: string;
  issuer: string;
  serial: string;
  not_before: string;
  not_after: string;
  created_at: string;
};

export type CertificateAuthorityPage = {
  cas: (CertificateAuthority)[];
  total: number;
  limit: number;
  offset: number;
};

export type CertificateCheck = {
  domain: string;
  port: number;
  valid: boolean;
  daysRemaining: number | null;
  issuer: string | null;
  subject: string | null;
  altNames: (string)[];
  validFrom: string | null;
  expiresAt: string | null;
  fingerprint: string | null;
  error: string | null;
};

export type CertificateCheckList = { certificates: (CertificateCheck)[] };

export type CertificateVerdict = { verified: true; agent_id: string; hostname: string } | {
  verified: false;
  reason: string;
};

export type CertificateVerification = { fingerprint?: string; certificate?: string; ip?: string };

export type ChainVerification = {
  verified: boolean;
  entries_checked: number;
  broken_at_id: string | null;
  reason: string | null;
  head_hash: string | null;
};

export type ChainVerificationOptions = { from?: string; limit?: number };

export type ChannelKind = {
  id:
    | "email"
    | "ntfy"
    | "gotify"
    | "discord"
    | "slack"
    | "teams"
    | "telegram"
    | "matrix"
    | "mattermost"
    | "rocketchat"
    | "googlechat"
    | "pushover"
    | "pagerduty"
    | "opsgenie"
    | "signal"
    | "apprise"
    | "homeassistant"
    | "webhook";
  title: string;
  description: string;
  schemes: (string)[];
  urlForm: string;
  fields: (ChannelKindField)[];
};

export type ChannelKindField = {
  name: string;
  label: string;
  type: "text" | "address" | "mailServer" | "number" | "list" | "headers" | "template";
  isSecret: boolean;
  isRequired: boolean;
  hint: string | null;
  placeholder: string | null;
  options: (string)[] | null;
};

export type ChannelKindList = { kinds: (ChannelKind)[] };

export type ChatChannel = {
  id: string;
  platform: "messenger" | "team-chat";
  name: string;
  config: Record<string, string>;
  events: (string)[];
  enabled: boolean;
  created_at: string;
  updated_at: string;
};

export type ChatChannelChanges = {
  platform?: ChatPlatform;
  name?: string;
  config?: ChatChannelConfig;
  events?: (
    | "*"
    | "alert.fired"
    | "alert.resolved"
    | "alert.no_data"
    | "container.down"
    | "container.up"
    | "container.unhealthy"
    | "container.healthy"
    | "container.removed"
    | "container.oom"
    | "container.crash_looping"
    | "container.stable"
    | "engine.down"
    | "engine.up"
    | "engine.unreadable"
    | "engine.readable"
    | "host.disk_full_soon"
    | "host.joined"
    | "host.away"
    | "host.back"
    | "fleet.run_ended"
    | "host.duplicate"
    | "update.blocked"
    | "update.block_lifted"
    | "deploy.succeeded"
    | "deploy.rolled_back"
    | "deploy.failed"
    | "deploy.needs_attention"
    | "stack.down_failed"
    | "git.planned"
    | "git.fetch_failed"
    | "git.commit_refused"
    | "service.degraded"
    | "service.recovered"
    | "service.update_rolled_back"
    | "node.down"
    | "node.up"
    | "image.update_available"
    | "update.started"
    | "update.succeeded"
    | "update.rolled_back"
    | "update.failed"
    | "update.needs_attention"
    | "backup.succeeded"
    | "backup.failed"
    | "backup.overdue"
    | "drill.failed"
    | "schedule.failed"
    | "certificate.expiring"
    | "monitor.down"
    | "monitor.up"
    | "sla.breached"
    | "incident.created"
    | "incident.updated"
    | "incident.resolved"
    | "status_page.updated"
    | "remediation.executed"
    | "remediation.disabled"
    | "account.new_sign_in"
    | "account.factor_changed"
    | "account.access_changed"
    | "test"
  )[];
  enabled?: boolean;
};

export type ChatChannelConfig = {
  bot_token?: string | null;
  chat_id?: number | string | null;
  webhook_url?: string | null;
  api_url?: string | null;
};

export type ChatChannelDetail = {
  id: string;
  platform: "messenger" | "team-chat";
  name: string;
  config: Record<string, string>;
  events: (string)[];
  enabled: boolean;
  created_at: string;
  updated_at: string;
  messages: (ChatMessage)[];
};

export type ChatChannelList = { channels: (ChatChannel)[] };

export type ChatDispatch = { event_type: string; payload?: Record<string, unknown> };

export type ChatDispatchResult = { ok: true; dispatched: number; message_ids: (string)[] };

export type ChatMessage = {
  id: string;
  channel_id: string;
  event_type: string;
  text: string;
  status: "queued" | "sent" | "failed";
  error: string | null;
  attempts: number;
  created_at: string;
  sent_at: string | null;
};

export type ChatMessagePage = {
  messages: (ChatMessage)[];
  total: number;
  limit: number;
  offset: number;
};

export type ChatPlatform = "messenger" | "telegram" | "team-chat" | "slack";

export type ChatTest = { ok: true; message_id: string };

export type CodeLogin = { code: string };

export type CompletedSignIn = TokenPair | BrowserSession;

export type ComplianceConfig = {
  enabled: boolean;
  retention_days: number;
  hash_algorithm: "sha256";
  log_api_reads: boolean;
  export_format: "json" | "csv";
};

export type ComplianceConfigChanges = {
  enabled?: boolean;
  retention_days?: number;
  hash_algorithm?: "sha256";
  log_api_reads?: boolean;
  export_format?: "json" | "csv";
};

export type ComplianceDeletion = {
  deleted: number;
  retention_days: number;
  chain_anchor_recorded: boolean;
};

export type ComplianceEntry = {
  id: string;
  event_id: string;
  category: string;
  severity: string;
  actor_id: string;
  actor_type: string;
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  detail: string | null;
  outcome: string;
  metadata: Record<string, unknown> | null;
  recorded_by: string | null;
  previous_hash: string;
  entry_hash: string;
  created_at: string;
};

export type ComplianceEntryDetail = {
  id: string;
  event_id: string;
  category: string;
  severity: string;
  actor_id: string;
  actor_type: string;
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  detail: string | null;
  outcome: string;
  metadata: Record<string, unknown> | null;
  recorded_by: string | null;
  previous_hash: string;
  entry_hash: string;
  created_at: string;
  chain_valid: boolean;
};

export type ComplianceEntryPage = {
  logs: (ComplianceEntry)[];
  total: number;
  limit: number;
  offset: number;
};

export type ComplianceExport = {
  head_hash: string | null;
  from: string | null;
  to: string | null;
  exported: number;
  logs: (ComplianceEntry)[];
};

export type ComplianceStats = {
  total_entries: number;
  last_24h: number;
  oldest_entry: string | null;
  newest_entry: string | null;
  by_category: Record<string, number>;
  by_severity: Record<string, number>;
  by_outcome: Record<string, number>;
  head_hash: string | null;
};

export type ComposeIssue = {
  path: string;
  file: string | null;
  line: number;
  column: number;
  message: string;
};

export type ComposeKeys = {
  keys: Record<string, (string)[]>;
  values: Record<string, (string)[]>;
  roots: (string)[];
};

export type Container = {
  id: string;
  name: string;
  image: string;
  imageId: string;
  state: ContainerState;
  status: string;
  health: "starting" | "healthy" | "unhealthy" | null;
  createdAt: string | null;
  startedAt: string | null;
  exitCode: number | null;
  restartCount: number;
  ports: ({ ip: string | null; privatePort: number; publicPort: number | null; type: string })[];
  labels: Record<string, string>;
  composeProject: string | null;
  composeService: string | null;
  networks: (string)[];
  links: ({
    url: string;
    source:
      | "longshore.url"
      | "traefik"
      | "VIRTUAL_HOST"
      | "caddy"
      | "homepage.href"
      | "dockhand.url"
      | "port";
    certificateExpiresAt: string | null;
  })[];
  icon: string | null;
  group: string | null;
  description: string | null;
  cpuPercent: number | null;
  memory: number | null;
  networkRxPerSecond: number | null;
  networkTxPerSecond: number | null;
  blockReadPerSecond: number | null;
  blockWritePerSecond: number | null;
  cpuLimit: number | null;
  memoryLimit: number | null;
  crashLooping: boolean;
  self: boolean;
  warning: string | null;
};

export type ContainerActionResult = {
  ok: true;
  id: string;
  name: string;
  state: ContainerState;
  changed: boolean;
};

export type ContainerDeletion = { ok: true; id: string; name: string };

export type ContainerDetail = {
  id: string;
  name: string;
  image: string;
  imageId: string;
  state: ContainerState;
  status: string;
  health: "starting" | "healthy" | "unhealthy" | null;
  createdAt: string | null;
  startedAt: string | null;
  exitCode: number | null;
  restartCount: number;
  ports: ({ ip: string | null; privatePort: number; publicPort: number | null; type: string })[];
  labels: Record<string, string>;
  composeProject: string | null;
  composeService: string | null;
  networks: (string)[];
  links: ({
    url: string;
    source:
      | "longshore.url"
      | "traefik"
      | "VIRTUAL_HOST"
      | "caddy"
      | "homepage.href"
      | "dockhand.url"
      | "port";
    certificateExpiresAt: string | null;
  })[];
  icon: string | null;
  group: string | null;
  description: string | null;
  cpuPercent: number | null;
  memory: number | null;
  networkRxPerSecond: number | null;
  networkTxPerSecond: number | null;
  blockReadPerSecond: number | null;
  blockWritePerSecond: number | null;
  cpuLimit: number | null;
  memoryLimit: number | null;
  crashLooping: boolean;
  self: boolean;
  warning: string | null;
  command: (string)[];
  entrypoint: (string)[];
  workingDir: string;
  user: string;
  env: ({ name: string; value: string })[];
  mounts: ({
    type: string;
    name: string | null;
    source: string;
    destination: string;
    readOnly: boolean;
  })[];
  networkSettings: ({
    name: string;
    networkId: string;
    ipv4: string;
    ipv6: string;
    gateway: string;
    mac: string;
    aliases: (string)[];
  })[];
  restartPolicy: { name: string; maximumRetryCount: number };
  limits: {
    memoryBytes: number | null;
    memorySwapBytes: number | null;
    cpus: number | null;
    pids: number | null;
  };
  finishedAt: string | null;
  oomKilled: boolean;
  error: string;
  healthLog:
    ({ startedAt: string | null; endedAt: string | null; exitCode: number; output: string })[];
  stats: ContainerStats | null;
  previousImage: { reference: string; replacedAt: string; hasData: boolean } | null;
};

export type ContainerInspection = { Id: string; Name: string };

export type ContainerLimits = {
  cpus?: number;
  memoryBytes?: number;
  memorySwapBytes?: -1 | number;
  pidsLimit?: -1 | number;
  restartPolicy?: {
    name: "no" | "always" | "unless-stopped" | "on-failure";
    maximumRetryCount?: number;
  };
};

export type ContainerList = { containers: (Container)[] };

export type ContainerLogs = { lines: (string)[] };

export type ContainerMetricsHistory = {
  name: string;
  from: string;
  to: string;
  hours: number;
  resolutionSeconds: number;
  history: (ContainerMetricsPoint)[];
  summary: {
    cpuPercent: MetricsRange;
    memory: MetricsRange;
    networkRxPerSecond: MetricsRange;
    networkTxPerSecond: MetricsRange;
    blockReadPerSecond: MetricsRange;
    blockWritePerSecond: MetricsRange;
  };
};

export type ContainerMetricsPoint = {
  timestamp: string;
  cpuPercent: number;
  memory: number;
  networkRxPerSecond: number | null;
  networkTxPerSecond: number | null;
  blockReadPerSecond: number | null;
  blockWritePerSecond: number | null;
};

export type ContainerRollback = {
  stableSeconds?: number;
  verifyTimeoutSeconds?: number;
  logPatternMustNotAppear?: string;
  monitors?: (string)[];
  data?: boolean;
};

export type ContainerState =
  | "created"
  | "running"
  | "paused"
  | "restarting"
  | "removing"
  | "exited"
  | "dead";

export type ContainerStats = {
  cpuPercent: number;
  memoryUsage: number;
  memoryLimit: number;
  memoryPercent: number;
  networkRx: number;
  networkTx: number;
  blockRead: number;
  blockWrite: number;
  pids: number;
  read: string;
};

export type ContainerUpdate = {
  stableSeconds?: number;
  verifyTimeoutSeconds?: number;
  logPatternMustNotAppear?: string;
  monitors?: (string)[];
  image?: string;
  pull?: "always" | "missing" | "never";
  digest?: string;
  data?: "keep" | "undo";
  force?: boolean;
  rehearse?: boolean;
  rehearseOnly?: boolean;
};

export type ContainerUpdatePlan = {
  container: string;
  id: string;
  image: string;
  currentImageId: string;
  newImageId: string | null;
  newDigest: string | null;
  recreated: (string)[];
  watched: (string)[];
  replaced: ({ setting: string; names: (string)[] })[] | null;
  rehearsal: {
    containers: (string)[];
    copied: (string)[];
    leftOut: (string)[];
    obstacle: string | null;
  } | null;
  warnings: (string)[];
  obstacles: ({ message: string; canForce: boolean })[];
  data: {
    choice: "keep" | "undo";
    target: string | null;
    volumes: ({ name: string; size: number | null })[];
    keptDays: number;
  };
  verification: { method: "health" | "stability"; holdSeconds: number; deadlineSeconds: number };
};

export type ConvertedCommand = { compose: string; warnings: (string)[] };

export type CreatedFleetInvite = {
  id: string;
  name: string | null;
  pattern: string | null;
  labels: Record<string, string>;
  address: string;
  usesMax: number;
  uses: number;
  acceptsAtOnce: boolean;
  createdBy: string;
  createdAt: string;
  expiresAt: string;
  token: string;
  command: string;
  installCommand: string;
};

export type CreatedStack = {
  name: string;
  kind: "compose" | "swarm";
  version: number;
  updatedBy: string;
  updatedAt: string;
  job: Job | null;
};

export type CreatedSubscriber = {
  id: string;
  email?: string;
  webhook_url?: string;
  status: "pending" | "verified";
  created_at: string;
  verify_token: string;
  secret?: string;
};

export type CreatedWebhook = {
  id: string;
  name: string;
  url: string;
  events: (string)[];
  headers: Record<string, string>;
  enabled: boolean;
  createdAt: string;
  lastDelivery: { at: string; status: number | null; error: string | null } | null;
  secret: string;
};

export type Credentials = PasswordLogin | ApiKeyLogin | CodeLogin | LinkLogin;

export type CurrentSlaPeriod = { period: SlaPeriod; burn_rate: number };

export type CurrentUser = {
  id: string;
  email: string | null;
  role: UserRole;
  createdAt: string | null;
  lastLoginAt: string | null;
};

export type DiskUsage = {
  containers: DiskUsagePart;
  images: DiskUsagePart;
  volumes: DiskUsagePart;
  buildCache: DiskUsagePart;
  totalSize: number;
  computedAt: string;
};

export type DiskUsagePart = { count: number; size: number };

export type Done = { ok: true };

export type Edition = {
  edition: "ce" | "pro" | "enterprise";
  expiresAt: string | null;
  graceUntil: string | null;
  customer: string | null;
  problem: string | null;
  protectedUntil: string | null;
  warning: string | null;
  trial: { startedAt: string; endsAt: string; active: boolean } | null;
  features: (string)[];
  limits: {
    webhooks: number | null;
    schedules: number | null;
    integrations: number | null;
    alert_rules: number | null;
    users: number | null;
    remediation_rules: number | null;
    status_pages: number | null;
    uptime_monitors: number | null;
  };
  usage: {
    webhooks?: number;
    schedules?: number;
    integrations?: number;
    alert_rules?: number;
    users?: number;
    remediation_rules?: number;
    status_pages?: number;
    uptime_monitors?: number;
  };
};

export type EditionChange = {
  edition: "ce" | "pro" | "enterprise";
  expiresAt: string | null;
  graceUntil: string | null;
  customer: string | null;
  problem: string | null;
  protectedUntil: string | null;
  warning: string | null;
  trial: { startedAt: string; endsAt: string; active: boolean } | null;
  features: (string)[];
  limits: {
    webhooks: number | null;
    schedules: number | null;
    integrations: number | null;
    alert_rules: number | null;
    users: number | null;
    remediation_rules: number | null;
    status_pages: number | null;
    uptime_monitors: number | null;
  };
  usage: {
    webhooks?: number;
    schedules?: number;
    integrations?: number;
    alert_rules?: number;
    users?: number;
    remediation_rules?: number;
    status_pages?: number;
    uptime_monitors?: number;
  };
  ok: true;
};

export type EditionLimit = {
  error: string;
  current: number;
  max: number;
  currentEdition: "ce" | "pro" | "enterprise";
  upgradeUrl: string;
};

export type EmailConfirmation = { email: string };

export type EnabledBody = { enabled: boolean };

export type EncryptionAuditDeletion = { deleted: number; retention_days: number };

export type EncryptionAuditEntry = {
  id: string;
  event_type: "config_updated" | "rotation_initiated" | "rotation_ended" | "audit_purged";
  detail: string;
  actor: string;
  ip: string;
  created_at: string;
};

export type EncryptionAuditPage = {
  entries: (EncryptionAuditEntry)[];
  total: number;
  limit: number;
  offset: number;
};

export type EncryptionConfig = {
  enabled: boolean;
  algorithm: "aes-256-cbc" | "aes-256-gcm";
  kdf_iterations: number;
  page_size: 512 | 1024 | 2048 | 4096 | 8192 | 16384 | 32768 | 65536;
};

export type EncryptionConfigChanges = {
  enabled?: boolean;
  algorithm?: "aes-256-cbc" | "aes-256-gcm";
  kdf_iterations?: number;
  page_size?: 512 | 1024 | 2048 | 4096 | 8192 | 16384 | 32768 | 65536;
};

export type EncryptionStatus = {
  enabled: boolean;
  sqlcipher_available: boolean;
  algorithm: "aes-256-cbc" | "aes-256-gcm";
  kdf_iterations: number;
  last_rotation: string | null;
  pending_rotations: number;
};

export type EndedFleetMembership = { hub: string; name: string; reason: string; endedAt: string };

export type EndpointCheck = {
  name: string;
  url: string;
  healthy: boolean;
  status: number | null;
  expectedStatus: number;
  responseTime: number | null;
  error: string | null;
  checkedAt: string;
};

export type EndpointCheckList = { endpoints: (EndpointCheck)[] };

export type Engine = { info: EngineInfo; diskUsage: DiskUsage | null };

export type EngineInfo = {
  name: string;
  version: string;
  apiVersion: string;
  os: string;
  kernel: string;
  architecture: string;
  cpus: number;
  memoryBytes: number;
  storageDriver: string;
  cgroupVersion: string | null;
  swarm: string;
  rootless: boolean;
  containers: number;
  images: number;
  warnings: (string)[];
};

export type EngineStatus = {
  reachable: boolean;
  version: string | null;
  apiVersion: string | null;
};

export type Error = {
  error: string;
  errors?: ({ path: string; message: string })[];
  code?: "mfa_enrolment_required";
  diff?: string;
  changes?: ({
    kind: string;
    name: string;
    action: string;
    reasons: ({ path: string; from: string | null; to: string | null; text: string })[];
  })[];
};

export type EstablishedBackupTarget = {
  id: string;
  name: string;
  location: string;
  kind: "directory" | "s3" | "rest";
  password: string;
  accessKeyId: string | null;
  secretAccessKey: string | null;
  region: string | null;
  username: string | null;
  userPassword: string | null;
  caCertificate: string | null;
  default: boolean;
  room: number | null;
  lastTestAt: string | null;
  lastTestError: string | null;
  lastCheckAt: string | null;
  lastCheckError: string | null;
  createdAt: string;
  updatedAt: string;
  newPassword: string | null;
};

export type EventKind = {
  id: string;
  group: string;
  words: string;
  description: string;
  tone: "problem" | "warning" | "good" | "news";
  severity: "info" | "warning" | "critical";
  phase: "begin" | "end" | "report";
  permission: string;
  isOnlyByName: boolean;
};

export type EventKindList = { kinds: (EventKind)[] };

export type ExecCommand = { command: string };

export type ExecResult = {
  stdout: string;
  stderr: string;
  output: string;
  exitCode: number | null;
  truncated: boolean;
  timedOut: boolean;
};

export type FileChangeList = {
  changes: ({ path: string; kind: "modified" | "added" | "deleted" })[];
  total: number;
  limit: number;
  offset: number;
};

export type FileList = {
  files: ({
    name: string;
    path: string;
    type: "file" | "dir" | "symlink" | "fifo" | "socket" | "dev" | "chardev";
    size: number;
    mode: string;
    uid: number;
    gid: number;
    modifiedAt: string;
  })[];
  truncated: boolean;
  runningContainers: (string)[];
};

export type FileRename = { path: string; to: string };

export type FirstAccount = { name?: string | null; email: string; password: string };

export type FleetAlert = {
  id: string;
  ruleName: string;
  severity: string;
  message: string;
  container: string | null;
  stack: string | null;
  firedAt: string;
  acknowledgedAt: string | null;
  host: string;
  asOf: string;
};

export type FleetAlertList = {
  alerts: (FleetAlert)[];
  total: number;
  limit: number;
  offset: number;
};

export type FleetBlockedImage = {
  id: string;
  digest: string;
  platform: string;
  image: string;
  host: string;
  container: string;
  reason: string;
  log: (string)[];
  at: string;
  affected: ({ hostId: string; host: string; container: string; canGoBack: boolean })[];
};

export type FleetBlockedImageList = { blocked: (FleetBlockedImage)[] };

export type FleetBox = {
  id: string;
  user: string;
  request: string;
  state: "running" | "succeeded" | "failed" | "refused";
  jobId: string | null;
  error: string | null;
  receivedAt: string;
  expiresAt: string;
};

export type FleetBoxList = { boxes: (FleetBox)[] };

export type FleetContainer = {
  id: string;
  name: string;
  image: string;
  state: string;
  health: string | null;
  stack: string | null;
  createdAt: string | null;
  startedAt: string | null;
  crashLooping: boolean;
  self: boolean;
  replaced: boolean;
  host: string;
  asOf: string;
};

export type FleetContainerList = {
  containers: (FleetContainer)[];
  total: number;
  limit: number;
  offset: number;
};

export type FleetHost = {
  id: string;
  name: string;
  labels: Record<string, string>;
  state: "pending" | "connected" | "late" | "away" | "never" | "left";
  since: string | null;
  machine: string;
  version: string;
  engine: string | null;
  allows: "read" | "operate" | "admin" | null;
  address: string;
  fingerprint: string;
  latencyMs: number | null;
  skewMs: number | null;
  joinedAt: string;
  lastSeenAt: string | null;
};

export type FleetHostChanges = { name?: string; labels?: Record<string, string> };

export type FleetHostList = { hosts: (FleetHost)[] };

export type FleetHostOverview = {
  containers: { total: number; running: number; unhealthy: number; restarting: number } | null;
  stacks: { total: number; degraded: number } | null;
  alerts: { total: number; critical: number } | null;
  updates: { total: number; available: number } | null;
  id: string;
  name: string;
  labels: Record<string, string>;
  state: "pending" | "connected" | "late" | "away" | "never" | "left";
  since: string | null;
  figures: {
    engine: string | null;
    cpuPercent: number;
    cpuCount: number;
    memoryPercent: number;
    diskPercent: number;
    allows: "read" | "operate" | "admin" | null;
  } | null;
  asOf: {
    host: string | null;
    containers: string | null;
    stacks: string | null;
    alerts: string | null;
    updates: string | null;
  };
  problem: string | null;
  attention: (string)[];
};

export type FleetInvite = {
  id: string;
  name: string | null;
  pattern: string | null;
  labels: Record<string, string>;
  address: string;
  usesMax: number;
  uses: number;
  acceptsAtOnce: boolean;
  createdBy: string;
  createdAt: string;
  expiresAt: string;
};

export type FleetInviteList = { invites: (FleetInvite)[] };

export type FleetMembership = {
  hub: string;
  hubFingerprint: string;
  address: string | null;
  dials: "host" | "hub";
  name: string;
  labels: Record<string, string>;
  fingerprint: string;
  isPending: boolean;
  state: "connected" | "late" | "away" | "never";
  since: string | null;
  reason: string | null;
  unknownSince: string | null;
  nextTryAt: string | null;
  allows: "read" | "operate" | "admin";
  runsPrograms: boolean;
  joinedAt: string;
};

export type FleetMembershipState = {
  membership: FleetMembership | null;
  waitsUntil: string | null;
  ended: EndedFleetMembership | null;
};

export type FleetMetricsTarget = { targets: (string)[]; labels: Record<string, string> };

export type FleetMetricsTargetList = (FleetMetricsTarget)[];

export type FleetOverview = {
  sums: {
    containers: { total: number; running: number; unhealthy: number; restarting: number } | null;
    stacks: { total: number; degraded: number } | null;
    alerts: { total: number; critical: number } | null;
    updates: { total: number; available: number } | null;
  };
  hosts: (FleetHostOverview)[];
};

export type FleetPending = {
  id: string;
  hostId: string;
  host: string;
  user: string;
  request: string;
  state: "pending" | "running" | "succeeded" | "failed" | "refused" | "expired";
  jobId: string | null;
  error: string | null;
  createdAt: string;
  expiresAt: string;
  exportedAt: string | null;
  endedAt: string | null;
};

export type FleetPendingList = { pending: (FleetPending)[] };

export type FleetRun = {
  action: "prune";
  hosts?: (string)[];
  labels?: (string)[];
  options?: {
    olderThanHours?: number;
    kinds?: ("containers" | "networks" | "volumes" | "images" | "buildCache")[];
    unusedImages?: boolean;
    includeVolumes?: boolean;
  };
} | {
  action: "update-check";
  hosts?: (string)[];
  labels?: (string)[];
  options?: Record<string, unknown>;
} | {
  action: "update";
  hosts?: (string)[];
  labels?: (string)[];
  options: { stack: string; pull?: "always" | "missing" };
} | { action: "deploy"; hosts?: (string)[]; labels?: (string)[]; options: { stack: string } };

export type FleetRunPlan = {
  hosts: ({
    id: string;
    name: string;
    state: "pending" | "connected" | "late" | "away" | "never" | "left";
    obstacle: string | null;
  })[];
};

export type FleetStack = {
  id: string;
  name: string;
  kind: "compose" | "swarm";
  status: string;
  services: number;
  containerCount: number;
  running: number;
  unhealthy: number;
  host: string;
  asOf: string;
};

export type FleetStackList = {
  stacks: (FleetStack)[];
  total: number;
  limit: number;
  offset: number;
};

export type FleetUpdate = {
  id: string;
  image: string;
  status: string;
  tag: string | null;
  newestTag: string | null;
  checkedAt: string | null;
  containers: ({ name: string; stack: string | null })[];
  host: string;
  asOf: string;
};

export type FleetUpdateList = {
  updates: (FleetUpdate)[];
  total: number;
  limit: number;
  offset: number;
};

export type FleetWaveChanges = { waves?: (string)[]; hosts?: number; soakHours?: number };

export type FleetWaves = {
  waves: (string)[];
  hosts: number;
  soakHours: number;
  images: ({
    digest: string;
    platform: string;
    image: string;
    since: string;
    isBlocked: boolean;
    progress: ({ wave: number; users: number; proofs: number; required: number })[];
  })[];
};

export type GeneratedStack = {
  name: string | null;
  compose: string;
  variables: (string)[];
  warnings: (string)[];
};

export type GitCommit = {
  id: string;
  author: string;
  message: string;
  committedAt: string;
  signer: string | null;
};

export type GitRepository = {
  id: string;
  name: string;
  url: string;
  branch: string | null;
  tag: string | null;
  commit: string | null;
  auth: "none" | "token" | "basic";
  username: string | null;
  secret: string | null;
  ageIdentity: string | null;
  status: { kind: "github" | "gitlab" | "gitea"; apiUrl: string; token: string } | null;
  caCertificate: string | null;
  pollMinutes: number;
  signatures: "off" | "required";
  signatureScope: "range" | "head";
  allowedSigners: string;
  mapping: ({
    path: string;
    name: string;
    deploy: "manual" | "plan" | "auto";
    profiles: (string)[] | null;
    directory: string | null;
    hosts: Record<string, string>;
    env: Record<string, string>;
  })[];
  head: GitCommit | null;
  refused: {
    id: string;
    author: string;
    message: string;
    committedAt: string;
    signer: string | null;
    reason: string;
  } | null;
  problems: (string)[];
  checkedAt: string | null;
  fetchedAt: string | null;
  error: string | null;
  webhookPath: string;
  stacks: ({
    name: string;
    path: string;
    state:
      | "waiting"
      | "refused"
      | "orphaned"
      | "drift"
      | "rewritten"
      | "failed"
      | "behind"
      | "current";
  })[];
  retryAt: string | null;
  createdAt: string;
  updatedAt: string;
};

export type GitRepositoryChanges = {
  name?: string;
  url?: string;
  branch?: string | null;
  tag?: string | null;
  commit?: string | null;
  auth?: "none" | "token" | "basic";
  username?: string | null;
  secret?: string | null;
  ageIdentity?: string | null;
  status?: { kind: "github" | "gitlab" | "gitea"; apiUrl: string; token: string } | null;
  caCertificate?: string | null;
  pollMinutes?: number;
  signatures?: "off" | "required";
  signatureScope?: "range" | "head";
  allowedSigners?: string;
  mapping?: ({
    path: string;
    name: string;
    deploy?: "manual" | "plan" | "auto";
    profiles?: (string)[] | null;
    directory?: string | null;
    hosts?: Record<string, string>;
    env?: Record<string, string>;
  })[];
  renewWebhookSecret?: boolean;
};

export type GitRepositoryList = { repositories: (GitRepository)[]; labels: Record<string, string> };

export type GitRepositoryTest = {
  ok: boolean;
  error: string | null;
  commit: string | null;
  durationMs: number;
};

export type GitRepositoryWithSecret = {
  id: string;
  name: string;
  url: string;
  branch: string | null;
  tag: string | null;
  commit: string | null;
  auth: "none" | "token" | "basic";
  username: string | null;
  secret: string | null;
  ageIdentity: string | null;
  status: { kind: "github" | "gitlab" | "gitea"; apiUrl: string; token: string } | null;
  caCertificate: string | null;
  pollMinutes: number;
  signatures: "off" | "required";
  signatureScope: "range" | "head";
  allowedSigners: string;
  mapping: ({
    path: string;
    name: string;
    deploy: "manual" | "plan" | "auto";
    profiles: (string)[] | null;
    directory: string | null;
    hosts: Record<string, string>;
    env: Record<string, string>;
  })[];
  head: GitCommit | null;
  refused: {
    id: string;
    author: string;
    message: string;
    committedAt: string;
    signer: string | null;
    reason: string;
  } | null;
  problems: (string)[];
  checkedAt: string | null;
  fetchedAt: string | null;
  error: string | null;
  webhookPath: string;
  stacks: ({
    name: string;
    path: string;
    state:
      | "waiting"
      | "refused"
      | "orphaned"
      | "drift"
      | "rewritten"
      | "failed"
      | "behind"
      | "current";
  })[];
  retryAt: string | null;
  createdAt: string;
  updatedAt: string;
  webhookSecret: string | null;
};

export type GroupRole = { value: string; role: string };

export type Health = {
  status: "ok" | "degraded";
  version?: string;
  startedAt?: string;
  uptimeSeconds?: number;
  engine?: EngineStatus;
  eventStream?: {
    status: "ok" | "failing";
    breaks: number;
    lastError: string | null;
    lastErrorAt: string | null;
  };
  inventory?: { status: "ok" | "failing"; lastError: string | null; lastErrorAt: string | null };
  ownContainer?: "none" | "known" | "unknown";
  databases?: { state: "ok" | "failed"; metrics: "ok" | "failed" };
  workers?: ({
    name: string;
    status: "ok" | "failing";
    lastRoundAt: string | null;
    lastError: string | null;
    lastErrorAt: string | null;
  })[];
  outboxDepth?: number | null;
  license?: {
    edition: "ce" | "pro" | "enterprise";
    expiresAt: string | null;
    graceUntil: string | null;
    problem: string | null;
    protectedUntil: string | null;
    warning: string | null;
  };
};

export type HostAnswer = unknown;

export type HostMetrics = {
  cpuPercent: number;
  cpuCount: number;
  memory: { total: number; used: number; percent: number; available: number };
  disk: { total: number; used: number; percent: number; path: string; free: number };
  load: [number, number, number];
  uptimeSeconds: number;
  swap: { total: number; used: number; percent: number; free: number };
  network?: ({ name: string; rxBytes: number; txBytes: number })[];
  timestamp: string;
};

export type HostRequest = unknown;

export type HostSummary = {
  cpuPercent: number;
  cpuCount: number;
  memory: { total: number; used: number; percent: number; available: number };
  disk: { total: number; used: number; percent: number; path: string; free: number };
  load: [number, number, number];
  uptimeSeconds: number;
};

export type Icon = { id: string; url: string };

export type IconList = { icons: (Icon)[] };

export type Identity = {
  id: string;
  kind: "oidc" | "saml";
  provider: string | null;
  issuer: string;
  subject: string | null;
  linkedAt: string;
  setsRole: boolean;
  isOnlyWayIn: boolean;
};

export type IdentityList = { identities: (Identity)[] };

export type IdentityProvider = {
  id: string;
  name: string;
  entity_id: string;
  sso_url: string;
  slo_url: string | null;
  certificate: string;
  binding: "HTTP-POST" | "HTTP-Redirect";
  name_id_format: string | null;
  attribute_mapping: { email?: string; name?: string };
  auto_provision: boolean;
  default_role: "viewer" | "operator" | "admin";
  allow_unsolicited: boolean;
  link_existing: boolean;
  enabled: boolean;
  sp_entity_id: string;
  acs_url: string;
  created_at: string;
  updated_at: string;
};

export type IdentityProviderChanges = {
  name?: string;
  entity_id?: string;
  sso_url?: string;
  slo_url?: string | null;
  certificate?: string;
  binding?: "HTTP-POST" | "HTTP-Redirect";
  name_id_format?: string | null;
  attribute_mapping?: { email?: string; name?: string };
  auto_provision?: boolean;
  default_role?: "viewer" | "operator" | "admin";
  allow_unsolicited?: boolean;
  link_existing?: boolean;
  enabled?: boolean;
};

export type IdentityProviderList = { providers: (IdentityProvider)[] };

export type IdentityRemoval = { password?: string; recoveryCode?: string; code?: string };

export type Image = {
  id: string;
  repoTags: (string)[];
  repoDigests: (string)[];
  size: number;
  createdAt: string | null;
  created: string | null;
  containers: number;
  dangling: boolean;
  warning: string | null;
};

export type ImageDeletion = { ok: true; deleted: (string)[]; untagged: (string)[] };

export type ImageDetail = {
  id: string;
  repoTags: (string)[];
  repoDigests: (string)[];
  size: number;
  createdAt: string | null;
  created: string | null;
  containers: number;
  dangling: boolean;
  warning: string | null;
  architecture: string;
  os: string;
  variant: string | null;
  config: {
    entrypoint: (string)[];
    command: (string)[];
    workingDir: string;
    user: string;
    env: ({ name: string; value: string })[];
    exposedPorts: (string)[];
    volumes: (string)[];
    labels: Record<string, string>;
  };
  history: ({
    createdAt: string | null;
    createdBy: string;
    size: number;
    comment: string;
    tags: (string)[];
  })[];
  usedBy: ({ id: string; name: string; state: ContainerState })[];
};

export type ImageList = { images: (Image)[] };

export type ImagePruneResult = {
  spaceReclaimed: number;
  SpaceReclaimed: number;
  deleted: (string)[];
  untagged: (string)[];
};

export type ImagePull = { image: string; platform?: string };

export type ImageTag = { image: string };

export type ImageUpdate = {
  image: string;
  registry: string | null;
  repository: string | null;
  tag: string | null;
  digest: string | null;
  latestDigest: string | null;
  status: "up_to_date" | "update_available" | "pulled" | "pinned" | "local" | "unknown";
  reason: string | null;
  firstSeenAt: string | null;
  newerVersions: ({ tag: string; level: "patch" | "minor" | "major" })[];
  rateLimitRemaining: number | null;
  containers: ({
    id: string;
    name: string;
    stack: string | null;
    policy: "off" | "notify" | "auto";
    blocked: boolean;
    problems: (string)[];
  })[];
  services: ({ name: string; stack: string | null; digest: string; isOutdated: boolean })[];
  checkedAt: string | null;
  lastGoodAt: string | null;
  nextCheckAt: string | null;
};

export type ImageUpdateList = { updates: (ImageUpdate)[] };

export type Incident = {
  title: string;
  severity: IncidentSeverity;
  description: string | null;
  commander: string | null;
  id: string;
  status: IncidentStatus;
  source: "manual" | "monitor" | "alert";
  source_id: string | null;
  created_by: string;
  created_at: string;
  updated_at: string;
  resolved_at: string | null;
};

export type IncidentChanges = {
  title?: string;
  severity?: IncidentSeverity;
  description?: string | null;
  commander?: string | null;
};

export type IncidentDetail = {
  title: string;
  severity: IncidentSeverity;
  description: string | null;
  commander: string | null;
  id: string;
  status: IncidentStatus;
  source: "manual" | "monitor" | "alert";
  source_id: string | null;
  created_by: string;
  created_at: string;
  updated_at: string;
  resolved_at: string | null;
  timeline: (TimelineEntry)[];
};

export type IncidentPage = {
  incidents: (Incident)[];
  total: number;
  limit: number;
  offset: number;
};

export type IncidentSeverity = "critical" | "major" | "minor" | "info";

export type IncidentStatus = "open" | "investigating" | "identified" | "monitoring" | "resolved";

export type IncidentStatusChange = { status: IncidentStatus; message?: string };

export type Integration = {
  id: string;
  adapter: string;
  name: string;
  config: Record<string, unknown>;
  poll_interval: number;
  enabled: boolean;
  last_poll_at: string | null;
  last_status: "ok" | "error" | "never";
  last_error: string | null;
  created_at: string;
  updated_at: string;
};

export type IntegrationAdapter = {
  id: string;
  name: string;
  edition: "ce" | "pro" | "enterprise";
  available: boolean;
  config: { required: (string)[]; optional: (string)[]; sensitive: (string)[] };
};

export type IntegrationChanges = {
  adapter?: string;
  name?: string;
  config?: Record<string, unknown>;
  poll_interval?: number;
  enabled?: boolean;
};

export type IntegrationData = {
  data: (IntegrationRecord)[];
  total: number;
  limit: number;
  offset: number;
};

export type IntegrationList = { integrations: (Integration)[] };

export type IntegrationPoll = {
  ok: boolean;
  records: number;
  duration_ms: number;
  error: string | null;
};

export type IntegrationRecord = {
  id: string;
  integration_id: string;
  type: "metric" | "alert" | "event";
  name: string;
  value: number | null;
  unit: string | null;
  labels: Record<string, string>;
  severity: string | null;
  status: string | null;
  detail: string | null;
  timestamp: string;
};

export type IntegrationTest = { ok: boolean; latency_ms: number; error: string | null };

export type IpAllowlistConfig = { enforcement_enabled: boolean; log_denials: boolean };

export type IpAllowlistConfigChanges = { enforcement_enabled?: boolean; log_denials?: boolean };

export type IpCheck = {
  ip: string;
  allowed: boolean;
  admitted: boolean;
  reason: string;
  rules_evaluated: number;
};

export type IpRule = {
  id: string;
  cidr: string;
  label: string;
  description: string;
  enabled: boolean;
  scope: IpRuleScope;
  scope_id: string | null;
  expires_at: string | null;
  created_at: string;
  updated_at: string;
};

export type IpRuleChanges = {
  cidr?: string;
  label?: string;
  description?: string;
  enabled?: boolean;
  scope?: IpRuleScope;
  scope_id?: string | null;
  expires_at?: string | null;
};

export type IpRuleList = { rules: (IpRule)[] };

export type IpRuleScope = "global" | "user";

export type IssuedApiToken = {
  id: string;
  name: string;
  role: UserRole;
  permissions:
    | (
      | "containers:read"
      | "containers:start"
      | "containers:stop"
      | "containers:restart"
      | "containers:pause"
      | "containers:update"
      | "containers:write"
      | "containers:delete"
      | "containers:rebuild"
      | "containers:exec"
      | "containers:logs"
      | "stacks:read"
      | "stacks:start"
      | "stacks:stop"
      | "stacks:restart"
      | "stacks:update"
      | "stacks:write"
      | "stack_sources:read"
      | "git:read"
      | "git:write"
      | "images:read"
      | "images:write"
      | "images:export"
      | "images:delete"
      | "images:prune"
      | "volumes:read"
      | "volumes:write"
      | "volumes:delete"
      | "volumes:prune"
      | "networks:read"
      | "networks:write"
      | "swarm:read"
      | "swarm:write"
      | "swarm_secrets:read"
      | "swarm_secrets:write"
      | "system:read"
      | "system:prune"
      | "alerts:read"
      | "alerts:write"
      | "registries:read"
      | "registries:write"
      | "webhooks:read"
      | "webhooks:write"
      | "notifications:read"
      | "notifications:write"
      | "schedules:read"
      | "schedules:write"
      | "integrations:read"
      | "integrations:write"
      | "backup:read"
      | "backup:run"
      | "backup:write"
      | "files:read"
      | "files:write"
      | "incidents:read"
      | "incidents:write"
      | "remediation:read"
      | "remediation:write"
      | "status_pages:read"
      | "status_pages:write"
      | "uptime:read"
      | "uptime:write"
      | "chatops:read"
      | "chatops:write"
      | "sla:read"
      | "sla:write"
      | "fleet:read"
      | "fleet:write"
      | "users:read"
      | "users:write"
      | "settings:read"
      | "settings:write"
      | "compliance:read"
      | "compliance:write"
      | "sso:read"
      | "sso:write"
      | "custom_roles:read"
      | "custom_roles:write"
      | "ip_allowlist:read"
      | "ip_allowlist:write"
      | "mtls:read"
      | "mtls:write"
      | "encryption:read"
      | "encryption:write"
    )[]
    | null;
  stacks: (string)[] | null;
  containers: (string)[] | null;
  hosts: (string)[] | null;
  hostLabels: (string)[] | null;
  userId: string;
  createdAt: string;
  rotatedAt: string | null;
  expiresAt: string | null;
  lastUsedAt: string | null;
  lastUsedAddress: string | null;
  isSuspended: boolean;
  token: string;
};

export type Job = {
  id: string;
  kind: string;
  targetType: "image" | "container" | "stack" | "host" | "service" | "secret" | "config";
  target: string;
  stack: string | null;
  status:
    | "queued"
    | "running"
    | "succeeded"
    | "failed"
    | "rolled_back"
    | "needs_attention"
    | "cancelled";
  progress: { current: number; total: number | null; message: string | null } | null;
  steps: ({
    name: string;
    status: "running" | "succeeded" | "failed";
    startedAt: string;
    endedAt: string | null;
    message: string | null;
  })[];
  error: string | null;
  createdBy: string;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  result: unknown;
};

export type JobKind = {
  id: string;
  group: "Backups" | "Fleet" | "Images" | "Stacks" | "Swarm" | "Takeover" | "Updates";
  title: string;
  running: string;
  steps: Record<string, string>;
  unit: "bytes" | "steps";
  targetType: "image" | "container" | "stack" | "host" | "service" | "secret" | "config";
  readPermission: string;
  role: "viewer" | "operator" | "admin";
  permission: string;
  isResumed: boolean;
  isListed: boolean;
};

export type JobKindList = { kinds: (JobKind)[] };

export type JobList = { jobs: (Job)[]; nextCursor: string | null };

export type KeyRotation = {
  id: string;
  status: "pending" | "completed" | "failed" | "cancelled";
  notes: string;
  initiated_by: string;
  started_at: string;
  completed_at: string | null;
};

export type KeyRotationPage = {
  rotations: (KeyRotation)[];
  total: number;
  limit: number;
  offset: number;
};

export type KeyRotationResult = { status: "completed" | "failed" | "cancelled"; notes?: string };

export type KillOptions = { signal?: string };

export type LicenseKey = { key: string };

export type LinkLogin = { link: string };

export type ListedUser = {
  id: string;
  email: string;
  name: string | null;
  role: UserRole;
  createdAt: string;
  lastLoginAt: string | null;
  isEmailConfirmed: boolean;
  formerEmail: string | null;
  isSuspended: boolean;
};

export type Liveness = { status: "ok" };

export type LoadedImages = { job: string; images: (string)[] };

export type LogSearchResult = {
  query: string;
  regex: boolean;
  totalLines: number;
  truncated: boolean;
  matches: ({ lineNumber: number; line: string; context: (string)[] })[];
};

export type LoginResult = TokenPair | MfaRequired;

export type LogoutTokenForm = { logout_token: string };

export type Maintenance = {
  enabled: boolean;
  since: string | null;
  until: string | null;
  reason: string | null;
};

export type MaintenanceChange = { enabled: boolean; until?: string | null; reason?: string | null };

export type MaintenanceScope = { target: Target };

export type MaintenanceWindow = {
  cron: string;
  durationMinutes: number;
  scope: MaintenanceScope;
  id: string;
  timeZone: string;
  comment: string;
  createdAt: string;
  openUntil: string | null;
  nextOpensAt: string;
};

export type MaintenanceWindowChanges = {
  cron?: string;
  durationMinutes?: number;
  scope?: MaintenanceScope;
  timeZone?: string;
  comment?: string;
};

export type MaintenanceWindowList = { windows: (MaintenanceWindow)[] };

export type MetricsHistory = {
  from: string;
  to: string;
  hours: number;
  resolutionSeconds: number;
  history: (MetricsPoint)[];
  summary: {
    cpuPercent: MetricsRange;
    memoryPercent: MetricsRange;
    diskPercent: MetricsRange;
    load1: MetricsRange;
    containersRunning: MetricsRange;
    containersTotal: MetricsRange;
  };
};

export type MetricsPoint = {
  timestamp: string;
  cpuPercent: number;
  memoryPercent: number;
  diskPercent: number;
  load1: number;
  containersRunning: number | null;
  containersTotal: number | null;
};

export type MetricsRange = { min: number | null; avg: number | null; max: number | null };

export type MfaRequired = {
  mfaRequired: true;
  mfaToken: string;
  methods: ("totp" | "passkey" | "recoveryCode")[];
};

export type Monitor = {
  name: string;
  type: "http" | "tcp" | "dns";
  url: string;
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | null;
  expected_status: number | string | null;
  keyword: string | null;
  record_type: "A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SRV" | "PTR" | "CAA" | "SOA" | null;
  expected: string | null;
  timeout_ms: number;
  interval_seconds: number;
  retries: number;
  headers: Record<string, string>;
  body: string | null;
  auto_incident: boolean;
  id: string;
  status: "up" | "down" | "pending" | "paused";
  last_checked_at: string | null;
  last_response_time_ms: number | null;
  uptime_24h: number | null;
  created_at: string;
  updated_at: string;
};

export type MonitorChanges = {
  name?: string;
  type?: "http" | "tcp" | "dns";
  url?: string;
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | null;
  expected_status?: number | string | null;
  keyword?: string | null;
  record_type?: "A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SRV" | "PTR" | "CAA" | "SOA" | null;
  expected?: string | null;
  timeout_ms?: number;
  interval_seconds?: number;
  retries?: number;
  headers?: Record<string, string>;
  body?: string | null;
  auto_incident?: boolean;
};

export type MonitorCheck = {
  monitor_id: string;
  status: "up" | "down";
  response_time_ms: number | null;
  status_code: number | null;
  error: string | null;
  checked_at: string;
};

export type MonitorCheckPage = {
  checks: (MonitorCheck)[];
  total: number;
  limit: number;
  offset: number;
};

export type MonitorList = { monitors: (Monitor)[] };

export type MonitorStats = { stats: { "24h": UptimeStats; "7d": UptimeStats; "30d": UptimeStats } };

export type MtlsConfig = {
  enforcement_enabled: boolean;
  reject_unknown_certs: boolean;
  auto_enroll: boolean;
};

export type MtlsConfigChanges = {
  enforcement_enabled?: boolean;
  reject_unknown_certs?: boolean;
  auto_enroll?: boolean;
};

export type Network = {
  id: string;
  name: string;
  driver: string;
  scope: string;
  internal: boolean;
  attachable: boolean;
  createdAt: string | null;
  subnets: (string)[];
  gateways: (string)[];
  labels: Record<string, string>;
  containers:
    ({ id: string; name: string; ipv4: string | null; ipv6: string | null; mac: string | null })[];
  warning: string | null;
};

export type NetworkDeletion = { ok: true; id: string; name: string };

export type NetworkList = { networks: (Network)[] };

export type NewAgent = {
  hostname: string;
  description?: string;
  tags?: (string)[];
  certificate: string;
  ca_id?: string | null;
};

export type NewAlertRule = {
  name: string;
  metric: AlertMetric;
  operator: AlertOperator;
  threshold: number;
  durationSeconds: number;
  severity?: "info" | "warning" | "critical";
  scope?: AlertScope;
  pattern?: string | null;
  path?: string | null;
  windowSeconds?: number | null;
  forMissingDataSeconds?: number | null;
  autoIncident?: boolean;
};

export type NewApiToken = {
  name: string;
  role: UserRole;
  permissions?:
    | (
      | "containers:read"
      | "containers:start"
      | "containers:stop"
      | "containers:restart"
      | "containers:pause"
      | "containers:update"
      | "containers:write"
      | "containers:delete"
      | "containers:rebuild"
      | "containers:exec"
      | "containers:logs"
      | "stacks:read"
      | "stacks:start"
      | "stacks:stop"
      | "stacks:restart"
      | "stacks:update"
      | "stacks:write"
      | "stack_sources:read"
      | "git:read"
      | "git:write"
      | "images:read"
      | "images:write"
      | "images:export"
      | "images:delete"
      | "images:prune"
      | "volumes:read"
      | "volumes:write"
      | "volumes:delete"
      | "volumes:prune"
      | "networks:read"
      | "networks:write"
      | "swarm:read"
      | "swarm:write"
      | "swarm_secrets:read"
      | "swarm_secrets:write"
      | "system:read"
      | "system:prune"
      | "alerts:read"
      | "alerts:write"
      | "registries:read"
      | "registries:write"
      | "webhooks:read"
      | "webhooks:write"
      | "notifications:read"
      | "notifications:write"
      | "schedules:read"
      | "schedules:write"
      | "integrations:read"
      | "integrations:write"
      | "backup:read"
      | "backup:run"
      | "backup:write"
      | "files:read"
      | "files:write"
      | "incidents:read"
      | "incidents:write"
      | "remediation:read"
      | "remediation:write"
      | "status_pages:read"
      | "status_pages:write"
      | "uptime:read"
      | "uptime:write"
      | "chatops:read"
      | "chatops:write"
      | "sla:read"
      | "sla:write"
      | "fleet:read"
      | "fleet:write"
      | "users:read"
      | "users:write"
      | "settings:read"
      | "settings:write"
      | "compliance:read"
      | "compliance:write"
      | "sso:read"
      | "sso:write"
      | "custom_roles:read"
      | "custom_roles:write"
      | "ip_allowlist:read"
      | "ip_allowlist:write"
      | "mtls:read"
      | "mtls:write"
      | "encryption:read"
      | "encryption:write"
    )[]
    | null;
  stacks?: (string)[] | null;
  containers?: (string)[] | null;
  hosts?: (string)[] | null;
  hostLabels?: (string)[] | null;
  expiresAt?: string | null;
};

export type NewBackupTarget = {
  name: string;
  location?: string;
  password?: string | null;
  accessKeyId?: string | null;
  secretAccessKey?: string | null;
  region?: string | null;
  username?: string | null;
  userPassword?: string | null;
  caCertificate?: string | null;
  default?: boolean;
};

export type NewBrand = {
  name: string;
  app_name?: string;
  logo_url?: string | null;
  logo_dark_url?: string | null;
  email_logo_url?: string | null;
  primary_color?: string | null;
  secondary_color?: string | null;
  accent_color?: string | null;
  font_family?: string | null;
  custom_css?: string | null;
};

export type NewCertificateAuthority = { name: string; certificate: string };

export type NewChatChannel = {
  platform: ChatPlatform;
  name: string;
  config: ChatChannelConfig;
  events: (
    | "*"
    | "alert.fired"
    | "alert.resolved"
    | "alert.no_data"
    | "container.down"
    | "container.up"
    | "container.unhealthy"
    | "container.healthy"
    | "container.removed"
    | "container.oom"
    | "container.crash_looping"
    | "container.stable"
    | "engine.down"
    | "engine.up"
    | "engine.unreadable"
    | "engine.readable"
    | "host.disk_full_soon"
    | "host.joined"
    | "host.away"
    | "host.back"
    | "fleet.run_ended"
    | "host.duplicate"
    | "update.blocked"
    | "update.block_lifted"
    | "deploy.succeeded"
    | "deploy.rolled_back"
    | "deploy.failed"
    | "deploy.needs_attention"
    | "stack.down_failed"
    | "git.planned"
    | "git.fetch_failed"
    | "git.commit_refused"
    | "service.degraded"
    | "service.recovered"
    | "service.update_rolled_back"
    | "node.down"
    | "node.up"
    | "image.update_available"
    | "update.started"
    | "update.succeeded"
    | "update.rolled_back"
    | "update.failed"
    | "update.needs_attention"
    | "backup.succeeded"
    | "backup.failed"
    | "backup.overdue"
    | "drill.failed"
    | "schedule.failed"
    | "certificate.expiring"
    | "monitor.down"
    | "monitor.up"
    | "sla.breached"
    | "incident.created"
    | "incident.updated"
    | "incident.resolved"
    | "status_page.updated"
    | "remediation.executed"
    | "remediation.disabled"
    | "account.new_sign_in"
    | "account.factor_changed"
    | "account.access_changed"
    | "test"
  )[];
  enabled?: boolean;
};

export type NewComplianceEntry = {
  category:
    | "authentication"
    | "authorization"
    | "configuration"
    | "data"
    | "container"
    | "system"
    | "security";
  severity?: "info" | "warning" | "error" | "critical";
  actor_id?: string;
  actor_type?: "user" | "system" | "api_key" | "agent";
  action: string;
  resource_type?: string | null;
  resource_id?: string | null;
  detail?: string | null;
  outcome?: "success" | "failure";
  metadata?: Record<string, unknown> | null;
};

export type NewFleetBox = { box: string };

export type NewFleetHost = {
  token: string;
  address?: string;
  name?: string;
  labels?: Record<string, string>;
};

export type NewFleetInvite = {
  name?: string;
  pattern?: string;
  labels?: Record<string, string>;
  count?: number;
  expiresMinutes?: number;
  acceptsAtOnce?: boolean;
  address?: string;
};

export type NewFolder = { path: string };

export type NewGitRepository = {
  name: string;
  url: string;
  branch?: string | null;
  tag?: string | null;
  commit?: string | null;
  auth?: "none" | "token" | "basic";
  username?: string | null;
  secret?: string | null;
  ageIdentity?: string | null;
  status?: { kind: "github" | "gitlab" | "gitea"; apiUrl: string; token: string } | null;
  caCertificate?: string | null;
  pollMinutes?: number;
  signatures?: "off" | "required";
  signatureScope?: "range" | "head";
  allowedSigners?: string;
  mapping?: ({
    path: string;
    name: string;
    deploy?: "manual" | "plan" | "auto";
    profiles?: (string)[] | null;
    directory?: string | null;
    hosts?: Record<string, string>;
    env?: Record<string, string>;
  })[];
};

export type NewIcon = { name: string; url: string };

export type NewIdentityProvider = {
  name: string;
  entity_id: string;
  sso_url: string;
  slo_url?: string | null;
  certificate: string;
  binding?: "HTTP-POST" | "HTTP-Redirect";
  name_id_format?: string | null;
  attribute_mapping?: { email?: string; name?: string };
  auto_provision?: boolean;
  default_role?: "viewer" | "operator" | "admin";
  allow_unsolicited?: boolean;
  link_existing?: boolean;
  enabled?: boolean;
};

export type NewIncident = {
  title: string;
  severity: IncidentSeverity;
  description?: string | null;
  commander?: string | null;
};

export type NewIntegration = {
  adapter: string;
  name: string;
  config: Record<string, unknown>;
  poll_interval?: number;
  enabled?: boolean;
};

export type NewIpRule = {
  cidr: string;
  label: string;
  description?: string;
  enabled?: boolean;
  scope?: IpRuleScope;
  scope_id?: string | null;
  expires_at?: string | null;
};

export type NewKeyRotation = { notes?: string };

export type NewMaintenanceWindow = {
  cron: string;
  durationMinutes: number;
  scope: MaintenanceScope;
  timeZone?: string;
  comment?: string;
};

export type NewMonitor = {
  name: string;
  type: "http" | "tcp" | "dns";
  url: string;
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | null;
  expected_status?: number | string | null;
  keyword?: string | null;
  record_type?: "A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SRV" | "PTR" | "CAA" | "SOA" | null;
  expected?: string | null;
  timeout_ms?: number;
  interval_seconds?: number;
  retries?: number;
  headers?: Record<string, string>;
  body?: string | null;
  auto_incident?: boolean;
};

export type NewName = { name: string };

export type NewNetwork = {
  name: string;
  driver?: string;
  internal?: boolean;
  attachable?: boolean;
  subnet?: string;
  gateway?: string;
  labels?: Record<string, string>;
};

export type NewNotificationChannel = {
  name: string;
  kind?:
    | "email"
    | "ntfy"
    | "gotify"
    | "discord"
    | "slack"
    | "teams"
    | "telegram"
    | "matrix"
    | "mattermost"
    | "rocketchat"
    | "googlechat"
    | "pushover"
    | "pagerduty"
    | "opsgenie"
    | "signal"
    | "apprise"
    | "homeassistant"
    | "webhook";
  config?: Record<string, string | number | (string)[] | Record<string, string> | null>;
  url?: string;
  events?: (
    | "*"
    | "alert.fired"
    | "alert.resolved"
    | "alert.no_data"
    | "container.down"
    | "container.up"
    | "container.unhealthy"
    | "container.healthy"
    | "container.removed"
    | "container.oom"
    | "container.crash_looping"
    | "container.stable"
    | "engine.down"
    | "engine.up"
    | "engine.unreadable"
    | "engine.readable"
    | "host.disk_full_soon"
    | "host.joined"
    | "host.away"
    | "host.back"
    | "fleet.run_ended"
    | "host.duplicate"
    | "update.blocked"
    | "update.block_lifted"
    | "deploy.succeeded"
    | "deploy.rolled_back"
    | "deploy.failed"
    | "deploy.needs_attention"
    | "stack.down_failed"
    | "git.planned"
    | "git.fetch_failed"
    | "git.commit_refused"
    | "service.degraded"
    | "service.recovered"
    | "service.update_rolled_back"
    | "node.down"
    | "node.up"
    | "image.update_available"
    | "update.started"
    | "update.succeeded"
    | "update.rolled_back"
    | "update.failed"
    | "update.needs_attention"
    | "backup.succeeded"
    | "backup.failed"
    | "backup.overdue"
    | "drill.failed"
    | "schedule.failed"
    | "certificate.expiring"
    | "monitor.down"
    | "monitor.up"
    | "sla.breached"
    | "incident.created"
    | "incident.updated"
    | "incident.resolved"
    | "status_page.updated"
    | "remediation.executed"
    | "remediation.disabled"
    | "account.new_sign_in"
    | "account.factor_changed"
    | "account.access_changed"
    | "test"
  )[];
  minSeverity?: "info" | "warning" | "critical";
  containers?: (string)[] | null;
  stacks?: (string)[] | null;
  quietHours?: NewQuietHours | null;
  digestMinutes?: number;
  enabled?: boolean;
};

export type NewOidcProvider = {
  name: string;
  issuer: string;
  clientId: string;
  clientSecret?: string | null;
  scopes?: string;
  rolesClaim?: string | null;
  roleMap?: (GroupRole)[];
  defaultRole?: "viewer" | "operator" | "admin" | null;
  allowedDomains?: (string)[];
  mfaAcr?: (string)[];
  sessionHours?: number;
  autoProvision?: boolean;
  linkByVerifiedEmail?: boolean;
  enabled?: boolean;
};

export type NewPasskey = {
  name?: string;
  credential: NewPasskeyCredential;
  password?: string;
  recoveryCode?: string;
  code?: string;
};

export type NewPasskeyCredential = {
  id: string;
  rawId: string;
  type: "public-key";
  authenticatorAttachment?: "platform" | "cross-platform" | null;
  clientExtensionResults: { credProps?: { rk?: boolean } };
  response: {
    clientDataJSON: string;
    attestationObject: string;
    authenticatorData?: string;
    publicKey?: string | null;
    publicKeyAlgorithm?: number;
    transports?: (string)[];
  };
};

export type NewQuietHours = {
  from: string;
  to: string;
  timeZone?: string;
  exceptSeverity?: "info" | "warning" | "critical" | null;
};

export type NewRegistry = {
  host: string;
  pathPrefix?: string | null;
  username?: string | null;
  password?: string | null;
  insecure?: boolean;
  caCertificate?: string | null;
};

export type NewRemediationRule = {
  name: string;
  condition_metric:
    | "container_down"
    | "container_unhealthy"
    | "container_cpu_percent"
    | "container_memory_percent"
    | "container_stopped"
    | "cpu_percent"
    | "memory_percent"
    | "disk_percent"
    | "load_1";
  condition_operator: ">" | "<" | ">=" | "<=" | "==";
  condition_threshold: number;
  condition_duration?: number;
  action_type: "restart" | "start" | "stop";
  action_target: string;
  action_config?: RemediationActionConfig;
  cooldown_seconds?: number;
  enabled?: boolean;
  allow_missing?: boolean;
};

export type NewRole = {
  name: string;
  description?: string;
  priority?: number;
  permissions?: (Permission)[];
  hosts?: (string)[] | null;
  host_labels?: (string)[] | null;
};

export type NewSchedule = {
  name: string;
  kind?: "container" | "stack" | "backup" | "own-backup" | "drill" | "prune" | "backup-prune";
  action?: "restart" | "start" | "stop" | "update" | "backup" | "drill" | "prune";
  cronExpression: string;
  containerId?: string;
  containerName?: string;
  stack?: string;
  volumes?: (string)[];
  target?: string;
  mode?: "stop" | "pause" | "hooks" | "live";
  includeSharedUsers?: boolean;
  keep?: BackupKeepRules;
  prune?: NewSchedulePrune;
  maxUnusedPercent?: number;
  timezone?: string;
  allowMissing?: boolean;
};

export type NewSchedulePrune = {
  olderThanHours?: number;
  kinds?: ("containers" | "networks" | "volumes" | "images" | "buildCache")[];
  unusedImages?: boolean;
  includeVolumes?: boolean;
};

export type NewSilence = {
  matchers: NewSilenceMatchers;
  startsAt?: string;
  endsAt: string;
  comment?: string;
};

export type NewSilenceMatchers = {
  event?: string;
  container?: string;
  stack?: string;
  rule?: string;
  severity?: "info" | "warning" | "critical";
};

export type NewSlaDefinition = {
  name: string;
  description?: string;
  target_uptime: number;
  period_type?: "monthly" | "weekly";
  monitor_ids: (string)[];
};

export type NewStack = {
  name: string;
  kind?: "compose" | "swarm";
  compose?: string;
  env?: string | Record<string, string>;
  files?: Record<string, string>;
  profiles?: (string)[];
  directory?: string;
  deploy?: boolean;
};

export type NewStatusPage = {
  name: string;
  description?: string;
  is_public?: boolean;
  custom_domain?: string | null;
  theme?: StatusPageTheme;
};

export type NewStatusPageComponent = {
  name: string;
  description?: string;
  status?: StatusPageComponentStatus;
  display_order?: number;
  group_name?: string | null;
  monitor_id?: string | null;
};

export type NewStatusPageIncident = {
  title: string;
  message?: string;
  severity?: StatusPageIncidentSeverity;
  status?: StatusPageIncidentStatus;
};

export type NewStatusPageIncidentUpdate = { message: string; status?: StatusPageIncidentStatus };

export type NewStatusPageMaintenance = {
  title: string;
  message?: string;
  starts_at: string;
  ends_at: string;
  component_ids?: (string)[];
};

export type NewSubscriber = { email?: string; webhook_url?: string };

export type NewSwarmValue = {
  name: string;
  value: string;
  encoding?: "utf8" | "base64";
  labels?: Record<string, string>;
};

export type NewTimelineEntry = { type?: "note" | "action" | "update"; message: string };

export type NewUser = { email: string; password: string; role: UserRole };

export type NewVolume = {
  name: string;
  driver?: string;
  options?: Record<string, string>;
  labels?: Record<string, string>;
};

export type NewWebhook = {
  name: string;
  url: string;
  events: (
    | "*"
    | "alert.fired"
    | "alert.resolved"
    | "alert.no_data"
    | "container.down"
    | "container.up"
    | "container.unhealthy"
    | "container.healthy"
    | "container.removed"
    | "container.oom"
    | "container.crash_looping"
    | "container.stable"
    | "engine.down"
    | "engine.up"
    | "engine.unreadable"
    | "engine.readable"
    | "host.disk_full_soon"
    | "host.joined"
    | "host.away"
    | "host.back"
    | "fleet.run_ended"
    | "host.duplicate"
    | "update.blocked"
    | "update.block_lifted"
    | "deploy.succeeded"
    | "deploy.rolled_back"
    | "deploy.failed"
    | "deploy.needs_attention"
    | "stack.down_failed"
    | "git.planned"
    | "git.fetch_failed"
    | "git.commit_refused"
    | "service.degraded"
    | "service.recovered"
    | "service.update_rolled_back"
    | "node.down"
    | "node.up"
    | "image.update_available"
    | "update.started"
    | "update.succeeded"
    | "update.rolled_back"
    | "update.failed"
    | "update.needs_attention"
    | "backup.succeeded"
    | "backup.failed"
    | "backup.overdue"
    | "drill.failed"
    | "schedule.failed"
    | "certificate.expiring"
    | "monitor.down"
    | "monitor.up"
    | "sla.breached"
    | "incident.created"
    | "incident.updated"
    | "incident.resolved"
    | "status_page.updated"
    | "remediation.executed"
    | "remediation.disabled"
    | "account.new_sign_in"
    | "account.factor_changed"
    | "account.access_changed"
    | "test"
  )[];
  headers?: Record<string, string>;
};

export type NotificationChannel = {
  id: string;
  name: string;
  kind:
    | "email"
    | "ntfy"
    | "gotify"
    | "discord"
    | "slack"
    | "teams"
    | "telegram"
    | "matrix"
    | "mattermost"
    | "rocketchat"
    | "googlechat"
    | "pushover"
    | "pagerduty"
    | "opsgenie"
    | "signal"
    | "apprise"
    | "homeassistant"
    | "webhook";
  config: Record<string, string | number | (string)[] | Record<string, string>>;
  hasSecret: boolean;
  events: (string)[];
  minSeverity: "info" | "warning" | "critical";
  containers: (string)[] | null;
  stacks: (string)[] | null;
  quietHours: QuietHours | null;
  digestMinutes: number;
  enabled: boolean;
  createdAt: string;
  updatedAt: string;
  lastDeliveryAt: string | null;
  lastError: string | null;
};

export type NotificationChannelChanges = {
  name?: string;
  events?: (
    | "*"
    | "alert.fired"
    | "alert.resolved"
    | "alert.no_data"
    | "container.down"
    | "container.up"
    | "container.unhealthy"
    | "container.healthy"
    | "container.removed"
    | "container.oom"
    | "container.crash_looping"
    | "container.stable"
    | "engine.down"
    | "engine.up"
    | "engine.unreadable"
    | "engine.readable"
    | "host.disk_full_soon"
    | "host.joined"
    | "host.away"
    | "host.back"
    | "fleet.run_ended"
    | "host.duplicate"
    | "update.blocked"
    | "update.block_lifted"
    | "deploy.succeeded"
    | "deploy.rolled_back"
    | "deploy.failed"
    | "deploy.needs_attention"
    | "stack.down_failed"
    | "git.planned"
    | "git.fetch_failed"
    | "git.commit_refused"
    | "service.degraded"
    | "service.recovered"
    | "service.update_rolled_back"
    | "node.down"
    | "node.up"
    | "image.update_available"
    | "update.started"
    | "update.succeeded"
    | "update.rolled_back"
    | "update.failed"
    | "update.needs_attention"
    | "backup.succeeded"
    | "backup.failed"
    | "backup.overdue"
    | "drill.failed"
    | "schedule.failed"
    | "certificate.expiring"
    | "monitor.down"
    | "monitor.up"
    | "sla.breached"
    | "incident.created"
    | "incident.updated"
    | "incident.resolved"
    | "status_page.updated"
    | "remediation.executed"
    | "remediation.disabled"
    | "account.new_sign_in"
    | "account.factor_changed"
    | "account.access_changed"
    | "test"
  )[];
  minSeverity?: "info" | "warning" | "critical";
  containers?: (string)[] | null;
  stacks?: (string)[] | null;
  quietHours?: NewQuietHours | null;
  digestMinutes?: number;
  enabled?: boolean;
  config?: Record<string, string | number | (string)[] | Record<string, string> | null>;
  url?: string;
};

export type NotificationChannelList = { channels: (NotificationChannel)[] };

export type NotificationDelivery = {
  id: string;
  event: string;
  status: "queued" | "sent" | "failed";
  attempts: number;
  responseStatus: number | null;
  error: string | null;
  createdAt: string;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  sentAt: string | null;
  title: string;
};

export type NotificationDeliveryPage = {
  deliveries: (NotificationDelivery)[];
  total: number;
  limit: number;
  offset: number;
};

export type OidcProvider = {
  id: string;
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string | null;
  scopes: string;
  rolesClaim: string | null;
  roleMap: (GroupRole)[];
  defaultRole: "viewer" | "operator" | "admin" | null;
  allowedDomains: (string)[];
  mfaAcr: (string)[];
  sessionHours: number;
  autoProvision: boolean;
  linkByVerifiedEmail: boolean;
  enabled: boolean;
  readOnly: boolean;
  callbackUrl: string;
  backchannelLogoutUrl: string;
  createdAt: string;
  updatedAt: string;
};

export type OidcProviderChanges = {
  name?: string;
  issuer?: string;
  clientId?: string;
  clientSecret?: string | null;
  scopes?: string;
  rolesClaim?: string | null;
  roleMap?: (GroupRole)[];
  defaultRole?: "viewer" | "operator" | "admin" | null;
  allowedDomains?: (string)[];
  mfaAcr?: (string)[];
  sessionHours?: number;
  autoProvision?: boolean;
  linkByVerifiedEmail?: boolean;
  enabled?: boolean;
};

export type OidcProviderList = (OidcProvider)[];

export type OidcTest = {
  ok: true;
  issuer: string;
  endpoints: {
    authorization: string;
    token: string;
    userinfo: string | null;
    jwks: string;
    endSession: string | null;
  };
  keys: number;
  url: string;
};

export type OidcTestResult = {
  at: string;
  error: string | null;
  claims: Record<string, unknown>;
  role: "viewer" | "operator" | "admin" | null;
  customRoles: (string)[];
  secondFactor: boolean;
};

export type OpenApiDocument = { openapi: "3.1.0" };

export type Outage = {
  id: string;
  monitor_id: string;
  monitor_name: string;
  status: "open" | "resolved";
  cause: string;
  started_at: string;
  resolved_at: string | null;
  duration_seconds: number;
};

export type OutagePage = { incidents: (Outage)[]; total: number; limit: number; offset: number };

export type Overview = {
  serverName: string;
  hostname: string;
  system: HostSummary;
  containers: {
    running: number | null;
    stopped: number | null;
    total: number | null;
    unhealthy: number | null;
    paused: number | null;
  };
  stacks: {
    allHealthy: boolean | null;
    healthy: number | null;
    degraded: number | null;
    stopped: number | null;
    total: number | null;
  };
  engine: EngineStatus;
  maintenance: Maintenance;
  sseClients: number;
  timestamp: string;
};

export type OwnBackupRequest = { target: string; note?: string };

export type OwnIdentities = { identities: (Identity)[]; proof: "password" | "code" | null };

export type OwnPasswordChange = {
  currentPassword: string;
  newPassword: string;
  removePasskeys?: boolean;
};

export type Passkey = {
  id: string;
  name: string;
  rpId: string;
  createdAt: string;
  lastUsedAt: string | null;
};

export type PasskeyCreationOptions = {
  rp: { id: string; name: string };
  user: { id: string; name: string; displayName: string };
  challenge: string;
  pubKeyCredParams: ({ type: "public-key"; alg: number })[];
  timeout: number;
  excludeCredentials: ({ type: "public-key"; id: string; transports: (string)[] })[];
  authenticatorSelection: {
    residentKey: "required" | "preferred" | "discouraged";
    userVerification: "required" | "preferred" | "discouraged";
  };
  attestation: "none";
};

export type PasskeyCredential = {
  id: string;
  rawId: string;
  type: "public-key";
  authenticatorAttachment?: "platform" | "cross-platform" | null;
  clientExtensionResults: { credProps?: { rk?: boolean } };
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null;
  };
};

export type PasskeyList = { passkeys: (Passkey)[]; proof: "password" | "code" | null };

export type PasskeyLogin = { credential: PasskeyCredential };

export type PasskeyName = { name: string };

export type PasskeyRemoval = { password?: string; recoveryCode?: string; code?: string };

export type PasskeyRequest = { mfaToken?: string };

export type PasskeyRequestOptions = {
  challenge: string;
  rpId: string;
  timeout: number;
  userVerification: "required" | "preferred" | "discouraged";
  allowCredentials: ({ type: "public-key"; id: string; transports: (string)[] })[];
};

export type PasswordChange = {
  password: string;
  current_password?: string;
  currentPassword?: string;
};

export type PasswordLogin = { email: string; password: string };

export type Permission = {
  resource:
    | "*"
    | "containers"
    | "stacks"
    | "stack_sources"
    | "git"
    | "images"
    | "volumes"
    | "networks"
    | "swarm"
    | "swarm_secrets"
    | "system"
    | "alerts"
    | "registries"
    | "webhooks"
    | "notifications"
    | "schedules"
    | "integrations"
    | "backup"
    | "files"
    | "incidents"
    | "remediation"
    | "status_pages"
    | "uptime"
    | "chatops"
    | "sla"
    | "fleet"
    | "users"
    | "settings"
    | "compliance"
    | "sso"
    | "custom_roles"
    | "ip_allowlist"
    | "mtls"
    | "encryption";
  actions: (
    | "*"
    | "read"
    | "start"
    | "stop"
    | "restart"
    | "pause"
    | "update"
    | "write"
    | "delete"
    | "rebuild"
    | "exec"
    | "logs"
    | "export"
    | "prune"
    | "run"
  )[];
};

export type PermissionCheck = {
  user_id: string;
  roles: (string)[];
  permissions: Record<string, (string)[]>;
  has_permission: boolean | null;
};

export type ProcessList = { titles: (string)[]; processes: ((string)[])[] };

export type PruneOptions = {
  dryRun?: boolean;
  olderThanHours?: number;
  kinds?: ("containers" | "networks" | "volumes" | "images" | "buildCache")[];
  unusedImages?: boolean;
  includeVolumes?: boolean;
};

export type PruneResult = {
  dryRun: boolean;
  containers: PrunedKind;
  images: PrunedKind;
  networks: PrunedKind;
  volumes: PrunedKind;
  buildCache: PrunedKind;
  totalReclaimed: number;
};

export type PrunedKind = {
  deleted: (string)[];
  items: ({ id: string; name: string; size: number | null })[];
  count: number;
  spaceReclaimed: number;
  error: string | null;
};

export type PublicStatusPage = {
  name: string;
  slug: string;
  description: string;
  theme: StatusPageTheme;
  overall_status: StatusPageComponentStatus;
  components: ({
    id: string;
    name: string;
    description: string;
    status: StatusPageComponentStatus;
    display_order: number;
    group_name: string | null;
    uptime: StatusPageUptime | null;
  })[];
  active_incidents: (PublicStatusPageIncident)[];
  recent_incidents: (PublicStatusPageIncident)[];
  maintenances: ({
    id: string;
    title: string;
    message: string;
    status: "scheduled" | "in_progress" | "completed";
    starts_at: string;
    ends_at: string;
    component_ids: (string)[];
    created_at: string;
    updated_at: string;
  })[];
  updated_at: string;
};

export type PublicStatusPageIncident = {
  id: string;
  title: string;
  message: string;
  severity: StatusPageIncidentSeverity;
  status: StatusPageIncidentStatus;
  created_at: string;
  updated_at: string;
  resolved_at: string | null;
  updates: (StatusPageIncidentUpdate)[];
};

export type PushDevice = { token: string };

export type QueuedNotification = { ok: true; deliveryId: string };

export type QuietHours = {
  from: string;
  to: string;
  timeZone: string;
  exceptSeverity: "info" | "warning" | "critical" | null;
};

export type RebuildOptions = { pull?: "always" | "missing" | "never" };

export type RebuildResult = {
  ok: true;
  oldId: string;
  id: string;
  image: string;
  imageUpdated: boolean;
};

export type ReceivedBackupSnapshot = {
  job: string;
  snapshot: string;
  target: string;
  files: number;
  size: number;
  added: number;
  skippedCount: number;
};

export type RecoveryCodes = { recoveryCodes: (string)[] };

export type RegisteredDevice = { token: string };

export type Registry = {
  id: string;
  host: string;
  pathPrefix: string | null;
  username: string | null;
  hasPassword: boolean;
  insecure: boolean;
  caCertificate: string | null;
  source: "stored" | "file";
  createdAt: string | null;
  updatedAt: string | null;
};

export type RegistryChanges = {
  host?: string;
  pathPrefix?: string | null;
  username?: string | null;
  password?: string | null;
  insecure?: boolean;
  caCertificate?: string | null;
};

export type RegistryList = { registries: (Registry)[]; authFile: { problems: (string)[] } | null };

export type RegistryTest = {
  ok: boolean;
  reason: "unreachable" | "unauthorized" | "not_found" | "rate_limited" | "invalid" | null;
  error: string | null;
  durationMs: number;
};

export type RemediationActionConfig = { timeout_seconds?: number };

export type RemediationHistory = {
  history: (RemediationRun)[];
  total: number;
  limit: number;
  offset: number;
};

export type RemediationMetricDescription = {
  id: string;
  group: "Container" | "Host";
  words: string;
  title: string;
  description: string;
  unit: "%" | "B" | "B/s" | "days" | "h" | "s" | "°C" | null;
  is_state: boolean;
  operator: ">" | "<" | ">=" | "<=" | "==";
  threshold: number;
};

export type RemediationMetricList = { metrics: (RemediationMetricDescription)[] };

export type RemediationRule = {
  name: string;
  condition_metric:
    | "container_down"
    | "container_unhealthy"
    | "container_cpu_percent"
    | "container_memory_percent"
    | "container_stopped"
    | "cpu_percent"
    | "memory_percent"
    | "disk_percent"
    | "load_1";
  condition_operator: ">" | "<" | ">=" | "<=" | "==";
  condition_threshold: number;
  condition_duration: number;
  action_type: "restart" | "start" | "stop";
  action_target: string;
  action_config: RemediationActionConfig;
  cooldown_seconds: number;
  enabled: boolean;
  id: string;
  condition: string;
  created_at: string;
  last_triggered_at: string | null;
  trigger_count: number;
};

export type RemediationRuleChanges = {
  name?: string;
  condition_metric?:
    | "container_down"
    | "container_unhealthy"
    | "container_cpu_percent"
    | "container_memory_percent"
    | "container_stopped"
    | "cpu_percent"
    | "memory_percent"
    | "disk_percent"
    | "load_1";
  condition_operator?: ">" | "<" | ">=" | "<=" | "==";
  condition_threshold?: number;
  condition_duration?: number;
  action_type?: "restart" | "start" | "stop";
  action_target?: string;
  action_config?: RemediationActionConfig;
  cooldown_seconds?: number;
  enabled?: boolean;
  allow_missing?: boolean;
};

export type RemediationRuleList = { rules: (RemediationRule)[] };

export type RemediationRun = {
  id: string;
  rule_id: string;
  rule_name: string;
  metric_value: number | null;
  action_type: "restart" | "start" | "stop";
  action_target: string;
  status: "success" | "failure" | "skipped";
  error: string | null;
  started_at: string;
  finished_at: string;
};

export type Role = {
  id: string;
  name: string;
  description: string;
  priority: number;
  permission_count: number;
  user_count: number;
  hosts: (string)[] | null;
  host_labels: (string)[] | null;
  created_at: string;
  updated_at: string;
  permissions: ({ resource: string; actions: (string)[] })[];
};

export type RoleAssignment = { user_id: string };

export type RoleAssignmentResult = {
  ok: true;
  user_id: string;
  assigned_at: string;
  assigned_by: string;
  role_id: string;
  changed: boolean;
};

export type RoleChanges = {
  name?: string;
  description?: string;
  priority?: number;
  permissions?: (Permission)[];
  hosts?: (string)[] | null;
  host_labels?: (string)[] | null;
};

export type RolePage = { roles: (RoleSummary)[]; total: number; limit: number; offset: number };

export type RoleSummary = {
  id: string;
  name: string;
  description: string;
  priority: number;
  permission_count: number;
  user_count: number;
  hosts: (string)[] | null;
  host_labels: (string)[] | null;
  created_at: string;
  updated_at: string;
};

export type RoleUserPage = {
  users: ({ user_id: string; assigned_at: string; assigned_by: string; email: string | null })[];
  total: number;
  limit: number;
  offset: number;
};

export type SamlResponseForm = { SAMLResponse: string; RelayState?: string };

export type Schedule = {
  name: string;
  kind: "container" | "stack" | "backup" | "own-backup" | "drill" | "prune" | "backup-prune";
  action: "restart" | "start" | "stop" | "update" | "backup" | "drill" | "prune";
  cronExpression: string;
  containerId?: string;
  containerName?: string;
  stack?: string;
  volumes?: (string)[];
  target?: string;
  mode?: "stop" | "pause" | "hooks" | "live";
  includeSharedUsers?: boolean;
  keep?: BackupKeepRules;
  prune?: SchedulePrune;
  maxUnusedPercent?: number;
  id: string;
  subject: string;
  timezone: string;
  enabled: boolean;
  createdAt: string;
  lastRunAt: string | null;
  nextRunAt: string | null;
  overdueSince?: string;
};

export type ScheduleChanges = {
  name?: string;
  kind?: "container" | "stack" | "backup" | "own-backup" | "drill" | "prune" | "backup-prune";
  action?: "restart" | "start" | "stop" | "update" | "backup" | "drill" | "prune";
  cronExpression?: string;
  containerId?: string;
  containerName?: string;
  stack?: string | null;
  volumes?: (string)[] | null;
  target?: string | null;
  mode?: "stop" | "pause" | "hooks" | "live" | null;
  includeSharedUsers?: boolean | null;
  keep?: BackupKeepRules | null;
  prune?: NewSchedulePrune | null;
  maxUnusedPercent?: number | null;
  timezone?: string;
  enabled?: boolean;
  allowMissing?: boolean;
};

export type ScheduleHistory = {
  history: (ScheduleRun)[];
  total: number;
  limit: number;
  offset: number;
};

export type ScheduleKind = {
  id: "container" | "stack" | "backup" | "own-backup" | "drill" | "prune" | "backup-prune";
  title: string;
  description: string;
  actions: ({
    id: "restart" | "start" | "stop" | "update" | "backup" | "drill" | "prune";
    title: string;
    description: string;
    permission: string;
  })[];
  fields: ({
    name:
      | "containerId"
      | "containerName"
      | "stack"
      | "volumes"
      | "target"
      | "mode"
      | "includeSharedUsers"
      | "keep"
      | "prune"
      | "maxUnusedPercent";
    isRequired: boolean;
  })[];
};

export type ScheduleKindList = { kinds: (ScheduleKind)[] };

export type ScheduleList = { schedules: (Schedule)[] };

export type SchedulePrune = {
  olderThanHours: number;
  kinds?: ("containers" | "networks" | "volumes" | "images" | "buildCache")[];
  unusedImages: boolean;
  includeVolumes: boolean;
};

export type ScheduleRun = {
  id: string;
  scheduleId: string;
  scheduleName: string;
  kind: "container" | "stack" | "backup" | "own-backup" | "drill" | "prune" | "backup-prune";
  action: "restart" | "start" | "stop" | "update" | "backup" | "drill" | "prune";
  containerId?: string;
  containerName?: string;
  stack?: string;
  subject: string;
  jobId: string | null;
  startedAt: string;
  finishedAt: string;
  status: "success" | "failure" | "skipped";
  error: string | null;
};

export type SecondFactor = { mfaToken: string; code: string } | {
  mfaToken: string;
  recoveryCode: string;
} | { mfaToken: string; passkey: PasskeyCredential };

export type Session = {
  id: string;
  address: string | null;
  userAgent: string | null;
  createdAt: string;
  lastUsedAt: string;
  current: boolean;
};

export type SessionPage = { sessions: (Session)[]; total: number; limit: number; offset: number };

export type Setup = { code: string; account: FirstAccount } | { code: string; key: true };

export type SetupGuide = { shown: boolean };

export type SetupProgress = (SetupStep)[];

export type SetupResult = {
  accessToken: string;
  refreshToken?: string;
  expiresIn: number;
  role: UserRole;
  serverName: string;
  key?: string;
};

export type SetupState = { required: boolean; codeInForce: boolean };

export type SetupStep = {
  id: "takeover" | "channel" | "alerts" | "update-checks" | "access" | "backup";
  done: boolean;
  why: string;
};

export type ShortHealth = { status: "ok" | "degraded"; version: string };

export type SignInMethods = {
  apiKey: boolean;
  passwords: boolean;
  password: boolean;
  passkeys: boolean;
  providers: ({ id: string; name: string; kind: "oidc" | "saml"; path: string; url: string })[];
};

export type SignInResult = BrowserSession | MfaRequired;

export type SignedOut = { ok: true; logoutUrl?: string };

export type Silence = {
  id: string;
  matchers: SilenceMatchers;
  startsAt: string;
  endsAt: string;
  comment: string;
  createdBy: string;
  createdAt: string;
  state: "pending" | "active" | "ended";
};

export type SilenceChanges = {
  matchers?: NewSilenceMatchers;
  startsAt?: string;
  endsAt?: string;
  comment?: string;
};

export type SilenceList = { silences: (Silence)[] };

export type SilenceMatchers = {
  event?: string;
  container?: string;
  stack?: string;
  rule?: string;
  severity?: "info" | "warning" | "critical";
};

export type SlaBreach = {
  id: string;
  sla_id: string;
  period_id: string;
  breached_at: string;
  actual_uptime: number | null;
  coverage_percent: number;
  target_uptime: number;
  total_downtime_seconds: number;
};

export type SlaBreachPage = {
  breaches: (SlaBreach)[];
  total: number;
  limit: number;
  offset: number;
};

export type SlaBudget = {
  total_budget_minutes: number;
  used_minutes: number;
  remaining_minutes: number;
  remaining_percentage: number;
  is_breached: boolean;
  burn_rate: number;
};

export type SlaDefinition = {
  id: string;
  name: string;
  description: string;
  target_uptime: number;
  period_type: "monthly" | "weekly";
  monitor_ids: (string)[];
  created_at: string;
  updated_at: string;
};

export type SlaDefinitionChanges = {
  name?: string;
  description?: string;
  target_uptime?: number;
  period_type?: "monthly" | "weekly";
  monitor_ids?: (string)[];
};

export type SlaDefinitionDetail = {
  id: string;
  name: string;
  description: string;
  target_uptime: number;
  period_type: "monthly" | "weekly";
  monitor_ids: (string)[];
  created_at: string;
  updated_at: string;
  current_status: SlaStatus;
};

export type SlaDefinitionList = { definitions: (SlaDefinition)[] };

export type SlaPeriod = {
  id: string;
  sla_id: string;
  period_type: "monthly" | "weekly";
  start_date: string;
  end_date: string;
  actual_uptime: number | null;
  target_uptime: number;
  total_downtime_seconds: number;
  coverage_percent: number;
  is_breached: boolean;
  status: "current" | "closed";
  calculated_at: string;
};

export type SlaPeriodPage = {
  periods: (SlaPeriod)[];
  total: number;
  limit: number;
  offset: number;
};

export type SlaReport = {
  definition: SlaDefinition;
  current_status: SlaStatus;
  periods: (SlaPeriod)[];
  breaches: (SlaBreach)[];
  burn_rate_chart: ({ date: string; burn_rate: number })[];
};

export type SlaStatus = { period: SlaPeriod; burn_rate: number; budget: SlaBudget };

export type SsoLogin = {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  role: "viewer" | "operator" | "admin";
  serverName: string;
  sessionId: string;
  user: { id: string; email: string; role: "viewer" | "operator" | "admin"; name: string | null };
  relayState?: string;
};

export type SsoLoginResult = SsoLogin | MfaRequired;

export type SsoSession = {
  id: string;
  provider_id: string;
  user_id: string;
  email: string;
  ip: string;
  created_at: string;
  expires_at: string;
};

export type SsoSessionPage = {
  sessions: (SsoSession)[];
  total: number;
  limit: number;
  offset: number;
};

export type SsoSessionPurge = { ok: true; deleted: number };

export type Stack = {
  name: string;
  kind: "compose" | "swarm";
  services: number;
  containerCount: number;
  running: number;
  stopped: number;
  finished: number;
  unhealthy: number;
  status: "healthy" | "degraded" | "stopped";
  allHealthy: boolean;
  containers: ({
    id: string;
    name: string;
    image: string;
    state: ContainerState;
    health: "starting" | "healthy" | "unhealthy" | null;
  })[];
};

export type StackActionReport = {
  ok: boolean;
  results: ({ id: string; name: string; ok: boolean; changed: boolean; error: string | null })[];
};

export type StackAdoption = {
  compose?: string;
  env?: string | Record<string, string>;
  files?: Record<string, string>;
  profiles?: (string)[];
  acceptRecreate?: boolean;
  dryRun?: boolean;
};

export type StackAdoptionResult = {
  adopted: boolean;
  changes: ({
    kind: "service" | "network" | "volume";
    name: string;
    action: "create" | "recreate" | "start" | "remove" | "none";
    reasons: ({ path: string; from: string | null; to: string | null; text: string })[];
  })[];
  warnings: (string)[];
  sources: {
    compose: string;
    env: string | Record<string, string>;
    files: Record<string, string>;
    profiles: (string)[];
    managed: "stored" | "disk";
    directory: string | null;
    configFiles: (string)[];
  };
};

export type StackBackupList = { stacks: (StackBackups)[] };

export type StackBackups = {
  stack: string;
  parts: number;
  isExcluded: boolean;
  isScheduled: boolean;
  mode: "stop" | "pause" | "hooks" | "live" | null;
  lastBackup: { at: string; snapshot: string; target: string; size: number } | null;
};

export type StackConversion = { command: string };

export type StackDeploy = {
  recreate?: "changed" | "always" | "never";
  removeOrphans?: boolean;
  services?: (string)[];
  version?: number;
  expectedVersion?: number;
  pull?: "always" | "missing" | "never";
  onFailure?: "rollback" | "stop";
  stableSeconds?: number;
  healthTimeoutSeconds?: number;
  data?: "keep" | "undo";
  rehearse?: boolean;
  rehearseOnly?: boolean;
};

export type StackDeployPlan = {
  version: number;
  changes: ({
    kind: "service" | "network" | "volume";
    name: string;
    action: "create" | "recreate" | "start" | "remove" | "none";
    reasons: ({ path: string; from: string | null; to: string | null; text: string })[];
  })[];
  rehearse: boolean;
  warnings: (string)[];
  obstacles: ({ message: string; canForce: boolean })[];
  data: {
    choice: "keep" | "undo";
    target: string | null;
    volumes: ({ name: string; size: number | null })[];
    keptDays: number;
  };
};

export type StackDetail = {
  name: string;
  kind: "compose" | "swarm";
  services: ({ name: string; image: string; dependsOn: (string)[]; containers: (Container)[] })[];
  containerCount: number;
  running: number;
  stopped: number;
  finished: number;
  unhealthy: number;
  status: "healthy" | "degraded" | "stopped";
  allHealthy: boolean;
  workingDir: string | null;
  configFiles: (string)[];
  hasSources: boolean;
};

export type StackDiff = { diff: string };

export type StackDown = { volumes?: boolean; images?: "none" | "local" };

export type StackGeneration = { containers: (string)[] };

export type StackGit = {
  repository: {
    id: string;
    name: string;
    url: string;
    error: string | null;
    checkedAt: string | null;
  };
  path: string;
  deploy: "manual" | "plan" | "auto";
  directory: string | null;
  profiles: (string)[] | null;
  isMapped: boolean;
  state:
    | "waiting"
    | "refused"
    | "orphaned"
    | "drift"
    | "rewritten"
    | "failed"
    | "behind"
    | "current";
  version: number | null;
  commit: GitCommit | null;
  deployedVersion: number | null;
  deployedCommit: string | null;
  behind: number | null;
  problem: string | null;
  drift: { from: number; to: number } | null;
};

export type StackGitSource = {
  repositoryId: string;
  path: string;
  deploy?: "manual" | "plan" | "auto";
  directory?: string | null;
  profiles?: (string)[] | null;
  env?: Record<string, string>;
  acceptRecreate?: boolean;
};

export type StackGitState = { git: StackGit | null };

export type StackList = { stacks: (Stack)[] };

export type StackPlan = {
  version: number | null;
  changes: ({
    kind: "service" | "network" | "volume";
    name: string;
    action: "create" | "recreate" | "start" | "remove" | "none";
    reasons: ({ path: string; from: string | null; to: string | null; text: string })[];
  })[];
  warnings: (string)[];
};

export type StackPlanOptions = {
  recreate?: "changed" | "always" | "never";
  removeOrphans?: boolean;
  services?: (string)[];
  sources?: {
    compose?: string;
    env?: string | Record<string, string>;
    files?: Record<string, string>;
    profiles?: (string)[];
    directory?: string;
  };
};

export type StackRollback = {
  stableSeconds?: number;
  verifyTimeoutSeconds?: number;
  data?: boolean;
};

export type StackSource = {
  name: string;
  kind: "compose" | "swarm";
  version: number;
  updatedBy: string;
  updatedAt: string;
  compose: string;
  env: string | Record<string, string>;
  files: Record<string, string>;
  profiles: (string)[];
  managed: "stored" | "disk";
  directory: string | null;
  configFiles: (string)[];
};

export type StackSourceChange = {
  compose: string;
  env?: string | Record<string, string>;
  files?: Record<string, string>;
  profiles?: (string)[];
  expectedVersion: number;
};

export type StackSourceVersion = {
  name: string;
  kind: "compose" | "swarm";
  version: number;
  updatedBy: string;
  updatedAt: string;
};

export type StackSourcesToValidate = {
  compose: string;
  env?: string | Record<string, string>;
  files?: Record<string, string>;
  profiles?: (string)[];
  name?: string;
  directory?: string;
};

export type StackUpdate = {
  stableSeconds?: number;
  verifyTimeoutSeconds?: number;
  atomic?: boolean;
  pull?: "always" | "missing" | "never";
  data?: "keep" | "undo";
  force?: boolean;
  rehearse?: boolean;
  rehearseOnly?: boolean;
};

export type StackUpdatePlan = {
  stack: string;
  containers: ({ container: string; image: string })[];
  rehearsal: {
    containers: (string)[];
    copied: (string)[];
    leftOut: (string)[];
    obstacle: string | null;
  } | null;
  warnings: (string)[];
  obstacles: ({ message: string; canForce: boolean })[];
  data: {
    choice: "keep" | "undo";
    target: string | null;
    volumes: ({ name: string; size: number | null })[];
    keptDays: number;
  };
};

export type StackValidation = {
  valid: boolean;
  errors: (ComposeIssue)[];
  warnings: (ComposeIssue)[];
  services: (string)[];
  resolved: Record<string, unknown> | null;
};

export type StackVersionList = {
  versions: ({ version: number; createdBy: string; createdAt: string; commit: GitCommit | null })[];
};

export type StartedKeyRotation = { id: string; status: "pending"; message: string };

export type StatusPage = {
  id: string;
  slug: string;
  name: string;
  description: string;
  is_public: boolean;
  custom_domain: string | null;
  theme: StatusPageTheme;
  created_at: string;
  updated_at: string;
};

export type StatusPageChanges = {
  name?: string;
  description?: string;
  is_public?: boolean;
  custom_domain?: string | null;
  theme?: StatusPageTheme;
};

export type StatusPageComponent = {
  id: string;
  page_id: string;
  name: string;
  description: string;
  status: StatusPageComponentStatus;
  display_order: number;
  group_name: string | null;
  monitor_id: string | null;
  created_at: string;
  updated_at: string;
  shown_status: StatusPageComponentStatus;
};

export type StatusPageComponentChanges = {
  name?: string;
  description?: string;
  status?: StatusPageComponentStatus;
  display_order?: number;
  group_name?: string | null;
  monitor_id?: string | null;
};

export type StatusPageComponentList = { components: (StatusPageComponent)[] };

export type StatusPageComponentStatus =
  | "operational"
  | "under_maintenance"
  | "degraded_performance"
  | "partial_outage"
  | "major_outage";

export type StatusPageDetail = {
  id: string;
  slug: string;
  name: string;
  description: string;
  is_public: boolean;
  custom_domain: string | null;
  theme: StatusPageTheme;
  created_at: string;
  updated_at: string;
  overall_status: StatusPageComponentStatus;
  components: (StatusPageComponent)[];
  active_incidents: (StatusPageIncident)[];
};

export type StatusPageIncident = {
  id: string;
  page_id: string;
  title: string;
  message: string;
  severity: StatusPageIncidentSeverity;
  status: StatusPageIncidentStatus;
  created_at: string;
  updated_at: string;
  resolved_at: string | null;
  updates: (StatusPageIncidentUpdate)[];
};

export type StatusPageIncidentChanges = {
  title?: string;
  message?: string;
  severity?: StatusPageIncidentSeverity;
  status?: StatusPageIncidentStatus;
};

export type StatusPageIncidentPage = {
  incidents: (StatusPageIncident)[];
  total: number;
  limit: number;
  offset: number;
};

export type StatusPageIncidentSeverity = "minor" | "major" | "critical" | "maintenance";

export type StatusPageIncidentStatus = "investigating" | "identified" | "monitoring" | "resolved";

export type StatusPageIncidentUpdate = {
  id: string;
  status: StatusPageIncidentStatus;
  message: string;
  created_at: string;
};

export type StatusPageMaintenance = {
  id: string;
  page_id: string;
  title: string;
  message: string;
  status: "scheduled" | "in_progress" | "completed";
  starts_at: string;
  ends_at: string;
  component_ids: (string)[];
  created_at: string;
  updated_at: string;
};

export type StatusPageMaintenanceChanges = {
  title?: string;
  message?: string;
  starts_at?: string;
  ends_at?: string;
  component_ids?: (string)[];
};

export type StatusPageMaintenanceList = {
  maintenances: (StatusPageMaintenance)[];
  total: number;
  limit: number;
  offset: number;
};

export type StatusPagePage = {
  pages: (StatusPage)[];
  total: number;
  limit: number;
  offset: number;
};

export type StatusPageTheme = { primary_color?: string };

export type StatusPageUptime = {
  uptime_percent: number | null;
  days: ({ date: string; uptime_percent: number | null })[];
};

export type StreamTicket = { ticket: string };

export type SubscribeForm = { email?: string };

export type Subscriber = {
  id: string;
  email?: string;
  webhook_url?: string;
  status: "pending" | "verified";
  created_at: string;
};

export type SubscriberPage = {
  subscribers: (Subscriber)[];
  total: number;
  limit: number;
  offset: number;
};

export type SubscriptionConfirmation = {
  ok: true;
  message: string;
  status: "verified";
  already_verified: boolean;
};

export type SubscriptionResult = { ok: true; message: string };

export type Swarm = {
  active: boolean;
  id: string | null;
  createdAt: string | null;
  nodeId: string | null;
  role: "manager" | null;
  managers: ({
    id: string;
    hostname: string | null;
    address: string;
    isLeader: boolean;
    isReachable: boolean | null;
  })[];
  nodes: number | null;
  quorum: { managers: number; reachable: number | null; needed: number; isKept: boolean } | null;
  caExpiresAt: string | null;
  warnings: (string)[];
};

export type SwarmConfigDeletion = { ok: true; id: string; name: string };

export type SwarmConfigList = { configs: (SwarmValue)[] };

export type SwarmNode = {
  id: string;
  hostname: string;
  role: "manager" | "worker";
  availability: "active" | "pause" | "drain";
  state: string;
  message: string;
  address: string;
  managerAddress: string | null;
  isLeader: boolean;
  isReachable: boolean | null;
  isSelf: boolean;
  engineVersion: string;
  os: string;
  architecture: string;
  cpus: number;
  memoryBytes: number;
  labels: Record<string, string>;
  tasks: number;
  createdAt: string | null;
  updatedAt: string | null;
};

export type SwarmNodeChange = {
  availability?: "active" | "pause" | "drain";
  role?: "manager" | "worker";
  labels?: Record<string, string>;
};

export type SwarmNodeList = { nodes: (SwarmNode)[] };

export type SwarmRotation = { value: string; encoding?: "utf8" | "base64" };

export type SwarmScale = { replicas: number };

export type SwarmSecretDeletion = { ok: true; id: string; name: string };

export type SwarmSecretList = { secrets: (SwarmValue)[] };

export type SwarmService = {
  id: string;
  name: string;
  stack: string | null;
  mode: "replicated" | "global" | "job";
  image: string;
  digest: string | null;
  desired: number;
  running: number;
  ports: ({ protocol: string; target: number; published: number | null; mode: string })[];
  placement: { constraints: (string)[]; spread: (string)[]; maxReplicasPerNode: number | null };
  update:
    | { state: string; message: string; startedAt: string | null; completedAt: string | null }
    | null;
  canRollBack: boolean;
  createdAt: string | null;
  updatedAt: string | null;
};

export type SwarmServiceDetail = {
  id: string;
  name: string;
  stack: string | null;
  mode: "replicated" | "global" | "job";
  image: string;
  digest: string | null;
  desired: number;
  running: number;
  ports: ({ protocol: string; target: number; published: number | null; mode: string })[];
  placement: { constraints: (string)[]; spread: (string)[]; maxReplicasPerNode: number | null };
  update:
    | { state: string; message: string; startedAt: string | null; completedAt: string | null }
    | null;
  canRollBack: boolean;
  createdAt: string | null;
  updatedAt: string | null;
  failures: ({
    id: string;
    slot: number | null;
    node: { id: string; hostname: string } | null;
    state: string;
    exitCode: number | null;
    error: string;
    at: string | null;
  })[];
  secrets: (string)[];
  configs: (string)[];
  updateSettings: SwarmUpdateSettings;
  rollbackSettings: SwarmUpdateSettings;
};

export type SwarmServiceList = { services: (SwarmService)[] };

export type SwarmServiceLogs = {
  lines: ({
    timestamp: string;
    stream: "stdout" | "stderr";
    task: string;
    taskId: string;
    node: string;
    message: string;
    level: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | null;
  })[];
  isComplete: boolean;
};

export type SwarmServiceUpdate = {
  image?: string;
  parallelism?: number;
  delaySeconds?: number;
  monitorSeconds?: number;
  order?: "stop-first" | "start-first";
};

export type SwarmTask = {
  id: string;
  service: { id: string; name: string };
  slot: number | null;
  node: { id: string; hostname: string } | null;
  state: string;
  desiredState: string;
  message: string;
  error: string | null;
  exitCode: number | null;
  image: string;
  digest: string | null;
  containerId: string | null;
  createdAt: string | null;
  changedAt: string | null;
  replacement: { id: string; node: { id: string; hostname: string } | null; state: string } | null;
};

export type SwarmTaskList = { tasks: (SwarmTask)[] };

export type SwarmTokenRotation = { role: "manager" | "worker" };

export type SwarmTokens = {
  worker: { token: string; command: string };
  manager: { token: string; command: string };
};

export type SwarmUpdateSettings = {
  parallelism: number;
  delaySeconds: number;
  failureAction: string;
  monitorSeconds: number;
  maxFailureRatio: number;
  order: string;
};

export type SwarmValue = {
  id: string;
  name: string;
  stack: string | null;
  labels: Record<string, string>;
  services: (string)[];
  createdAt: string | null;
  updatedAt: string | null;
};

export type TaggedImage = { ok: true; image: string };

export type Takeover = {
  stacks: (TakeoverStack)[];
  directories: ({ name: string; path: string; services: (string)[]; error?: string })[];
  unlisted: (string)[];
  containers: ({ id: string; name: string; image: string; unit: string | null })[];
  managers: ({
    name: string;
    image: string;
    container: string;
    updates: "all" | "own" | "none";
    stacks: (string)[];
    setting: string;
  })[];
  managed: ({
    name: string;
    source: {
      kind: "host" | "mount" | "generated" | "text";
      path: string | null;
      through?: string;
    };
    version: number;
  })[];
};

export type TakeoverPlan = {
  changesNothing: boolean;
  recreates: (string)[];
  creates: (string)[];
  unknown: (string)[];
  reasons: (string)[];
};

export type TakeoverRequest = {
  stacks?: (string)[];
  generate?: (string)[];
  sources?: Record<
    string,
    { kind: "host" | "mount" | "generated"; path?: string | null; through?: string }
  >;
  acceptRecreate?: boolean;
};

export type TakeoverScan = { job: Job };

export type TakeoverStack = {
  name: string;
  containers: (string)[];
  source: {
    kind: "host" | "mount" | "generated" | "text" | "none";
    path: string | null;
    through?: string;
  };
  candidates: ({
    kind: "host" | "mount" | "generated" | "text";
    path: string | null;
    through?: string;
    modifiedAt: string | null;
    plan: TakeoverPlan | null;
    error?: string;
  })[];
  plan: TakeoverPlan | null;
  base: string | null;
  configFile: string | null;
  manager: string | null;
  unit: string | null;
  notes: (string)[];
};

export type Target = { kind: "host" } | {
  kind: "containers";
  containers?: (string)[];
  stacks?: (string)[];
  labels?: Record<string, string>;
};

export type TerminalOptions = { cols: number; rows: number; command?: string; user?: string };

export type TerminalSize = { cols: number; rows: number };

export type TerminalTicket = { ticket: string; expiresAt: string };

export type TimelineEntry = {
  id: string;
  type: "note" | "action" | "update" | "status_change";
  message: string;
  author: string;
  created_at: string;
};

export type ToggleBody = { enabled?: boolean };

export type TokenPair = {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  role: UserRole;
  serverName: string;
};

export type TokenRefresh = { refreshToken: string };

export type Totp = { enabled: boolean; recoveryCodesLeft: number };

export type TotpCode = { code: string; password?: string; recoveryCode?: string };

export type TotpRemoval = { password?: string; code: string } | {
  password?: string;
  recoveryCode: string;
};

export type TotpSetup = {
  secret: string;
  otpauthUrl: string;
  qrSvg: string;
  proof: "password" | "code" | null;
};

export type Unreadiness = { status: "failed" };

export type UpdateCheck = { images?: (string)[]; newerVersions?: boolean };

export type UpdateSettings = {
  enabled: boolean;
  intervalHours: number;
  policy: "notify" | "auto";
  minimumAgeHours: number;
  keepPreviousDays: number;
  stableSeconds: number;
  data: "keep" | "undo";
  rehearse: boolean;
  windows: (UpdateWindow)[];
  fixed: ("enabled" | "intervalHours")[];
};

export type UpdateSettingsChanges = {
  enabled?: boolean;
  intervalHours?: number;
  policy?: "notify" | "auto";
  minimumAgeHours?: number;
  keepPreviousDays?: number;
  stableSeconds?: number;
  data?: "keep" | "undo";
  rehearse?: boolean;
  windows?: (UpdateWindow)[];
};

export type UpdateWindow = { cron: string; timeZone: string; durationMinutes: number };

export type UploadedIcon = { name: string; url: string; createdAt: string };

export type UploadedIconList = { icons: (UploadedIcon)[] };

export type UptimeStats = {
  uptime_percent: number | null;
  avg_response_time_ms: number | null;
  p95_response_time_ms: number | null;
  total_checks: number;
  total_downtime_seconds: number;
};

export type User = {
  id: string;
  email: string;
  name: string | null;
  role: UserRole;
  createdAt: string;
  lastLoginAt: string | null;
};

export type UserList = { users: (ListedUser)[] };

export type UserRole = "viewer" | "operator" | "admin";

export type UserRoleBody = { role: UserRole };

export type UserSession = {
  id: string;
  address: string | null;
  userAgent: string | null;
  createdAt: string;
  lastUsedAt: string;
  current: boolean;
  userId: string;
  email: string;
};

export type UserSessionPage = {
  sessions: (UserSession)[];
  total: number;
  limit: number;
  offset: number;
};

export type UsersMode = { account: FirstAccount };

export type Volume = {
  name: string;
  driver: string;
  mountpoint: string;
  scope: string;
  createdAt: string | null;
  labels: Record<string, string>;
  size: number | null;
  containers: (string)[];
  warning: string | null;
};

export type VolumeDeletion = { ok: true; name: string };

export type VolumeList = { volumes: (Volume)[] };

export type Webhook = {
  id: string;
  name: string;
  url: string;
  events: (string)[];
  headers: Record<string, string>;
  enabled: boolean;
  createdAt: string;
  lastDelivery: { at: string; status: number | null; error: string | null } | null;
};

export type WebhookChanges = {
  name?: string;
  url?: string;
  events?: (
    | "*"
    | "alert.fired"
    | "alert.resolved"
    | "alert.no_data"
    | "container.down"
    | "container.up"
    | "container.unhealthy"
    | "container.healthy"
    | "container.removed"
    | "container.oom"
    | "container.crash_looping"
    | "container.stable"
    | "engine.down"
    | "engine.up"
    | "engine.unreadable"
    | "engine.readable"
    | "host.disk_full_soon"
    | "host.joined"
    | "host.away"
    | "host.back"
    | "fleet.run_ended"
    | "host.duplicate"
    | "update.blocked"
    | "update.block_lifted"
    | "deploy.succeeded"
    | "deploy.rolled_back"
    | "deploy.failed"
    | "deploy.needs_attention"
    | "stack.down_failed"
    | "git.planned"
    | "git.fetch_failed"
    | "git.commit_refused"
    | "service.degraded"
    | "service.recovered"
    | "service.update_rolled_back"
    | "node.down"
    | "node.up"
    | "image.update_available"
    | "update.started"
    | "update.succeeded"
    | "update.rolled_back"
    | "update.failed"
    | "update.needs_attention"
    | "backup.succeeded"
    | "backup.failed"
    | "backup.overdue"
    | "drill.failed"
    | "schedule.failed"
    | "certificate.expiring"
    | "monitor.down"
    | "monitor.up"
    | "sla.breached"
    | "incident.created"
    | "incident.updated"
    | "incident.resolved"
    | "status_page.updated"
    | "remediation.executed"
    | "remediation.disabled"
    | "account.new_sign_in"
    | "account.factor_changed"
    | "account.access_changed"
    | "test"
  )[];
  headers?: Record<string, string>;
  enabled?: boolean;
};

export type WebhookDelivery = {
  id: string;
  event: string;
  status: "queued" | "sent" | "failed";
  attempts: number;
  responseStatus: number | null;
  error: string | null;
  createdAt: string;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  sentAt: string | null;
};

export type WebhookDeliveryPage = {
  deliveries: (WebhookDelivery)[];
  total: number;
  limit: number;
  offset: number;
};

export type WebhookList = { webhooks: (Webhook)[] };

export type WebhookTest = { ok: true; delivery_id: string };

export type WrittenFile = {
  name: string;
  path: string;
  type: "file" | "dir" | "symlink" | "fifo" | "socket" | "dev" | "chardev";
  size: number;
  mode: string;
  uid: number;
  gid: number;
  modifiedAt: string;
  etag: string | null;
  runningContainers: (string)[];
};

/** Input and result of each operation, by method and path. */
export interface Operations {
  "DELETE /api/account/identities/{id}": {
    path: { id: string };
    body: IdentityRemoval | undefined;
    result: Done;
  };
  "DELETE /api/account/passkeys/{id}": {
    path: { id: string };
    body: PasskeyRemoval | undefined;
    result: Done;
  };
  "DELETE /api/account/sessions": { result: Done };
  "DELETE /api/account/sessions/{id}": { path: { id: string }; result: Done };
  "DELETE /api/account/totp": { body: TotpRemoval; result: Done };
  "DELETE /api/alerts/rules/{id}": { path: { id: string }; result: Done };
  "DELETE /api/backup/snapshots/{id}": {
    path: { id: string };
    query?: { target?: string };
    result: Done;
  };
  "DELETE /api/backup/targets/{id}": { path: { id: string }; result: Done };
  "DELETE /api/containers/{id}": {
    path: { id: string };
    query?: { force?: boolean; volumes?: boolean };
    result: ContainerDeletion;
  };
  "DELETE /api/containers/{id}/file": {
    path: { id: string };
    query: { path: string };
    result: Done;
  };
  "DELETE /api/edition/license": { result: EditionChange };
  "DELETE /api/ext/service-enterprise/branding/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-enterprise/compliance/retention": { result: ComplianceDeletion };
  "DELETE /api/ext/service-enterprise/encryption/audit/retention": {
    query: { days: number };
    result: EncryptionAuditDeletion;
  };
  "DELETE /api/ext/service-enterprise/ip-allowlist/rules/{id}": {
    path: { id: string };
    result: Done;
  };
  "DELETE /api/ext/service-enterprise/mtls/agents/{id}": {
    path: { id: string };
    result: AgentRevocation;
  };
  "DELETE /api/ext/service-enterprise/mtls/ca/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-enterprise/roles/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-enterprise/roles/{id}/users/{userId}": {
    path: { id: string; userId: string };
    result: Done;
  };
  "DELETE /api/ext/service-enterprise/sso/providers/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-enterprise/sso/sessions/expired": { result: SsoSessionPurge };
  "DELETE /api/ext/service-enterprise/sso/sessions/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-pro/chatops/channels/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-pro/incidents/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-pro/remediation/rules/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-pro/sla/definitions/{id}": { path: { id: string }; result: Done };
  "DELETE /api/ext/service-pro/status-pages/{pageId}": { path: { pageId: string }; result: Done };
  "DELETE /api/ext/service-pro/status-pages/{pageId}/components/{compId}": {
    path: { pageId: string; compId: string };
    result: Done;
  };
  "DELETE /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}": {
    path: { pageId: string; incId: string };
    result: Done;
  };
  "DELETE /api/ext/service-pro/status-pages/{pageId}/maintenances/{maintenanceId}": {
    path: { pageId: string; maintenanceId: string };
    result: Done;
  };
  "DELETE /api/ext/service-pro/status-pages/{pageId}/subscribers/{subId}": {
    path: { pageId: string; subId: string };
    result: Done;
  };
  "DELETE /api/ext/service-pro/uptime/monitors/{id}": { path: { id: string }; result: Done };
  "DELETE /api/fleet/blocked/{id}": { path: { id: string }; result: Done };
  "DELETE /api/fleet/hosts/{id}": { path: { id: string }; result: Done };
  "DELETE /api/fleet/hosts/{id}/api/{path}": {
    path: { id: string; path: string };
    result: HostAnswer;
  };
  "DELETE /api/fleet/invites/{id}": { path: { id: string }; result: Done };
  "DELETE /api/fleet/membership": { result: Done };
  "DELETE /api/fleet/pending/{id}": { path: { id: string }; result: Done };
  "DELETE /api/git/repositories/{id}": { path: { id: string }; result: Done };
  "DELETE /api/icons/uploaded/{name}": { path: { name: string }; result: Done };
  "DELETE /api/identity/oidc/{id}": { path: { id: string }; result: Done };
  "DELETE /api/images/{id}": {
    path: { id: string };
    query?: { force?: boolean };
    result: ImageDeletion;
  };
  "DELETE /api/integrations/{id}": { path: { id: string }; result: Done };
  "DELETE /api/maintenance/windows/{id}": { path: { id: string }; result: Done };
  "DELETE /api/networks/{id}": { path: { id: string }; result: NetworkDeletion };
  "DELETE /api/notifications/channels/{id}": { path: { id: string }; result: Done };
  "DELETE /api/registries/{id}": { path: { id: string }; result: Done };
  "DELETE /api/schedules/{id}": { path: { id: string }; result: Done };
  "DELETE /api/silences/{id}": { path: { id: string }; result: Done };
  "DELETE /api/stacks/{name}": { path: { name: string }; result: Done };
  "DELETE /api/stacks/{name}/file": {
    path: { name: string };
    query: { path: string };
    result: Done;
  };
  "DELETE /api/stacks/{name}/git": { path: { name: string }; result: Done };
  "DELETE /api/swarm/configs/{id}": { path: { id: string }; result: SwarmConfigDeletion };
  "DELETE /api/swarm/secrets/{id}": { path: { id: string }; result: SwarmSecretDeletion };
  "DELETE /api/takeover/{name}": { path: { name: string }; result: Done };
  "DELETE /api/tokens/{id}": { path: { id: string }; result: Done };
  "DELETE /api/updates/blocked/{id}": { path: { id: string }; result: Done };
  "DELETE /api/users/{id}/identities/{identityId}": {
    path: { id: string; identityId: string };
    result: Done;
  };
  "DELETE /api/users/{id}/mfa": { path: { id: string }; result: Done };
  "DELETE /api/users/{id}/sessions": { path: { id: string }; result: Done };
  "DELETE /api/users/{id}/sessions/{sessionId}": {
    path: { id: string; sessionId: string };
    result: Done;
  };
  "DELETE /api/volumes/{name}": { path: { name: string }; result: VolumeDeletion };
  "DELETE /api/volumes/{name}/file": {
    path: { name: string };
    query: { path: string };
    result: Done;
  };
  "DELETE /api/webhooks/{id}": { path: { id: string }; result: Done };
  "DELETE /auth/session": { result: SignedOut };
  "DELETE /auth/users/{id}": { path: { id: string }; result: Done };
  "GET /": { result: string };
  "GET /api/account": { result: Account };
  "GET /api/account/identities": { result: OwnIdentities };
  "GET /api/account/passkeys": { result: PasskeyList };
  "GET /api/account/sessions": { query?: { limit?: number; offset?: number }; result: SessionPage };
  "GET /api/account/totp": { result: Totp };
  "GET /api/alerts/active": { result: ActiveAlertList };
  "GET /api/alerts/events": { query?: { limit?: number; offset?: number }; result: AlertEventPage };
  "GET /api/alerts/events/{id}": { path: { id: string }; result: AlertEvent };
  "GET /api/alerts/metrics": { result: AlertMetricList };
  "GET /api/alerts/rules": { result: AlertRuleList };
  "GET /api/alerts/rules/{id}": { path: { id: string }; result: AlertRule };
  "GET /api/alerts/templates": { result: AlertTemplateList };
  "GET /api/audit": {
    query?: {
      actor?: string;
      action?: string;
      target?: string;
      outcome?: "success" | "failure" | "denied";
      from?: string;
      to?: string;
      limit?: number;
      offset?: number;
    };
    result: AuditPage;
  };
  "GET /api/backup/drills": {
    query?: { stack?: string; latest?: boolean };
    result: BackupDrillList;
  };
  "GET /api/backup/estimate": {
    query?: { stack?: string; volume?: string; target?: string };
    result: BackupEstimate;
  };
  "GET /api/backup/snapshots": {
    query?: { target?: string; allTargets?: boolean; stack?: string; limit?: number };
    result: BackupSnapshotList;
  };
  "GET /api/backup/snapshots/{id}": {
    path: { id: string };
    query?: { target?: string };
    result: BackupSnapshot;
  };
  "GET /api/backup/snapshots/{id}/archive": {
    path: { id: string };
    query?: { target?: string };
    result: string;
  };
  "GET /api/backup/snapshots/{id}/diff/{other}": {
    path: { id: string; other: string };
    query?: { target?: string };
    result: BackupDiff;
  };
  "GET /api/backup/snapshots/{id}/file": {
    path: { id: string };
    query: { target?: string; path: string };
    result: string;
  };
  "GET /api/backup/snapshots/{id}/files": {
    path: { id: string };
    query?: { target?: string; path?: string };
    result: BackupFileList;
  };
  "GET /api/backup/snapshots/{id}/restore-plan": {
    path: { id: string };
    query?: { target?: string; to?: "new" | "replace"; as?: string };
    result: BackupStackRestorePlan;
  };
  "GET /api/backup/stacks": { query?: { unprotected?: boolean }; result: StackBackupList };
  "GET /api/backup/targets": { result: BackupTargetList };
  "GET /api/backup/targets/{id}": { path: { id: string }; result: BackupTarget };
  "GET /api/boxes": { result: FleetBoxList };
  "GET /api/boxes/{id}": { path: { id: string }; result: FleetBox };
  "GET /api/compose/keys": { result: ComposeKeys };
  "GET /api/containers": {
    query?: { state?: ContainerState; stack?: string; name?: string };
    result: ContainerList;
  };
  "GET /api/containers/{id}": { path: { id: string }; result: ContainerDetail };
  "GET /api/containers/{id}/attach": {
    path: { id: string };
    query?: { ticket?: string };
    result: undefined;
  };
  "GET /api/containers/{id}/changes": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: FileChangeList;
  };
  "GET /api/containers/{id}/file": {
    path: { id: string };
    query: { path: string };
    result: string | undefined;
  };
  "GET /api/containers/{id}/files": {
    path: { id: string };
    query?: { path?: string };
    result: FileList;
  };
  "GET /api/containers/{id}/inspect": { path: { id: string }; result: ContainerInspection };
  "GET /api/containers/{id}/logs": {
    path: { id: string };
    query?: { tail?: number; since?: string; stdout?: boolean; stderr?: boolean };
    result: ContainerLogs;
  };
  "GET /api/containers/{id}/logs/download": {
    path: { id: string };
    query?: { since?: string; until?: string; timestamps?: boolean };
    result: string;
  };
  "GET /api/containers/{id}/logs/search": {
    path: { id: string };
    query: { q: string; regex?: boolean; context?: number };
    result: LogSearchResult;
  };
  "GET /api/containers/{id}/logs/stream": {
    path: { id: string };
    query?: {
      tail?: number;
      since?: string;
      search?: string;
      regex?: string;
      level?: ("trace" | "debug" | "info" | "warn" | "error" | "fatal")[];
      stdout?: boolean;
      stderr?: boolean;
      lastEventId?: string;
    };
    result: string;
  };
  "GET /api/containers/{id}/metrics/history": {
    path: { id: string };
    query?: { hours?: number; range?: string; from?: string; to?: string; points?: number };
    result: ContainerMetricsHistory;
  };
  "GET /api/containers/{id}/terminal": {
    path: { id: string };
    query?: { ticket?: string };
    result: undefined;
  };
  "GET /api/containers/{id}/top": { path: { id: string }; result: ProcessList };
  "GET /api/edition": { result: Edition };
  "GET /api/endpoints": { result: EndpointCheckList };
  "GET /api/events/kinds": { result: EventKindList };
  "GET /api/ext/service-enterprise/branding": { result: BrandList };
  "GET /api/ext/service-enterprise/branding/active": { result: ActiveBrand };
  "GET /api/ext/service-enterprise/branding/{id}": { path: { id: string }; result: Brand };
  "GET /api/ext/service-enterprise/compliance/config": { result: ComplianceConfig };
  "GET /api/ext/service-enterprise/compliance/export": {
    query?: { format?: "json" | "csv"; from?: string; to?: string };
    result: ComplianceExport;
  };
  "GET /api/ext/service-enterprise/compliance/logs": {
    query?: {
      category?:
        | "authentication"
        | "authorization"
        | "configuration"
        | "data"
        | "container"
        | "system"
        | "security";
      severity?: "info" | "warning" | "error" | "critical";
      actor_id?: string;
      action?: string;
      outcome?: "success" | "failure";
      q?: string;
      from?: string;
      to?: string;
      limit?: number;
      offset?: number;
    };
    result: ComplianceEntryPage;
  };
  "GET /api/ext/service-enterprise/compliance/logs/{id}": {
    path: { id: string };
    result: ComplianceEntryDetail;
  };
  "GET /api/ext/service-enterprise/compliance/stats": { result: ComplianceStats };
  "GET /api/ext/service-enterprise/encryption/audit": {
    query?: {
      event_type?: "config_updated" | "rotation_initiated" | "rotation_ended" | "audit_purged";
      limit?: number;
      offset?: number;
    };
    result: EncryptionAuditPage;
  };
  "GET /api/ext/service-enterprise/encryption/config": { result: EncryptionConfig };
  "GET /api/ext/service-enterprise/encryption/rotations": {
    query?: { limit?: number; offset?: number };
    result: KeyRotationPage;
  };
  "GET /api/ext/service-enterprise/encryption/status": { result: EncryptionStatus };
  "GET /api/ext/service-enterprise/ip-allowlist/check": {
    query?: { ip?: string; user_id?: string };
    result: IpCheck;
  };
  "GET /api/ext/service-enterprise/ip-allowlist/config": { result: IpAllowlistConfig };
  "GET /api/ext/service-enterprise/ip-allowlist/rules": { result: IpRuleList };
  "GET /api/ext/service-enterprise/ip-allowlist/rules/{id}": {
    path: { id: string };
    result: IpRule;
  };
  "GET /api/ext/service-enterprise/mtls/agents": {
    query?: { enabled?: boolean; revoked?: boolean; limit?: number; offset?: number };
    result: AgentPage;
  };
  "GET /api/ext/service-enterprise/mtls/agents/{id}": { path: { id: string }; result: Agent };
  "GET /api/ext/service-enterprise/mtls/ca": {
    query?: { limit?: number; offset?: number };
    result: CertificateAuthorityPage;
  };
  "GET /api/ext/service-enterprise/mtls/config": { result: MtlsConfig };
  "GET /api/ext/service-enterprise/mtls/verify": { result: CertificateVerdict };
  "GET /api/ext/service-enterprise/roles": {
    query?: { limit?: number; offset?: number };
    result: RolePage;
  };
  "GET /api/ext/service-enterprise/roles/users/{userId}/check": {
    path: { userId: string };
    query?: {
      resource?:
        | "*"
        | "containers"
        | "stacks"
        | "stack_sources"
        | "git"
        | "images"
        | "volumes"
        | "networks"
        | "swarm"
        | "swarm_secrets"
        | "system"
        | "alerts"
        | "registries"
        | "webhooks"
        | "notifications"
        | "schedules"
        | "integrations"
        | "backup"
        | "files"
        | "incidents"
        | "remediation"
        | "status_pages"
        | "uptime"
        | "chatops"
        | "sla"
        | "fleet"
        | "users"
        | "settings"
        | "compliance"
        | "sso"
        | "custom_roles"
        | "ip_allowlist"
        | "mtls"
        | "encryption";
      action?:
        | "*"
        | "read"
        | "start"
        | "stop"
        | "restart"
        | "pause"
        | "update"
        | "write"
        | "delete"
        | "rebuild"
        | "exec"
        | "logs"
        | "export"
        | "prune"
        | "run";
    };
    result: PermissionCheck;
  };
  "GET /api/ext/service-enterprise/roles/{id}": { path: { id: string }; result: Role };
  "GET /api/ext/service-enterprise/roles/{id}/users": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: RoleUserPage;
  };
  "GET /api/ext/service-enterprise/sso/login/{id}": {
    path: { id: string };
    query?: { relay_state?: string; RelayState?: string; return_to?: string; page?: string };
    result: string;
  };
  "GET /api/ext/service-enterprise/sso/metadata": { result: string };
  "GET /api/ext/service-enterprise/sso/providers": { result: IdentityProviderList };
  "GET /api/ext/service-enterprise/sso/providers/{id}": {
    path: { id: string };
    result: IdentityProvider;
  };
  "GET /api/ext/service-enterprise/sso/sessions": {
    query?: { limit?: number; offset?: number };
    result: SsoSessionPage;
  };
  "GET /api/ext/service-pro/chatops/channels": { result: ChatChannelList };
  "GET /api/ext/service-pro/chatops/channels/{id}": {
    path: { id: string };
    result: ChatChannelDetail;
  };
  "GET /api/ext/service-pro/chatops/channels/{id}/messages": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: ChatMessagePage;
  };
  "GET /api/ext/service-pro/incidents": {
    query?: { status?: IncidentStatus; limit?: number; offset?: number };
    result: IncidentPage;
  };
  "GET /api/ext/service-pro/incidents/{id}": { path: { id: string }; result: IncidentDetail };
  "GET /api/ext/service-pro/remediation/history": {
    query?: { limit?: number; offset?: number };
    result: RemediationHistory;
  };
  "GET /api/ext/service-pro/remediation/metrics": { result: RemediationMetricList };
  "GET /api/ext/service-pro/remediation/rules": { result: RemediationRuleList };
  "GET /api/ext/service-pro/sla/breaches": {
    query?: { limit?: number; offset?: number; sla_id?: string };
    result: SlaBreachPage;
  };
  "GET /api/ext/service-pro/sla/definitions": { result: SlaDefinitionList };
  "GET /api/ext/service-pro/sla/definitions/{id}": {
    path: { id: string };
    result: SlaDefinitionDetail;
  };
  "GET /api/ext/service-pro/sla/definitions/{id}/breaches": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: SlaBreachPage;
  };
  "GET /api/ext/service-pro/sla/definitions/{id}/budget": {
    path: { id: string };
    result: SlaBudget;
  };
  "GET /api/ext/service-pro/sla/definitions/{id}/current": {
    path: { id: string };
    result: CurrentSlaPeriod;
  };
  "GET /api/ext/service-pro/sla/definitions/{id}/periods": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: SlaPeriodPage;
  };
  "GET /api/ext/service-pro/sla/definitions/{id}/report": {
    path: { id: string };
    result: SlaReport;
  };
  "GET /api/ext/service-pro/status-pages": {
    query?: { limit?: number; offset?: number };
    result: StatusPagePage;
  };
  "GET /api/ext/service-pro/status-pages/public/{slug}": {
    path: { slug: string };
    result: PublicStatusPage;
  };
  "GET /api/ext/service-pro/status-pages/unsubscribe/{token}": {
    path: { token: string };
    result: SubscriptionResult;
  };
  "GET /api/ext/service-pro/status-pages/{pageId}": {
    path: { pageId: string };
    result: StatusPageDetail;
  };
  "GET /api/ext/service-pro/status-pages/{pageId}/components": {
    path: { pageId: string };
    result: StatusPageComponentList;
  };
  "GET /api/ext/service-pro/status-pages/{pageId}/incidents": {
    path: { pageId: string };
    query?: { status?: StatusPageIncidentStatus; limit?: number; offset?: number };
    result: StatusPageIncidentPage;
  };
  "GET /api/ext/service-pro/status-pages/{pageId}/maintenances": {
    path: { pageId: string };
    query?: { limit?: number; offset?: number };
    result: StatusPageMaintenanceList;
  };
  "GET /api/ext/service-pro/status-pages/{pageId}/subscribers": {
    path: { pageId: string };
    query?: { limit?: number; offset?: number };
    result: SubscriberPage;
  };
  "GET /api/ext/service-pro/status-pages/{pageId}/subscribers/verify/{token}": {
    path: { pageId: string; token: string };
    result: SubscriptionConfirmation;
  };
  "GET /api/ext/service-pro/uptime/incidents": {
    query?: { monitor_id?: string; status?: "open" | "resolved"; limit?: number; offset?: number };
    result: OutagePage;
  };
  "GET /api/ext/service-pro/uptime/monitors": { result: MonitorList };
  "GET /api/ext/service-pro/uptime/monitors/{id}": { path: { id: string }; result: Monitor };
  "GET /api/ext/service-pro/uptime/monitors/{id}/checks": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: MonitorCheckPage;
  };
  "GET /api/ext/service-pro/uptime/monitors/{id}/incidents": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: OutagePage;
  };
  "GET /api/ext/service-pro/uptime/monitors/{id}/stats": {
    path: { id: string };
    result: MonitorStats;
  };
  "GET /api/feed": { result: string };
  "GET /api/fleet/alerts": {
    query?: { search?: string; host?: string; label?: string; limit?: number; offset?: number };
    result: FleetAlertList;
  };
  "GET /api/fleet/blocked": { result: FleetBlockedImageList };
  "GET /api/fleet/containers": {
    query?: { search?: string; host?: string; label?: string; limit?: number; offset?: number };
    result: FleetContainerList;
  };
  "GET /api/fleet/hosts": { result: FleetHostList };
  "GET /api/fleet/hosts/{id}": { path: { id: string }; result: FleetHost };
  "GET /api/fleet/hosts/{id}/api/{path}": {
    path: { id: string; path: string };
    result: HostAnswer;
  };
  "GET /api/fleet/invites": { result: FleetInviteList };
  "GET /api/fleet/logs/stream": {
    query: {
      container: (string)[];
      tail?: number;
      since?: string;
      search?: string;
      regex?: string;
      level?: ("trace" | "debug" | "info" | "warn" | "error" | "fatal")[];
      stdout?: boolean;
      stderr?: boolean;
      lastEventId?: string;
    };
    result: string;
  };
  "GET /api/fleet/membership": { result: FleetMembershipState };
  "GET /api/fleet/overview": { result: FleetOverview };
  "GET /api/fleet/pending": { result: FleetPendingList };
  "GET /api/fleet/stacks": {
    query?: { search?: string; host?: string; label?: string; limit?: number; offset?: number };
    result: FleetStackList;
  };
  "GET /api/fleet/targets": { result: FleetMetricsTargetList };
  "GET /api/fleet/updates": {
    query?: { search?: string; host?: string; label?: string; limit?: number; offset?: number };
    result: FleetUpdateList;
  };
  "GET /api/fleet/waves": { result: FleetWaves };
  "GET /api/git/repositories": { result: GitRepositoryList };
  "GET /api/git/repositories/{id}": { path: { id: string }; result: GitRepository };
  "GET /api/health": { result: Health };
  "GET /api/icons": { result: IconList };
  "GET /api/icons/uploaded": { result: UploadedIconList };
  "GET /api/identity/oidc": { result: OidcProviderList };
  "GET /api/identity/oidc/{id}": { path: { id: string }; result: OidcProvider };
  "GET /api/identity/oidc/{id}/test": { path: { id: string }; result: OidcTestResult };
  "GET /api/images": { result: ImageList };
  "GET /api/images/{id}": { path: { id: string }; result: ImageDetail };
  "GET /api/images/{id}/export": { path: { id: string }; result: string };
  "GET /api/integrations": { result: IntegrationList };
  "GET /api/integrations/adapters": { result: AdapterList };
  "GET /api/integrations/{id}": { path: { id: string }; result: Integration };
  "GET /api/integrations/{id}/data": {
    path: { id: string };
    query?: {
      type?: "metric" | "alert" | "event";
      since?: string;
      until?: string;
      limit?: number;
      offset?: number;
    };
    result: IntegrationData;
  };
  "GET /api/jobs": {
    query?: {
      kind?: (string)[];
      status?:
        | "queued"
        | "running"
        | "succeeded"
        | "failed"
        | "rolled_back"
        | "needs_attention"
        | "cancelled";
      target?: string;
      limit?: number;
      cursor?: string;
    };
    result: JobList;
  };
  "GET /api/jobs/kinds": { result: JobKindList };
  "GET /api/jobs/{id}": { path: { id: string }; result: Job };
  "GET /api/jobs/{id}/stream": { path: { id: string }; result: string };
  "GET /api/logs/stream": {
    query: {
      container: (string)[];
      tail?: number;
      since?: string;
      search?: string;
      regex?: string;
      level?: ("trace" | "debug" | "info" | "warn" | "error" | "fatal")[];
      stdout?: boolean;
      stderr?: boolean;
      lastEventId?: string;
    };
    result: string;
  };
  "GET /api/maintenance": { result: Maintenance };
  "GET /api/maintenance/windows": { result: MaintenanceWindowList };
  "GET /api/metrics/history": {
    query?: { hours?: number; range?: string; from?: string; to?: string; points?: number };
    result: MetricsHistory;
  };
  "GET /api/networks": { result: NetworkList };
  "GET /api/notifications/channels": { result: NotificationChannelList };
  "GET /api/notifications/channels/{id}": { path: { id: string }; result: NotificationChannel };
  "GET /api/notifications/channels/{id}/deliveries": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: NotificationDeliveryPage;
  };
  "GET /api/notifications/kinds": { result: ChannelKindList };
  "GET /api/overview": { result: Overview };
  "GET /api/registries": { result: RegistryList };
  "GET /api/registries/{id}": { path: { id: string }; result: Registry };
  "GET /api/schedules": { result: ScheduleList };
  "GET /api/schedules/history": {
    query?: { limit?: number; offset?: number };
    result: ScheduleHistory;
  };
  "GET /api/schedules/kinds": { result: ScheduleKindList };
  "GET /api/schedules/{id}": { path: { id: string }; result: Schedule };
  "GET /api/sessions": {
    query?: { limit?: number; offset?: number; user?: string };
    result: UserSessionPage;
  };
  "GET /api/setup/guide": { result: SetupGuide };
  "GET /api/setup/progress": { result: SetupProgress };
  "GET /api/silences": { result: SilenceList };
  "GET /api/ssl": { result: CertificateCheckList };
  "GET /api/stacks": { result: StackList };
  "GET /api/stacks/{name}": {
    path: { name: string };
    query?: { kind?: "compose" | "swarm" };
    result: StackDetail;
  };
  "GET /api/stacks/{name}/file": {
    path: { name: string };
    query: { path: string };
    result: string | undefined;
  };
  "GET /api/stacks/{name}/files": {
    path: { name: string };
    query?: { path?: string };
    result: FileList;
  };
  "GET /api/stacks/{name}/git": { path: { name: string }; result: StackGitState };
  "GET /api/stacks/{name}/logs/stream": {
    path: { name: string };
    query?: {
      tail?: number;
      since?: string;
      search?: string;
      regex?: string;
      level?: ("trace" | "debug" | "info" | "warn" | "error" | "fatal")[];
      stdout?: boolean;
      stderr?: boolean;
      lastEventId?: string;
    };
    result: string;
  };
  "GET /api/stacks/{name}/source": { path: { name: string }; result: StackSource };
  "GET /api/stacks/{name}/versions": { path: { name: string }; result: StackVersionList };
  "GET /api/stacks/{name}/versions/{version}": {
    path: { name: string; version: number };
    result: StackSource;
  };
  "GET /api/stacks/{name}/versions/{version}/diff/{other}": {
    path: { name: string; version: number; other: number };
    result: StackDiff;
  };
  "GET /api/stream": {
    query?: {
      types?: ("metrics" | "overview" | "containers" | "alerts" | "monitors" | "event" | "job")[];
      hosts?: (string)[];
      lastEventId?: string;
    };
    result: string;
  };
  "GET /api/swarm": { result: Swarm };
  "GET /api/swarm/configs": { result: SwarmConfigList };
  "GET /api/swarm/nodes": { result: SwarmNodeList };
  "GET /api/swarm/nodes/{id}": { path: { id: string }; result: SwarmNode };
  "GET /api/swarm/nodes/{id}/tasks": { path: { id: string }; result: SwarmTaskList };
  "GET /api/swarm/secrets": { result: SwarmSecretList };
  "GET /api/swarm/services": { result: SwarmServiceList };
  "GET /api/swarm/services/{id}": { path: { id: string }; result: SwarmServiceDetail };
  "GET /api/swarm/services/{id}/logs": {
    path: { id: string };
    query?: { tail?: number; since?: string };
    result: SwarmServiceLogs;
  };
  "GET /api/swarm/services/{id}/logs/stream": {
    path: { id: string };
    query?: { tail?: number; since?: string; lastEventId?: string };
    result: string;
  };
  "GET /api/swarm/services/{id}/tasks": { path: { id: string }; result: SwarmTaskList };
  "GET /api/swarm/tokens": { result: SwarmTokens };
  "GET /api/system/disk": { result: DiskUsage };
  "GET /api/system/docker": { result: Engine };
  "GET /api/system/metrics": { result: HostMetrics };
  "GET /api/takeover": { query?: { refresh?: boolean }; result: Takeover | TakeoverScan };
  "GET /api/tokens": { query?: { all?: boolean }; result: ApiTokenList };
  "GET /api/updates": {
    query?: {
      status?: "up_to_date" | "update_available" | "pulled" | "pinned" | "local" | "unknown";
    };
    result: ImageUpdateList;
  };
  "GET /api/updates/blocked": { result: BlockedUpdateList };
  "GET /api/updates/settings": { result: UpdateSettings };
  "GET /api/users/{id}/identities": { path: { id: string }; result: IdentityList };
  "GET /api/users/{id}/sessions": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: SessionPage;
  };
  "GET /api/volumes": { result: VolumeList };
  "GET /api/volumes/{name}/file": {
    path: { name: string };
    query: { path: string };
    result: string | undefined;
  };
  "GET /api/volumes/{name}/files": {
    path: { name: string };
    query?: { path?: string };
    result: FileList;
  };
  "GET /api/webhooks": { result: WebhookList };
  "GET /api/webhooks/{id}": { path: { id: string }; result: Webhook };
  "GET /api/webhooks/{id}/deliveries": {
    path: { id: string };
    query?: { limit?: number; offset?: number };
    result: WebhookDeliveryPage;
  };
  "GET /auth/me": { result: CurrentUser };
  "GET /auth/oidc/callback": {
    query?: { code?: string; state?: string; iss?: string; error?: string };
    result: string;
  };
  "GET /auth/oidc/{id}/callback": {
    path: { id: string };
    query?: { code?: string; state?: string; iss?: string; error?: string };
    result: string;
  };
  "GET /auth/oidc/{id}/login": {
    path: { id: string };
    query?: { returnTo?: string; page?: string };
    result: undefined;
  };
  "GET /auth/providers": { result: SignInMethods };
  "GET /auth/setup": { result: SetupState };
  "GET /auth/users": { result: UserList };
  "GET /docs": { result: string };
  "GET /fleet/hub": { result: undefined };
  "GET /fleet/link": { result: undefined };
  "GET /health": { result: ShortHealth };
  "GET /livez": { result: Liveness };
  "GET /metrics": { result: string };
  "GET /metrics/federate": { query: { host: string }; result: string };
  "GET /openapi.json": { result: OpenApiDocument };
  "GET /readyz": { result: Liveness };
  "GET /status/{slug}": { path: { slug: string }; result: string };
  "GET /status/{slug}/badge.svg": { path: { slug: string }; result: string };
  "GET /status/{slug}/feed.atom": { path: { slug: string }; result: string };
  "GET /status/{slug}/subscribe": { path: { slug: string }; result: string };
  "POST /api/account/passkeys": { body: NewPasskey; result: AddedPasskey };
  "POST /api/account/passkeys/options": { result: PasskeyCreationOptions };
  "POST /api/account/totp": { result: TotpSetup };
  "POST /api/account/totp/confirm": { body: TotpCode; result: RecoveryCodes };
  "POST /api/alerts/events/{id}/acknowledge": {
    path: { id: string };
    body: AlertAcknowledgement | undefined;
    result: AlertEvent;
  };
  "POST /api/alerts/rules": { body: NewAlertRule; result: AlertRule };
  "POST /api/alerts/rules/test": { body: NewAlertRule; result: AlertRuleTest };
  "POST /api/backup": { result: string };
  "POST /api/backup/drills": { body: BackupDrillRequest; result: Job };
  "POST /api/backup/own": { body: OwnBackupRequest; result: Job };
  "POST /api/backup/own/{id}/download": {
    path: { id: string };
    query?: { target?: string };
    result: string;
  };
  "POST /api/backup/snapshots": { body: BackupRequest | undefined; result: Job };
  "POST /api/backup/snapshots/receive": {
    query: { snapshot: string; size?: number; target?: string };
    result: ReceivedBackupSnapshot;
  };
  "POST /api/backup/snapshots/{id}/restore": {
    path: { id: string };
    body: BackupRestoreRequest;
    result: Job;
  };
  "POST /api/backup/snapshots/{id}/send": {
    path: { id: string };
    body: BackupSendRequest;
    result: Job;
  };
  "POST /api/backup/targets": { body: NewBackupTarget; result: EstablishedBackupTarget };
  "POST /api/backup/targets/{id}/check": {
    path: { id: string };
    body: BackupTargetCheck | undefined;
    result: Job;
  };
  "POST /api/backup/targets/{id}/forget": {
    path: { id: string };
    body: BackupKeepRules | undefined;
    result: Job;
  };
  "POST /api/backup/targets/{id}/prune": {
    path: { id: string };
    body: BackupTargetPrune | undefined;
    result: Job;
  };
  "POST /api/backup/targets/{id}/test": { path: { id: string }; result: BackupTargetTest };
  "POST /api/backup/targets/{id}/unlock": {
    path: { id: string };
    body: BackupTargetUnlock | undefined;
    result: Job;
  };
  "POST /api/boxes": { body: NewFleetBox; result: FleetBox };
  "POST /api/containers/bulk": { body: BulkAction; result: BulkActionResult };
  "POST /api/containers/{id}/attach/ticket": {
    path: { id: string };
    body: TerminalSize;
    result: TerminalTicket;
  };
  "POST /api/containers/{id}/exec": { path: { id: string }; body: ExecCommand; result: ExecResult };
  "POST /api/containers/{id}/files/folder": { path: { id: string }; body: NewFolder; result: Done };
  "POST /api/containers/{id}/files/rename": {
    path: { id: string };
    body: FileRename;
    result: Done;
  };
  "POST /api/containers/{id}/kill": {
    path: { id: string };
    body: KillOptions | undefined;
    result: ContainerActionResult;
  };
  "POST /api/containers/{id}/pause": { path: { id: string }; result: ContainerActionResult };
  "POST /api/containers/{id}/rebuild": {
    path: { id: string };
    body: RebuildOptions | undefined;
    result: RebuildResult;
  };
  "POST /api/containers/{id}/rename": {
    path: { id: string };
    body: NewName;
    result: ContainerActionResult;
  };
  "POST /api/containers/{id}/restart": {
    path: { id: string };
    query?: { t?: number };
    result: ContainerActionResult;
  };
  "POST /api/containers/{id}/rollback": {
    path: { id: string };
    body: ContainerRollback | undefined;
    result: Job;
  };
  "POST /api/containers/{id}/start": { path: { id: string }; result: ContainerActionResult };
  "POST /api/containers/{id}/stop": {
    path: { id: string };
    query?: { t?: number };
    result: ContainerActionResult;
  };
  "POST /api/containers/{id}/terminal/ticket": {
    path: { id: string };
    body: TerminalOptions;
    result: TerminalTicket;
  };
  "POST /api/containers/{id}/unpause": { path: { id: string }; result: ContainerActionResult };
  "POST /api/containers/{id}/update": {
    path: { id: string };
    query?: { plan?: boolean };
    body: ContainerUpdate | undefined;
    result: ContainerUpdatePlan | Job;
  };
  "POST /api/edition/license": { body: LicenseKey; result: EditionChange };
  "POST /api/edition/trial": { result: EditionChange };
  "POST /api/ext/service-enterprise/branding": { body: NewBrand; result: Brand };
  "POST /api/ext/service-enterprise/compliance/logs": {
    body: NewComplianceEntry;
    result: ComplianceEntry;
  };
  "POST /api/ext/service-enterprise/compliance/verify-chain": {
    body: ChainVerificationOptions | undefined;
    result: ChainVerification;
  };
  "POST /api/ext/service-enterprise/encryption/rotate-key": {
    body: NewKeyRotation | undefined;
    result: StartedKeyRotation;
  };
  "POST /api/ext/service-enterprise/ip-allowlist/rules": { body: NewIpRule; result: IpRule };
  "POST /api/ext/service-enterprise/mtls/agents": { body: NewAgent; result: Agent };
  "POST /api/ext/service-enterprise/mtls/ca": {
    body: NewCertificateAuthority;
    result: CertificateAuthority;
  };
  "POST /api/ext/service-enterprise/mtls/verify": {
    body: CertificateVerification | undefined;
    result: CertificateVerdict;
  };
  "POST /api/ext/service-enterprise/roles": { body: NewRole; result: Role };
  "POST /api/ext/service-enterprise/roles/{id}/users": {
    path: { id: string };
    body: RoleAssignment;
    result: RoleAssignmentResult;
  };
  "POST /api/ext/service-enterprise/sso/acs": { result: SsoLoginResult };
  "POST /api/ext/service-enterprise/sso/providers": {
    body: NewIdentityProvider;
    result: IdentityProvider;
  };
  "POST /api/ext/service-pro/chatops/channels": { body: NewChatChannel; result: ChatChannel };
  "POST /api/ext/service-pro/chatops/channels/{id}/test": {
    path: { id: string };
    result: ChatTest;
  };
  "POST /api/ext/service-pro/chatops/dispatch": { body: ChatDispatch; result: ChatDispatchResult };
  "POST /api/ext/service-pro/incidents": { body: NewIncident; result: Incident };
  "POST /api/ext/service-pro/incidents/{id}/timeline": {
    path: { id: string };
    body: NewTimelineEntry;
    result: TimelineEntry;
  };
  "POST /api/ext/service-pro/remediation/rules": {
    body: NewRemediationRule;
    result: RemediationRule;
  };
  "POST /api/ext/service-pro/sla/definitions": { body: NewSlaDefinition; result: SlaDefinition };
  "POST /api/ext/service-pro/sla/definitions/{id}/recalculate": {
    path: { id: string };
    result: SlaPeriod;
  };
  "POST /api/ext/service-pro/status-pages": { body: NewStatusPage; result: StatusPage };
  "POST /api/ext/service-pro/status-pages/unsubscribe/{token}": {
    path: { token: string };
    result: SubscriptionResult;
  };
  "POST /api/ext/service-pro/status-pages/{pageId}/components": {
    path: { pageId: string };
    body: NewStatusPageComponent;
    result: StatusPageComponent;
  };
  "POST /api/ext/service-pro/status-pages/{pageId}/incidents": {
    path: { pageId: string };
    body: NewStatusPageIncident;
    result: StatusPageIncident;
  };
  "POST /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}/updates": {
    path: { pageId: string; incId: string };
    body: NewStatusPageIncidentUpdate;
    result: StatusPageIncident;
  };
  "POST /api/ext/service-pro/status-pages/{pageId}/maintenances": {
    path: { pageId: string };
    body: NewStatusPageMaintenance;
    result: StatusPageMaintenance;
  };
  "POST /api/ext/service-pro/status-pages/{pageId}/subscribers": {
    path: { pageId: string };
    body: NewSubscriber;
    result: CreatedSubscriber;
  };
  "POST /api/ext/service-pro/uptime/monitors": { body: NewMonitor; result: Monitor };
  "POST /api/ext/service-pro/uptime/monitors/{id}/check": {
    path: { id: string };
    result: MonitorCheck;
  };
  "POST /api/ext/service-pro/uptime/monitors/{id}/pause": { path: { id: string }; result: Monitor };
  "POST /api/ext/service-pro/uptime/monitors/{id}/resume": {
    path: { id: string };
    result: Monitor;
  };
  "POST /api/fleet/hosts": { body: NewFleetHost; result: FleetHost };
  "POST /api/fleet/hosts/{id}/accept": { path: { id: string }; result: FleetHost };
  "POST /api/fleet/hosts/{id}/api/{path}": {
    path: { id: string; path: string };
    body: HostRequest | undefined;
    result: HostAnswer | FleetPending;
  };
  "POST /api/fleet/invites": { body: NewFleetInvite | undefined; result: CreatedFleetInvite };
  "POST /api/fleet/run": { query?: { plan?: boolean }; body: FleetRun; result: FleetRunPlan | Job };
  "POST /api/git/repositories": { body: NewGitRepository; result: GitRepositoryWithSecret };
  "POST /api/git/repositories/{id}/fetch": { path: { id: string }; result: GitRepository };
  "POST /api/git/repositories/{id}/test": { path: { id: string }; result: GitRepositoryTest };
  "POST /api/icons/uploaded": { body: NewIcon; result: UploadedIcon };
  "POST /api/identity/oidc": { body: NewOidcProvider; result: OidcProvider };
  "POST /api/identity/oidc/{id}/test": { path: { id: string }; result: OidcTest };
  "POST /api/images/load": { result: LoadedImages };
  "POST /api/images/prune": { result: ImagePruneResult };
  "POST /api/images/pull": { body: ImagePull; result: Job };
  "POST /api/images/{id}/tag": { path: { id: string }; body: ImageTag; result: TaggedImage };
  "POST /api/integrations": { body: NewIntegration; result: Integration };
  "POST /api/integrations/{id}/poll": { path: { id: string }; result: IntegrationPoll };
  "POST /api/integrations/{id}/test": { path: { id: string }; result: IntegrationTest };
  "POST /api/jobs/{id}/cancel": { path: { id: string }; result: Job };
  "POST /api/maintenance": { body: MaintenanceChange; result: Maintenance };
  "POST /api/maintenance/windows": { body: NewMaintenanceWindow; result: MaintenanceWindow };
  "POST /api/networks": { body: NewNetwork; result: Network };
  "POST /api/notifications/channels": { body: NewNotificationChannel; result: NotificationChannel };
  "POST /api/notifications/channels/{id}/test": {
    path: { id: string };
    result: QueuedNotification;
  };
  "POST /api/notifications/deliveries/{id}/replay": {
    path: { id: string };
    result: QueuedNotification;
  };
  "POST /api/push/register": { body: PushDevice; result: Done };
  "POST /api/push/unregister": { body: RegisteredDevice; result: Done };
  "POST /api/registries": { body: NewRegistry; result: Registry };
  "POST /api/registries/{id}/test": { path: { id: string }; result: RegistryTest };
  "POST /api/schedules": { body: NewSchedule; result: Schedule };
  "POST /api/settings/users-mode": { body: UsersMode; result: User };
  "POST /api/silences": { body: NewSilence; result: Silence };
  "POST /api/stacks": { body: NewStack; result: CreatedStack };
  "POST /api/stacks/convert": { body: StackConversion; result: ConvertedCommand };
  "POST /api/stacks/generate": { body: StackGeneration; result: GeneratedStack };
  "POST /api/stacks/validate": { body: StackSourcesToValidate; result: StackValidation };
  "POST /api/stacks/{name}/adopt": {
    path: { name: string };
    body: StackAdoption | undefined;
    result: StackAdoptionResult;
  };
  "POST /api/stacks/{name}/deploy": {
    path: { name: string };
    query?: { plan?: boolean };
    body: StackDeploy | undefined;
    result: StackDeployPlan | Job;
  };
  "POST /api/stacks/{name}/down": {
    path: { name: string };
    body: StackDown | undefined;
    result: Job;
  };
  "POST /api/stacks/{name}/files/folder": { path: { name: string }; body: NewFolder; result: Done };
  "POST /api/stacks/{name}/files/rename": {
    path: { name: string };
    body: FileRename;
    result: Done;
  };
  "POST /api/stacks/{name}/git/discard": { path: { name: string }; result: StackGit };
  "POST /api/stacks/{name}/plan": {
    path: { name: string };
    body: StackPlanOptions | undefined;
    result: StackPlan;
  };
  "POST /api/stacks/{name}/restart": {
    path: { name: string };
    query?: { kind?: "compose" | "swarm" };
    result: StackActionReport;
  };
  "POST /api/stacks/{name}/rollback": {
    path: { name: string };
    body: StackRollback | undefined;
    result: Job;
  };
  "POST /api/stacks/{name}/start": {
    path: { name: string };
    query?: { kind?: "compose" | "swarm" };
    result: StackActionReport;
  };
  "POST /api/stacks/{name}/stop": {
    path: { name: string };
    query?: { kind?: "compose" | "swarm" };
    result: StackActionReport;
  };
  "POST /api/stacks/{name}/update": {
    path: { name: string };
    query?: { plan?: boolean };
    body: StackUpdate | undefined;
    result: StackUpdatePlan | Job;
  };
  "POST /api/stream/ticket": { result: StreamTicket };
  "POST /api/swarm/configs": { body: NewSwarmValue; result: SwarmValue };
  "POST /api/swarm/configs/{id}/rotate": { path: { id: string }; body: SwarmRotation; result: Job };
  "POST /api/swarm/secrets": { body: NewSwarmValue; result: SwarmValue };
  "POST /api/swarm/secrets/{id}/rotate": { path: { id: string }; body: SwarmRotation; result: Job };
  "POST /api/swarm/services/{id}/restart": { path: { id: string }; result: Job };
  "POST /api/swarm/services/{id}/rollback": { path: { id: string }; result: Job };
  "POST /api/swarm/services/{id}/scale": { path: { id: string }; body: SwarmScale; result: Job };
  "POST /api/swarm/services/{id}/update": {
    path: { id: string };
    body: SwarmServiceUpdate | undefined;
    result: Job;
  };
  "POST /api/swarm/tokens/rotate": { body: SwarmTokenRotation; result: SwarmTokens };
  "POST /api/system/prune": { body: PruneOptions | undefined; result: PruneResult };
  "POST /api/takeover": { body: TakeoverRequest | undefined; result: Job };
  "POST /api/tokens": { body: NewApiToken; result: IssuedApiToken };
  "POST /api/tokens/{id}/rotate": { path: { id: string }; result: IssuedApiToken };
  "POST /api/updates/check": { body: UpdateCheck | undefined; result: Job };
  "POST /api/volumes": { body: NewVolume; result: Volume };
  "POST /api/volumes/{name}/files/folder": {
    path: { name: string };
    body: NewFolder;
    result: Done;
  };
  "POST /api/volumes/{name}/files/rename": {
    path: { name: string };
    body: FileRename;
    result: Done;
  };
  "POST /api/webhooks": { body: NewWebhook; result: CreatedWebhook };
  "POST /api/webhooks/deliveries/{id}/replay": { path: { id: string }; result: WebhookTest };
  "POST /api/webhooks/{id}/test": { path: { id: string }; result: WebhookTest };
  "POST /auth/login": { body: PasswordLogin; result: LoginResult };
  "POST /auth/logout": { result: Done };
  "POST /auth/mfa": { body: SecondFactor; result: CompletedSignIn };
  "POST /auth/oidc/backchannel-logout": { result: Done };
  "POST /auth/passkey": { body: PasskeyLogin; result: BrowserSession };
  "POST /auth/passkey/options": { body: PasskeyRequest | undefined; result: PasskeyRequestOptions };
  "POST /auth/refresh": { body: TokenRefresh; result: TokenPair };
  "POST /auth/session": { body: Credentials; result: SignInResult };
  "POST /auth/session/refresh": { result: BrowserSession };
  "POST /auth/setup": { body: Setup; result: SetupResult };
  "POST /auth/token": { body: ApiKeyLogin; result: TokenPair };
  "POST /auth/users": { body: NewUser; result: User };
  "POST /auth/users/{id}/email/confirm": {
    path: { id: string };
    body: EmailConfirmation;
    result: User;
  };
  "POST /hooks/git/{token}": { path: { token: string }; body: string; result: AcceptedGitWebhook };
  "POST /status/{slug}/subscribe": { path: { slug: string }; result: string };
  "PUT /api/account": { body: AccountUpdate | undefined; result: Account };
  "PUT /api/account/passkeys/{id}": { path: { id: string }; body: PasskeyName; result: Passkey };
  "PUT /api/account/password": { body: OwnPasswordChange; result: Done };
  "PUT /api/alerts/rules/{id}": {
    path: { id: string };
    body: AlertRuleChanges | undefined;
    result: AlertRule;
  };
  "PUT /api/alerts/rules/{id}/toggle": {
    path: { id: string };
    body: EnabledBody;
    result: AlertRule;
  };
  "PUT /api/backup/stacks/{name}/mode": {
    path: { name: string };
    body: BackupModeSetting;
    result: Done;
  };
  "PUT /api/backup/targets/{id}": {
    path: { id: string };
    body: BackupTargetChanges | undefined;
    result: EstablishedBackupTarget;
  };
  "PUT /api/containers/{id}/file": {
    path: { id: string };
    query: { path: string };
    result: WrittenFile;
  };
  "PUT /api/containers/{id}/limits": {
    path: { id: string };
    body: ContainerLimits;
    result: ContainerDetail;
  };
  "PUT /api/ext/service-enterprise/branding/{id}": {
    path: { id: string };
    body: BrandChanges | undefined;
    result: Brand;
  };
  "PUT /api/ext/service-enterprise/branding/{id}/activate": { path: { id: string }; result: Brand };
  "PUT /api/ext/service-enterprise/compliance/config": {
    body: ComplianceConfigChanges | undefined;
    result: ComplianceConfig;
  };
  "PUT /api/ext/service-enterprise/encryption/config": {
    body: EncryptionConfigChanges | undefined;
    result: EncryptionConfig;
  };
  "PUT /api/ext/service-enterprise/encryption/rotations/{id}": {
    path: { id: string };
    body: KeyRotationResult;
    result: KeyRotation;
  };
  "PUT /api/ext/service-enterprise/ip-allowlist/config": {
    body: IpAllowlistConfigChanges | undefined;
    result: IpAllowlistConfig;
  };
  "PUT /api/ext/service-enterprise/ip-allowlist/rules/{id}": {
    path: { id: string };
    body: IpRuleChanges | undefined;
    result: IpRule;
  };
  "PUT /api/ext/service-enterprise/ip-allowlist/rules/{id}/toggle": {
    path: { id: string };
    body: ToggleBody | undefined;
    result: IpRule;
  };
  "PUT /api/ext/service-enterprise/mtls/agents/{id}": {
    path: { id: string };
    body: AgentChanges | undefined;
    result: Agent;
  };
  "PUT /api/ext/service-enterprise/mtls/agents/{id}/toggle": {
    path: { id: string };
    body: ToggleBody | undefined;
    result: Agent;
  };
  "PUT /api/ext/service-enterprise/mtls/config": {
    body: MtlsConfigChanges | undefined;
    result: MtlsConfig;
  };
  "PUT /api/ext/service-enterprise/roles/{id}": {
    path: { id: string };
    body: RoleChanges | undefined;
    result: Role;
  };
  "PUT /api/ext/service-enterprise/sso/providers/{id}": {
    path: { id: string };
    body: IdentityProviderChanges | undefined;
    result: IdentityProvider;
  };
  "PUT /api/ext/service-enterprise/sso/providers/{id}/toggle": {
    path: { id: string };
    body: ToggleBody | undefined;
    result: IdentityProvider;
  };
  "PUT /api/ext/service-pro/chatops/channels/{id}": {
    path: { id: string };
    body: ChatChannelChanges | undefined;
    result: ChatChannel;
  };
  "PUT /api/ext/service-pro/incidents/{id}": {
    path: { id: string };
    body: IncidentChanges | undefined;
    result: Incident;
  };
  "PUT /api/ext/service-pro/incidents/{id}/status": {
    path: { id: string };
    body: IncidentStatusChange;
    result: Incident;
  };
  "PUT /api/ext/service-pro/remediation/rules/{id}": {
    path: { id: string };
    body: RemediationRuleChanges | undefined;
    result: RemediationRule;
  };
  "PUT /api/ext/service-pro/remediation/rules/{id}/toggle": {
    path: { id: string };
    body: EnabledBody;
    result: RemediationRule;
  };
  "PUT /api/ext/service-pro/sla/definitions/{id}": {
    path: { id: string };
    body: SlaDefinitionChanges | undefined;
    result: SlaDefinition;
  };
  "PUT /api/ext/service-pro/status-pages/{pageId}": {
    path: { pageId: string };
    body: StatusPageChanges | undefined;
    result: StatusPage;
  };
  "PUT /api/ext/service-pro/status-pages/{pageId}/components/{compId}": {
    path: { pageId: string; compId: string };
    body: StatusPageComponentChanges | undefined;
    result: StatusPageComponent;
  };
  "PUT /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}": {
    path: { pageId: string; incId: string };
    body: StatusPageIncidentChanges | undefined;
    result: StatusPageIncident;
  };
  "PUT /api/ext/service-pro/status-pages/{pageId}/maintenances/{maintenanceId}": {
    path: { pageId: string; maintenanceId: string };
    body: StatusPageMaintenanceChanges | undefined;
    result: StatusPageMaintenance;
  };
  "PUT /api/ext/service-pro/uptime/monitors/{id}": {
    path: { id: string };
    body: MonitorChanges | undefined;
    result: Monitor;
  };
  "PUT /api/fleet/hosts/{id}": {
    path: { id: string };
    body: FleetHostChanges | undefined;
    result: FleetHost;
  };
  "PUT /api/fleet/hosts/{id}/api/{path}": {
    path: { id: string; path: string };
    body: HostRequest | undefined;
    result: HostAnswer | FleetPending;
  };
  "PUT /api/fleet/waves": { body: FleetWaveChanges | undefined; result: FleetWaves };
  "PUT /api/git/repositories/{id}": {
    path: { id: string };
    body: GitRepositoryChanges | undefined;
    result: GitRepositoryWithSecret;
  };
  "PUT /api/identity/oidc/{id}": {
    path: { id: string };
    body: OidcProviderChanges | undefined;
    result: OidcProvider;
  };
  "PUT /api/integrations/{id}": {
    path: { id: string };
    body: IntegrationChanges | undefined;
    result: Integration;
  };
  "PUT /api/maintenance/windows/{id}": {
    path: { id: string };
    body: MaintenanceWindowChanges | undefined;
    result: MaintenanceWindow;
  };
  "PUT /api/notifications/channels/{id}": {
    path: { id: string };
    body: NotificationChannelChanges | undefined;
    result: NotificationChannel;
  };
  "PUT /api/notifications/channels/{id}/toggle": {
    path: { id: string };
    body: EnabledBody;
    result: NotificationChannel;
  };
  "PUT /api/registries/{id}": {
    path: { id: string };
    body: RegistryChanges | undefined;
    result: Registry;
  };
  "PUT /api/schedules/{id}": {
    path: { id: string };
    body: ScheduleChanges | undefined;
    result: Schedule;
  };
  "PUT /api/schedules/{id}/toggle": { path: { id: string }; body: EnabledBody; result: Schedule };
  "PUT /api/setup/guide": { body: SetupGuide; result: SetupGuide };
  "PUT /api/silences/{id}": {
    path: { id: string };
    body: SilenceChanges | undefined;
    result: Silence;
  };
  "PUT /api/stacks/{name}/file": {
    path: { name: string };
    query: { path: string };
    result: WrittenFile;
  };
  "PUT /api/stacks/{name}/git": { path: { name: string }; body: StackGitSource; result: StackGit };
  "PUT /api/stacks/{name}/source": {
    path: { name: string };
    body: StackSourceChange;
    result: StackSourceVersion;
  };
  "PUT /api/swarm/nodes/{id}": {
    path: { id: string };
    body: SwarmNodeChange | undefined;
    result: SwarmNode;
  };
  "PUT /api/updates/settings": { body: UpdateSettingsChanges | undefined; result: UpdateSettings };
  "PUT /api/volumes/{name}/file": {
    path: { name: string };
    query: { path: string };
    result: WrittenFile;
  };
  "PUT /api/webhooks/{id}": {
    path: { id: string };
    body: WebhookChanges | undefined;
    result: Webhook;
  };
  "PUT /api/webhooks/{id}/toggle": { path: { id: string }; body: EnabledBody; result: Webhook };
  "PUT /auth/users/{id}/password": { path: { id: string }; body: PasswordChange; result: User };
  "PUT /auth/users/{id}/role": { path: { id: string }; body: UserRoleBody; result: User };
}
