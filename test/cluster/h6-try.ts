import { setTimeout as sleep } from 'node:timers/promises';
import { Stage, serverOnStage, libraryOnStage, tunerOnStage } from './support/stage.ts';
import { endAll } from '#support/stores.ts';
const t0 = Date.now();
const log = (...a: unknown[]) => console.log(((Date.now() - t0) / 1000).toFixed(1), ...a);
const stage = await Stage.open();
log('open');
const ns = await stage.namespace('try', ['home']);
const inNs = (r: any) => ({ ...r, metadata: { ...r.metadata, namespace: ns } });
const mark = await stage.cluster.audit.mark();
const op = await stage.operator(ns);
await stage.cluster.kubectl.apply(inNs(serverOnStage('home')), inNs(libraryOnStage('films', 'home')), inNs(tunerOnStage('tv', 'home')));
log('applied');
for (let i = 0; i < 4; i++) {
  await sleep(2000);
  const out = [];
  for (const kind of ['mediaserver', 'library', 'tunerdevice'])
    for (const o of await stage.cluster.kubectl.list<any>(kind, ns)) out.push(o.metadata.name + ': ' + (o.status?.conditions ?? []).filter((c: any) => ['Ready', 'Progressing', 'Stalled', 'Reconciling','Degraded'].includes(c.type)).map((c: any) => `${c.type}=${c.status}/${c.reason}`).join(' '));
  log(op.alive, out.join(' | '));
}
log(op.lines.filter((l) => l.level !== 'info').map((l) => JSON.stringify(l)).join('\n'), op.alarms);
for (const o of await stage.cluster.kubectl.list<any>('mediaserver', ns)) log(JSON.stringify(o.status, null, 1));
const writes = await stage.cluster.audit.writes(mark, /foyer-operator$/);
log(writes.length, writes.map((w) => `${w.verb} ${w.resource}/${w.subresource} ${w.name} ${w.code}`).join('\n'));
await stage.close();
log('closed');
await endAll();
process.exit(0);
