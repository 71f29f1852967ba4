// At each stage of the life of a resource, the result of programs that wait for its status: kstatus, as Flux uses it,
// and `kubectl wait` agree with Ready. Every state between the stages is checked too.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { Controller, KubeObject } from '#operator/runtime/kube.ts';
import { Watched } from './mutations/watched.ts';
import { UP_MS } from './support/cluster.ts';
import { kstatusFaults, kstatusOf } from './support/kstatus.ts';
import { libraryOnStage, Stage, serverOnStage, tunerOnStage } from './support/stage.ts';
import { until } from './support/until.ts';

type Word = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

const NAMES = { MediaServer: 'home', Library: 'films', TunerDevice: 'tv' } as const;
type Kind = keyof typeof NAMES;
const KINDS = Object.keys(NAMES) as Kind[];
/** Only watched fields. */
const watching = (kind: Kind): Controller => ({ kind, watches: [], reconcile: () => Promise.resolve({}) });

describe('the status of resources', function () {
  this.timeout(300_000);
  let stage: Stage;
  let watched: Watched;
  let namespace = '';

  before(async function () {
    this.timeout(UP_MS);
    stage = await Stage.open();
    namespace = await stage.namespace('waits', ['home']);
    watched = new Watched(stage.rest, namespace, KINDS.map(watching));
    await watched.start();
  });
  after(async function () {
    this.timeout(180_000);
    await watched.stop();
    await stage.close();
  });

  const named = (kind: Kind) => ({ kind, name: NAMES[kind], namespace });
  const find = async (kind: Kind): Promise<KubeObject> => {
    const found = await stage.cluster.kubectl.find<KubeObject>(named(kind));
    if (!found) throw new Error(`no ${kind}`);
    return found;
  };
  const change = (kind: Kind, spec: object) => stage.cluster.kubectl.patch(named(kind), { spec });

  /** The status of the present resource; both are read until it stood still between the reads. */
  const verdict = (kind: Kind): Promise<{ word: string; waits: boolean; ready: boolean }> =>
    until(`${kind} stands still`, async () => {
      const object = await find(kind);
      const [word = ''] = await kstatusOf([object]);
      const answer = await stage.cluster.kubectl.attempt([
        ...['wait', `${kind}/${NAMES[kind]}`, '-n', namespace],
        ...['--for=condition=Ready', '--timeout=0'],
      ]);
      if ((await find(kind)).metadata.resourceVersion !== object.metadata.resourceVersion) return false;
      return { word, waits: answer.code === 0, ready: readyOf(object) };
    });

  /** All three reach and keep agreement for a moment: how soon they follow each other depends on the machine. */
  async function all(word: Word, ready: boolean, kinds: readonly Kind[] = KINDS): Promise<void> {
    const wanted = { word, waits: ready, ready };
    for (const kind of kinds) {
      let seen: object = {};
      await until(
        `${kind} is ${word}`,
        async () => {
          seen = await verdict(kind);
          return isDeepStrictEqual(seen, wanted);
        },
        90_000,
      ).catch(() => expect(seen, kind).to.deep.equal(wanted));
    }
  }

  it('is not as it should be before an operator has processed them', async () => {
    stage.folder('films', '/');
    const resources = [serverOnStage('home', { api: { replicas: 1 } }), libraryOnStage('films', 'home')];
    await stage.cluster.kubectl.apply(
      ...[...resources, tunerOnStage('tv', 'home')].map((one) => ({
        ...one,
        metadata: { ...one.metadata, namespace },
      })),
    );
    await all('InProgress', false);
  });

  it('is under way while their pods come up, and as it should be once these run', async () => {
    stage.hollow.stuck = /^home-(api|postgres)/;
    await stage.operator(namespace);
    await until(
      'it was observed',
      async () => ((await find('MediaServer')).status as Observed).observedGeneration === 1,
    );
    await all('InProgress', false, ['MediaServer']);
    stage.hollow.stuck = /^$/;
    await all('Current', true);
  });

  it('is under way while a change is, though the server serves', async () => {
    stage.hollow.stuck = /^home-workers/;
    await change('MediaServer', { workers: { resources: { requests: { cpu: '77m' } } } });
    await all('InProgress', true, ['MediaServer']);
    stage.hollow.stuck = /^$/;
    await all('Current', true);
  });

  it('is failed where an action is required, and as it should be after it', async () => {
    await change('MediaServer', { ownerSecretRef: { name: 'no-such-owner' } });
    await change('Library', { folders: [{ media: 'no-such-media', path: '/' }] });
    await change('TunerDevice', { source: { m3u: { url: null, urlSecretRef: { name: 'no-such-list' } } } });
    await all('Failed', true, ['MediaServer']); // running parts continue
    await all('Failed', false, ['Library', 'TunerDevice']);
    await change('MediaServer', { ownerSecretRef: null });
    await change('Library', { folders: [{ media: 'films', path: '/' }] });
    await change('TunerDevice', { source: { m3u: { url: 'http://tv.example/list.m3u', urlSecretRef: null } } });
    await all('Current', true);
  });

  it('is ending while they are deleted', async () => {
    const keep = { metadata: { finalizers: ['test.example/keep'] } };
    for (const kind of KINDS) {
      const { metadata } = await find(kind);
      keep.metadata.finalizers = ['test.example/keep', ...(metadata.finalizers ?? [])];
      await stage.cluster.kubectl.patch(named(kind), keep);
      await stage.cluster.kubectl.run(['delete', kind, NAMES[kind], '-n', namespace, '--wait=false']);
      await until(`${kind} ends`, async () => (await verdict(kind)).word === 'Terminating');
    }
    for (const kind of KINDS) await stage.cluster.kubectl.patch(named(kind), { metadata: { finalizers: null } });
  });

  it('reported so in every state between', async () => {
    expect(watched.states.length).to.be.greaterThan(30);
    expect(await kstatusFaults(watched.states)).to.deep.equal([]);
  });
});

interface Observed {
  observedGeneration?: number;
  conditions?: { type: string; status: string; observedGeneration?: number }[];
}

/** True of the newest spec. */
function readyOf({ metadata, status = {} }: KubeObject): boolean {
  const ready = (status as Observed).conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}
