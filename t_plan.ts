import { loadProject } from "./services/ce/compose/load/load.ts";
import { planProject } from "./services/ce/compose/plan/plan.ts";
for (const svc of ["expose: ['1-12000'], ports: ['3000-9999:3000-9999']", "expose: ['1-24000']", "ports: ['1-24000:1-24000']"]) {
let t=performance.now();
const { project, errors } = await loadProject({ compose: `services: {web: {image: nginx, ${svc}}}`, name: "shop" });
console.log(errors[0]?.message, "load", performance.now()-t);
t=performance.now(); const j=JSON.stringify(project); console.log("json", j.length, performance.now()-t); t=performance.now(); JSON.parse(j); console.log("parse", performance.now()-t);
const c = {Id:"a",Name:"/shop-web-1",Image:"sha256:old",Config:{Image:"nginx",Labels:{"com.docker.compose.project":"shop","com.docker.compose.service":"web","com.docker.compose.container-number":"1"},Env:[]},State:{Running:true,Status:"running"},HostConfig:{NetworkMode:"shop_default"},Mounts:[],NetworkSettings:{Networks:{shop_default:{}}}} as any;
t=performance.now();
const p = planProject(project!, {containers:[c],images:new Map([["sha256:old",{}]]),imageIds:new Map([["nginx","sha256:old"]]),networks:new Set(),volumes:new Set()});
console.log("plan", performance.now()-t, p.changes.at(-1)?.reasons.length);
}
