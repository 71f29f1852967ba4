// The speech workers of one machine, by the metrics of an API process and the status pages of workers, both over sockets.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { checkResources } from '#operator/local/checks.ts';
import type { Child } from '#operator/local/child.ts';
import { parseText } from '#operator/local/documents.ts';
import type { Server as Declared } from '#operator/local/environment.ts';
import { toResources } from '#operator/local/resources.ts';
import { LocalSpeech, speechEnvironment } from '#operator/local/speech.ts';
import type { Subtitles } from '#operator/speech/reports.ts';

const servers: Server[] = [];
async function serving(pages: () => Record<string, string>): Promise<number> {
  const server = createServer((request, response) => {
    const text = pages()[request.url ?? ''];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

const child = (name: string, ports: { metricsPort?: number; ownPort?: number }): Child =>
  ({ state: 'ready', spec: { name }, ...ports }) as unknown as Child;

const loaded = (subtitles: string) =>
  toResources(
    parseText(
      `apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec: { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} }, ${subtitles === 'null' ? '' : `subtitles: ${subtitles}`} }
`,
      '/etc/foyer/home.yaml',
    ),
  ).resources;
const declared = (subtitles: string): Declared => loaded(subtitles).servers[0] as Declared;

describe('the speech workers of one machine', () => {
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('start when a request waits, and end after idleSeconds without one', async () => {
    let waiting = '';
    const api = child('api-1', { metricsPort: await serving(() => ({ '/metrics': waiting })) });
    let running: Child[] = [];
    const supervisor = { children: (role?: string) => (role === 'api' ? [api] : running) };
    let now = 0;
    const speech = new LocalSpeech(() => now);
    const server = declared('{ scaleToZero: true, idleSeconds: 10 }');
    const wanted = async (text: string): Promise<string[]> => {
      waiting = text;
      now += 6000;
      const specs = await speech.processes(server, {}, supervisor);
      running = specs.map(({ name }) => child(name, {}));
      return running.map(({ spec }) => spec.name);
    };
    expect(await wanted('foyer_speech_waiting 0\n')).to.deep.equal([]);
    expect(await wanted('foyer_speech_waiting 2\n')).to.deep.equal(['speech-1']);
    expect(await wanted(''), 'nothing is known').to.deep.equal(['speech-1']);
    expect(await wanted('foyer_speech_waiting 0\n')).to.deep.equal(['speech-1']);
    expect(await wanted('foyer_speech_waiting 0\n')).to.deep.equal([]);
    const three = await speech.processes(declared('{ replicas: 3 }'), {}, supervisor);
    expect(three.map(({ name }) => name)).to.deep.equal(['speech-1', 'speech-2', 'speech-3']);
    expect(await speech.processes(declared('null'), {}, supervisor), 'without spec.subtitles').to.deep.equal([]);
  });

  it('report through their own ports, and one that does not answer reports nothing', async () => {
    const status = { model: 'base', device: 'cpu', state: 'ready', reason: '', message: '', fellBack: false };
    const ownPort = await serving(() => ({ '/status': JSON.stringify(status) }));
    const children = [child('speech-1', { ownPort }), child('speech-2', { ownPort: 9 })];
    const { workers } = await new LocalSpeech().look({ children: () => children });
    expect(workers).to.have.length(1);
    expect(workers[0]).to.deep.include({ pod: 'speech-1', model: 'base', state: 'ready' });
  });

  it('get the stores of a decoder, the Python of the start, and the model of the volume', () => {
    const shared = { FOYER_DATABASE_URL: 'postgres://x', FOYER_OPERATOR_KEY_SHA256: 'x', PATH: '/bin' };
    const start = { FOYER_SUBTITLES_PYTHON: '/c/python3', FOYER_MODELS_DIR: '/c/models', HOME: '/h' };
    const environment = (text: string) => {
      const { spec, source } = declared(text);
      return speechEnvironment(spec.subtitles as Subtitles, { file: source.file, environment: shared, from: start });
    };
    expect(environment('{ language: de }')).to.deep.equal({
      FOYER_DATABASE_URL: 'postgres://x',
      FOYER_SETTINGS: '{}',
      PATH: '/bin',
      FOYER_SUBTITLES_PYTHON: '/c/python3',
      FOYER_MODELS_DIR: '/c/models',
      FOYER_SUBTITLES_MODEL: 'base',
      FOYER_SUBTITLES_DEVICE: 'cpu',
      FOYER_SUBTITLES_LANGUAGE: 'de',
    });
    const own = environment(
      '{ model: small, accelerator: { resourceName: gpu, kind: nvenc }, modelVolume: { hostPath: { path: ../m } } }',
    );
    expect(own).to.include({
      FOYER_MODELS_DIR: '/etc/m',
      FOYER_SUBTITLES_MODEL: 'small',
      FOYER_SUBTITLES_DEVICE: 'auto',
    });
  });

  it('take no model that one machine cannot reach', () => {
    const problems = (subtitles: string) =>
      checkResources(loaded(subtitles), new Map()).map(({ path, message }) => `${path}: ${message}`);
    const sha256 = 'a'.repeat(64);
    expect(problems(`{ modelObjects: { prefix: base, sha256: ${sha256} } }`)).to.deep.equal([
      'spec.subtitles.modelObjects: needs a cluster: use modelVolume with a hostPath',
    ]);
    expect(problems('{ modelVolume: { persistentVolumeClaim: { claimName: m } } }')[0]).to.contain('use hostPath');
    expect(problems('{ modelVolume: { hostPath: { path: /m } } }')).to.deep.equal([]);
  });
});
