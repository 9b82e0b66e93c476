/**
 * Default of EXEC_ALLOWLIST: read-only diagnostics.
 *
 * @module
 */

/** An entry that ends with ` *` allows further arguments; all others are exact. */
export const DEFAULT_EXEC_ALLOWLIST: readonly string[] = [
  "cat /etc/hostname",
  "cat /etc/hosts",
  "cat /etc/os-release",
  "cat /etc/resolv.conf",
  "date",
  "date -u",
  "df",
  "df -h",
  "free",
  "free -m",
  "hostname",
  "id",
  "ip addr",
  "ip route",
  "ls",
  "ls *",
  "netstat -tln",
  "netstat -tlnp",
  "nginx -t",
  "nginx -v",
  "ps",
  "ps aux",
  "ps -ef",
  "pwd",
  "ss -tln",
  "ss -tlnp",
  "top -b -n 1",
  "uname -a",
  "uptime",
  "whoami",
];
