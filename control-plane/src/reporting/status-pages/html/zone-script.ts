import { createHash } from 'node:crypto';

/**
 * The only script: where the reader's zone is another than that of the page, a button shows all times in it. Without it nothing is missing.
 * It reads no markup and loads nothing. It is small enough to stand in each document.
 */
export const zoneScript = `(d=>{
let o=Intl.DateTimeFormat().resolvedOptions().timeZone,p=d.getElementById("z"),c=p.dataset;
if(!o||o==c.z)return;
let f=Intl.DateTimeFormat(c.l,{day:"numeric",month:"short",year:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23",timeZone:o}),
a=[...d.querySelectorAll("time[datetime$=Z],.z")],t=a.map(e=>e.textContent),b=d.createElement("button"),s=false;
b.textContent=c.t+" "+o;
(b.onclick=e=>{
if(e){s=!s;a.forEach((e,i)=>e.textContent=s?e.dateTime?f.format(new Date(e.dateTime)):o:t[i])}
b.setAttribute("aria-pressed",s)
})();
p.append(" ",b)
})(document)`.replaceAll('\n', '');

/** By which the policy of a document lets it run. */
export const zoneScriptHash = `sha256-${createHash('sha256').update(zoneScript).digest('base64')}`;
