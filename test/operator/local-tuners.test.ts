import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseText } from '#operator/local/documents.ts';
import { workerProbe } from '#operator/local/observe.ts';
import { type Resources, toResources } from '#operator/local/resources.ts';
import { State } from '#operator/local/state.ts';
import { StatusFile } from '#operator/local/status-file.ts';
import { Supervisor } from '#operator/local/supervisor.ts';
import { LocalTuners } from '#operator/local/tuners.ts';
import { until } from '#operator/server-api/server-client.ts';
import { serverText } from '#support/resource-text.ts';

const SERVER = serverText('network: { allow: { live: [127.0.0.0/8] } }');
const tuner = (url: string): string => `---
apiVersion: v1
kind: Secret
metadata: { name: playlist }
stringData: { url: "${url}" }
---
apiVersion: foyer.media/v1alpha1
kind: TunerDevice
metadata: { name: roof }
spec:
  serverRef: { name: home }
  source: { m3u: { urlSecretRef: { name: playlist, key: url }, maxStreams: 2 } }
`;
const PLAYLIST = '#EXTM3U\n#EXTINF:-1,One\nhttp://tv.lan/1\n#EXTINF:-1,Two\nhttp://tv.lan/2\n';

describe('tuners of operator local', function () {
  this.timeout(60_000);
  const dir = mkdtempSync(join(tmpdir(), 'foyer-tuners-'));
  const state = new State(dir);
  const status = new StatusFile(dir, state);
  const tuners = new LocalTuners();
  const supervisor = new Supervisor({ dir, probes: { tuner: workerProbe() } });
  let provider: Server;
  let playlist = '';

  before(async () => {
    provider = createServer((_, response) => response.end(PLAYLIST)).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    playlist = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/list.m3u?password=canary-5`;
  });
  after(async () => {
    provider.close();
    await supervisor.stop();
    rmSync(dir, { recursive: true });
  });

  function load(text: string): Resources {
    const { resources, problems } = toResources(parseText(text, 'home.yaml'));
    expect(problems).to.deep.equal([]);
    return resources;
  }

  async function pass(resources: Resources): Promise<string> {
    const [server] = resources.servers;
    if (!server) throw new Error('no server');
    for (const one of resources.tuners) status.put(one);
    await supervisor.apply(tuners.processes(server, resources), ['tuner']);
    await tuners.report(status, resources, { children: supervisor.children('tuner'), synced: new Map() });
    status.save();
    const { conditions = [], ...rest } = status.get('TunerDevice', 'roof')?.status ?? {};
    const typed = conditions as { type: string; status: string; reason: string }[];
    return JSON.stringify({ ...rest, ...Object.fromEntries(typed.map(({ type, reason }) => [type, reason])) });
  }

  const becomes = async (resources: Resources, words: object): Promise<void> => {
    let last = '';
    const holds = async (): Promise<boolean> => {
      last = await pass(resources);
      return Object.entries(words).every(([key, value]) => last.includes(`"${key}":${JSON.stringify(value)}`));
    };
    expect(await until(holds, 30_000), last).to.equal(true);
  };

  it('run as processes that report on the device, until their resource is gone', async () => {
    const resources = load(SERVER + tuner(playlist));
    await becomes(resources, { Ready: 'AllReady', Reachable: 'Connected', GuideFresh: 'NoneAsked', channels: 2 });
    const [first] = supervisor.children('tuner');
    await pass(resources);
    expect(supervisor.children('tuner')[0], 'at rest nothing starts').to.equal(first);
    expect(readFileSync(join(dir, 'status.json'), 'utf8') + JSON.stringify(first?.spec.args)).to.not.include('canary');
    process.kill(first?.pid ?? 0, 'SIGKILL');
    await becomes(resources, { Ready: 'AllReady', channels: 2 });
    await pass({ ...resources, tuners: [] });
    expect(supervisor.children('tuner')).to.deep.equal([]);
  });

  it('report the fault of a device that does not answer', async () => {
    const gone = `http://127.0.0.1:1/list.m3u`;
    await becomes(load(SERVER + tuner(gone)), { Ready: 'DeviceUnreachable', Reachable: 'DeviceUnreachable' });
  });
});
