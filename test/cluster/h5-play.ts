import { readFileSync } from 'node:fs';
import { HlsPlayer, RangePlayer } from './support/player.ts';
import { clientFor } from '#support/api.ts';
const h = JSON.parse(readFileSync('/tmp/h5/home.json','utf8'));
const c = clientFor(h.url, h.headers);
const id = h.films.find((f: any)=>f.title==='Big Buck Bunny').id;
const begin = async (v: any, b: any) => { const a = await clientFor(v.url, v.headers).startPlayback({ params: { id }, body: { startMs: 0, ...b } }); console.log(a.status, a.body.session?.decision?.method ?? a.body, a.body.session?.decision?.quality); return a.body.session; };
import { signIn } from '../real/household.ts';
const viewer = async (d: string) => ({ url: h.url, headers: await signIn(h.url, d) });
const [v1,v2,v3] = [await viewer('dev-one-0001'), await viewer('dev-two-0002'), await viewer('dev-thr-0003')];
const ps = [
 new HlsPlayer(v1, await begin(v1, { client: { builtIn: 'hls' } })).start(),
 new RangePlayer(v2, await begin(v2, { client: { builtIn: 'native' } }), { source: '/root/.cache/foyer/fixtures/real/video/bbb_full_720p.mp4', durationMs: 596_000 }).start(),
 new HlsPlayer(v3, await begin(v3, { client: { builtIn: 'hls' }, quality: process.argv[3] ?? '240p-0m4' })).start(),
];
for (let i=0;i<Number(process.argv[2] ?? 10);i++) { await new Promise(r=>setTimeout(r,2000)); console.log(ps.map(p=>`${p.constructor.name} pos ${Math.round(p.positionMs)} buf ${Math.round(p.bufferedMs)} stall ${p.stallMs} faults ${p.faults.length}`).join(' | ')); }
console.log(ps.flatMap(p=>p.faults));
await Promise.all(ps.map(p=>p.stop())); process.exit(0);
