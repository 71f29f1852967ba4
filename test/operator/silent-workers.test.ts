import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Child } from '#operator/local/child.ts';
import { TranscodeWorkers } from '#operator/local/transcode-workers.ts';
import type { PoolDemand } from '#operator/media-server/transcode-pool.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { SilentWorkers } from '#operator/silent-workers.ts';
import { atEnd } from '#support/stores.ts';
import { managed, running } from './media-server/specs.ts';

const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
const demand = (...pods: string[]): PoolDemand => ({
  waiting: 0,
  sessions: 0,
  workers: pods.map((pod) => ({ pod, encoder: 'libx264', gpu: false, slots: 2, used: 0, idleSeconds: 0 })),
});

describe('workers that run without a report', () => {
  const names = (seen: ReadonlySet<string>): string[] => [...seen];

  it('are silent after five minutes, and no more once they report', () => {
    const silent = new SilentWorkers();
    expect(names(silent.look(['a', 'b'], demand('b'), at(0)))).to.deep.equal([]);
    expect(names(silent.look(['a', 'b'], demand('b'), at(299)))).to.deep.equal([]);
    expect(names(silent.look(['a', 'b'], demand('b'), at(300)))).to.deep.equal(['a']);
    expect(names(silent.look(['a', 'b'], demand('a', 'b'), at(301)))).to.deep.equal([]);
    expect(names(silent.look(['a', 'b'], demand('b'), at(302)))).to.deep.equal([]);
  });

  it('are not silent while the server reports nothing, nor for the time that they did not run', () => {
    const silent = new SilentWorkers();
    silent.look(['a', 'b'], demand(), at(0));
    expect(names(silent.look(['a', 'b'], undefined, at(290)))).to.deep.equal([]);
    expect(names(silent.look(['a', 'b'], demand(), at(301)))).to.deep.equal([]);
    silent.look(['b'], demand(), at(302));
    expect(names(silent.look(['a', 'b'], demand(), at(601)))).to.deep.equal(['b']);
  });

  it('are ended on one machine, and others are started for the sessions that wait', async () => {
    const lines = ['foyer_transcode_waiting 1', 'foyer_transcode_sessions 0', 'foyer_transcode_workers 1'];
    const slots = 'foyer_transcode_worker_slots{pod="transcode-2-1f09ab",encoder="libx264",gpu="false"} 1';
    const used = 'foyer_transcode_worker_sessions{pod="transcode-2-1f09ab"} 1';
    const server = createServer((_, response) => response.end([...lines, slots, used, ''].join('\n')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const ended: string[] = [];
    const child = (name: string) =>
      ({ spec: { name }, state: 'ready', metricsPort: port, kill: () => ended.push(name) }) as unknown as Child;
    const all = { api: [child('api-1')], transcode: [child('transcode-1'), child('transcode-2')] };
    const supervisor = { children: (role?: string) => all[role as keyof typeof all] };
    const stores = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };
    const { transcode } = MediaServerSpec.parse({ ...stores, transcode: { sessionsPerJob: 1, warm: 0, max: 4 } });
    const warned: string[] = [];
    const workers = new TranscodeWorkers((line) => warned.push(line));
    expect(await workers.count(transcode, supervisor, at(0))).to.equal(2);
    expect(ended).to.deep.equal([]);
    expect(await workers.count(transcode, supervisor, at(300))).to.equal(3);
    expect(ended).to.deep.equal(['transcode-1']);
    expect(warned.join()).to.include('transcode-1');
  });

  it('have their Jobs made again in a cluster, with an Event', async () => {
    const here = await running(managed);
    const { connect } = here.tools;
    const metricsText = ['waiting 0', 'sessions 0', 'workers 0'].map((text) => `foyer_transcode_${text}\n`).join('');
    here.tools.connect = (server, key) => ({ ...connect(server, key), metrics: async () => metricsText });
    const jobs = (): string[] => here.names('Job').filter((name) => name.includes('transcode'));
    const run = (): void => {
      for (const pod of here.kube.list('Pod', 'media')) here.kube.put({ ...pod, status: { phase: 'Running' } });
    };
    const [first] = jobs();
    for (let minute = 0; minute < 5; minute += 1) {
      run();
      await here.pass();
      here.later(59_000);
      expect(jobs()).to.deep.equal([first]);
    }
    run();
    await here.pass();
    expect(jobs()).to.not.include(first);
    expect(here.kube.events.map(({ reason }) => reason)).to.include('WorkerSilent');
    await here.settle();
    expect(jobs()).to.have.length(1);
  });
});
