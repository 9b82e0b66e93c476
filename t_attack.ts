import { HOSTILE_PROJECTS } from "./tests/acceptance/hostile_projects.ts";
const only = Deno.args[0];
const dataDir = await Deno.makeTempDir();
const child = new Deno.Command("/work/wt-loader/dist/longshore", { args: [], clearEnv: true, env: { PATH: Deno.env.get("PATH")!, HOME: "/root", HOST:"127.0.0.1", PORT:"0", DATA_DIR:dataDir, DOCKER_HOST:"unix:///nonexistent.sock", API_KEY:"k".repeat(40), RATE_LIMIT_PER_MINUTE:"0" }, stdout:"piped", stderr:"inherit"}).spawn();
const dec=new TextDecoder(); let out=""; let base="";
const rd = child.stdout.getReader();
while(!base){ const {value,done}=await rd.read(); if(done) break; out+=dec.decode(value); base=/listens on (\S+)/.exec(out)?.[1]??""; }
(async()=>{ while(true){ const {done}=await rd.read(); if(done) break; } })();
try {
const tok = (await (await fetch(base+"/auth/token",{method:"POST",headers:{"content-type":"application/json"},body:JSON.stringify({apiKey:"k".repeat(40)})})).json()).accessToken;
let worst=0; let stop=false;
const probe=(async()=>{ while(!stop){ const t=performance.now(); await (await fetch(base+"/livez")).text(); worst=Math.max(worst,performance.now()-t); await new Promise(r=>setTimeout(r,20)); } })();
const rss=()=>Number(/VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${child.pid}/status`))![1])/1024|0;
for (const [name,p] of Object.entries(HOSTILE_PROJECTS)) {
  if (only && !name.includes(only)) continue;
  worst=0; const t=performance.now();
  const r = await fetch(base+"/api/stacks/validate",{method:"POST",headers:{"content-type":"application/json",authorization:"Bearer "+tok},body:JSON.stringify(p)});
  const text=await r.text(); const ms=performance.now()-t|0;
  let msg=""; try { const b=JSON.parse(text); msg = b.error ?? (b.valid? "VALID" : JSON.stringify(b.errors[0])); } catch{ msg=text }
  console.log(String(ms).padStart(6), "livez", String(worst|0).padStart(5), "rss", rss(), r.status, String(text.length).padStart(8), name, "|", msg.slice(0,130));
}
stop=true; await probe;
} finally { child.kill("SIGTERM"); await child.status; await Deno.remove(dataDir,{recursive:true}); }
