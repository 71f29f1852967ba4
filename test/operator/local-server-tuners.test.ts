import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseText } from '#operator/local/documents.ts';
import { type Resources, toResources } from '#operator/local/resources.ts';
import { State } from '#operator/local/state.ts';
import { StatusFile } from '#operator/local/status-file.ts';
import { TunerReconciler } from '#operator/local/tuner-reconciler.ts';
import { LocalTuners } from '#operator/local/tuners.ts';
import { serverClient } from '#operator/server-api/server-client.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { serverText } from '#support/resource-text.ts';

const tuner = (more = ''): string => `---
apiVersion: v1
kind: Secret
metadata: { name: playlist }
stringData: { url: "http://tv.example/get.php?password=canary" }
---
apiVersion: foyer.media/v1alpha1
kind: TunerDevice
metadata: { name: cable }
spec:
  serverRef: { name: home }
  displayName: Cable
  source: { m3u: { urlSecretRef: { name: playlist, key: url }, maxStreams: 2 } }
  channels: { exclude: ['*shop*'] }
  ${more}
`;

describe('tuners of operator local in the server', function () {
  this.timeout(60_000);
  const dir = mkdtempSync(join(tmpdir(), 'foyer-server-tuners-'));
  const state = new State(dir);
  const place = {
    mediaId: (name: string) => state.mediaId(name),
    uidOf: (kind: string, name: string) => state.uidOf(kind, name),
  };
  let api: Api;
  let admin: Person;
  let rows: TunerReconciler;

  const load = (text: string): Resources => {
    const { resources, problems } = toResources(parseText(text, 'home.yaml'));
    expect(problems).to.deep.equal([]);
    return resources;
  };
  const pass = async (more?: string): Promise<Resources> => {
    const resources = load(serverText('') + (more === undefined ? '' : tuner(more)));
    await rows.pass(resources);
    return resources;
  };
  const tuners = async () => (await api.as(admin).listTuners()).body.items;

  before(async () => {
    api = await startApi();
    admin = await api.given.admin();
    rows = new TunerReconciler(serverClient(api.url.replace(/\/api\/v1$/, ''), api.operatorKey), place);
  });
  after(() => rmSync(dir, { recursive: true }));

  it('wait for a library of type livetv, and say so', async () => {
    const resources = await pass('');
    expect(await tuners()).to.deep.equal([]);
    const status = new StatusFile(dir, state);
    for (const resource of resources.tuners) status.put(resource);
    await new LocalTuners().report(status, resources, { children: [], synced: rows.known().synced });
    const [item] = status.ofKind('TunerDevice');
    const [ready] = (item?.status.conditions ?? []) as { type: string; status: string; reason: string }[];
    expect(ready).to.include({ type: 'Ready', status: 'False', reason: 'LibraryMissing' });
  });

  it('become tuners that their resource owns, follow it, and go with it', async () => {
    const library = await api.as(admin).createLibrary({ body: { name: 'TV', type: 'livetv', folders: [] } });
    await pass('');
    await pass('');
    const [made, ...others] = await tuners();
    expect(others).to.deep.equal([]);
    expect(made).to.deep.include({
      ...{ name: 'Cable', kind: 'm3u', slotCount: 2, libraryId: library.body.id, bufferMinutes: 60 },
      exclude: { groups: [], globs: ['*shop*'] },
    });
    expect(made?.managedFields).to.include.members(['name', 'url', 'slotCount', 'exclude', 'bufferMinutes']);
    expect(JSON.stringify(made)).not.to.include('canary');
    const before = await api.deps.db('jobs').where({ kind: 'live.scan' }).select('id');
    await pass('timeshift: { minutes: 30 }');
    await pass('timeshift: { minutes: 30 }');
    expect((await tuners())[0]).to.include({ id: made?.id, bufferMinutes: 30 });
    expect(await api.deps.db('jobs').where({ kind: 'live.scan' }).select('id')).to.deep.equal(before);
    await pass();
    expect(await tuners()).to.deep.equal([]);
  });

  it('that are added in the app get a process that knows its row', async () => {
    const [library] = (await api.as(admin).listLibraries()).body;
    const row = {
      id: '01900000-0000-7000-8000-00000000cccc',
      library_id: library?.id ?? '',
      name: 'Added',
      kind: 'm3u' as const,
    };
    await api.deps.db('live_tuners').insert(row);
    const resources = await pass();
    const [server] = resources.servers;
    if (!server) throw new Error('no server');
    const [spec, ...others] = new LocalTuners().processes(
      server,
      resources,
      rows.known({ FOYER_REDIS_URL: 'redis://x' }),
    );
    expect(others).to.deep.equal([]);
    expect(spec?.env).to.include({ FOYER_TUNER_ID: row.id, FOYER_REDIS_URL: 'redis://x' });
    await api.deps.db('live_tuners').where({ id: row.id }).update({ enabled: false });
    await pass();
    expect(new LocalTuners().processes(server, resources, rows.known())).to.deep.equal([]);
  });
});
