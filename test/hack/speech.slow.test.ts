// Subtitles from speech on one machine: hack/start with an empty home and an empty cache, of which pip fills the part for speech.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { clientFor, type TestClient } from '#support/api.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';

/** Python packages of 270 MB are downloaded. */
const READY_MS = 10 * 60_000;
const OWNER = { username: 'ana', password: 'a good long one' };
const SENTENCE = 'The people of this house like to watch films in the evening.';

const resources = `apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec:
  api: { replicas: 1 }
  postgres: { managed: {} }
  redis: { managed: {} }
  objects: { managed: {} }
  media: [{ name: media, hostPath: { path: media }, readOnly: true }]
  transcode: { warm: 0, max: 1 }
  subtitles: { model: base, scaleToZero: true, idleSeconds: 10 }
---
apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: films }
spec: { serverRef: { name: home }, type: movies, folders: [{ media: media, path: /films }] }
`;

describe('hack/start with spec.subtitles and an empty home', function () {
  this.timeout(READY_MS + 300_000);
  const home = temporaryFolder('speech-home');
  const data = join(home, 'data');
  let operator: ChildProcess;
  let owner: TestClient;

  before(async () => {
    chmodSync(home, 0o711);
    const films = join(home, 'media/films/Spoken (2020)');
    mkdirSync(films, { recursive: true });
    const sources = [
      '-f',
      'lavfi',
      '-i',
      `flite=text='${SENTENCE}':voice=slt`,
      '-f',
      'lavfi',
      '-i',
      'color=s=320x180:r=5',
    ];
    const written = ['-t', '12', '-map', '1:v', '-map', '0:a', '-af', 'apad', '-c:v', 'libx264', '-c:a', 'aac'];
    const film = join(films, 'Spoken (2020).mkv');
    execFileSync('ffmpeg', ['-v', 'error', ...sources, ...written, '-metadata:s:a:0', 'language=eng', film]);
    writeFileSync(join(home, 'home.yaml'), resources);
    owner = await start();
  });
  after(async () => {
    if (!operator || operator.exitCode !== null) return;
    const gone = once(operator, 'exit');
    operator.kill('SIGTERM');
    await gone;
  });

  /** Starts the server and signs its owner in. */
  async function start(): Promise<TestClient> {
    const { XDG_CACHE_HOME: _, ...environment } = process.env;
    const args = ['--no-open', '--port', '0', '--data', data, '-f', join(home, 'home.yaml')];
    operator = spawn('hack/start', args, { env: { ...environment, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    for (const stream of [operator.stdout, operator.stderr])
      stream?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
    const [, url = '', code = ''] = await eventually(() => {
      if (operator.exitCode !== null) throw new Error(printed.slice(-3000));
      return /^ready (\S+)$[\s\S]*#claim=(\S+)$/m.exec(printed) ?? undefined;
    }, READY_MS);
    expect(printed).to.contain('downloads about 140 MB').and.to.contain('weights of Whisper base: 130 MB');
    const { ticket } = (await clientFor(url, {}).claimServer({ body: { code } })).body;
    await clientFor(url, { authorization: `Bearer ${ticket}` }).completeSetup({ body: OWNER });
    const { accessToken } = (await clientFor(url, { 'x-client-id': 'speech' }).login({ body: OWNER })).body;
    return clientFor(url, { authorization: `Bearer ${accessToken}`, 'x-client-id': 'speech' });
  }

  /** Whether a speech worker runs. */
  function isRunning(): boolean {
    const children = JSON.parse(readFileSync(join(data, 'run/children.json'), 'utf8')) as {
      name: string;
      pid: number;
    }[];
    return children.some(({ name, pid }) => name.startsWith('speech-') && existsSync(`/proc/${pid}`));
  }
  const capabilities = async () => (await owner.getSubtitleCapabilities({})).body;

  it('installs Python and the weights, and learns of the model by a worker that ends', async () => {
    const installed = join(home, '.cache/foyer/speech');
    expect(readdirSync(join(installed, 'models'))).to.deep.equal(['base']);
    const { generate, model } = await eventually(async () => {
      const found = await capabilities();
      return found.generate.allowed ? found : undefined;
    }, 120_000);
    expect(generate).to.deep.equal({ allowed: true });
    expect(model).to.deep.include({ name: 'base', device: 'cpu' });
    await eventually(() => !isRunning(), 120_000);
    expect((await capabilities()).model).to.include({ state: 'asleep' });
  });

  it('starts a worker for one request, which ends when nothing waits', async () => {
    const film = await eventually(
      async () => (await owner.listItems({ query: { type: 'movie' } })).body.items[0],
      120_000,
    );
    const params = { id: film.id };
    const made = await owner.generateSubtitles({ params, body: {} });
    expect(made.status, JSON.stringify(made.body)).to.equal(202);
    await eventually(() => isRunning(), 120_000);
    const { subtitle } = await eventually(async () => {
      const [request] = (await owner.listGeneratedSubtitles({ params })).body.items;
      expect(request?.state).to.not.equal('failed');
      return request?.state === 'finished' ? request : undefined;
    }, 300_000);
    const text = await owner.getSubtitleFile({ params: { ...params, file: subtitle?.file ?? '' }, query: {} });
    expect((text.body as unknown as Buffer).toString().replaceAll(/\s+/g, ' ')).to.match(
      /people of this house like to watch films/i,
    );
    await eventually(() => !isRunning(), 120_000);
    expect((await capabilities()).model).to.include({ state: 'asleep' });
  });
});
