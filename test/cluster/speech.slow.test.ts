// The speech workers on a real cluster: none, one when a request waits, and none again; a model from the bucket and from a claim; a
// digest that is wrong, a file that is missing, and a GPU that is not there.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { atEndOfRun, temporaryFolder } from '#support/stores.ts';
import { images, node, UP_MS } from './support/cluster.ts';
import { cordoned } from './support/cordon.ts';
import { fillClaim, type Home, startHome } from './support/home.ts';
import { SpeechDemand } from './support/speech-demand.ts';
import { until } from './support/until.ts';

const FILES = ['config.json', 'tokenizer.json', 'vocabulary.txt', 'model.bin'];
const GPU = 'nvidia.com/gpu';
const script = 'root=$PWD; . hack/install.sh; . hack/speech.sh; install_speech >&2; echo "$FOYER_MODELS_DIR/base"';

const SENTENCES = [
  'The people of this house like to watch films in the evening.',
  'On Sunday morning the children play in the garden behind the church.',
  'My brother bought three bottles of milk and a loaf of bread.',
  'The train to London leaves the station at seven in the morning.',
  'She opened the window because the kitchen was full of smoke.',
  'Winter came early that year, and the river was covered with ice.',
];

/** A film in which a voice says sentences, each of them in so many seconds. */
function spokenFilm(sentences: readonly string[], seconds: number): string {
  const file = join(temporaryFolder('spoken', atEndOfRun), 'spoken.mkv');
  const voices = sentences.flatMap((text) => ['-f', 'lavfi', '-i', `flite=text='${text}':voice=slt`]);
  const parts = sentences.map((_, at) => `[${at + 1}:a]apad=whole_dur=${seconds}[p${at}]`);
  const joined = `${parts.join(';')};${sentences.map((_, at) => `[p${at}]`).join('')}concat=n=${sentences.length}:v=0:a=1[a]`;
  const written = ['-filter_complex', joined, '-map', '0:v', '-map', '[a]', '-c:v', 'libx264', '-c:a', 'aac'];
  const picture = ['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=12:duration=${sentences.length * seconds}`];
  execFileSync('ffmpeg', ['-v', 'error', ...picture, ...voices, ...written, '-metadata:s:a:0', 'language=eng', file]);
  return file;
}

describe('speech workers', function () {
  this.timeout(240_000);
  let home: Home;
  let demand: SpeechDemand;
  let model: string;
  let sha256: string;

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  before(async function () {
    this.timeout(UP_MS);
    await node();
    model = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim();
    sha256 = createHash('sha256')
      .update(readFileSync(`${model}/model.bin`))
      .digest('hex');
    await images('subtitles');
    const modelObjects = { prefix: 'base/', sha256: 'f'.repeat(64) };
    const subtitles = { scaleToZero: true, idleSeconds: 10, modelObjects };
    const films = {
      'Spoken (2020).mkv': spokenFilm(SENTENCES.slice(0, 1), 12),
      'Spoken at length (2021).mkv': spokenFilm([...SENTENCES, ...SENTENCES, ...SENTENCES, ...SENTENCES], 10),
    };
    home = await startHome({
      name: 'speech',
      films,
      spec: { api: { replicas: 1 }, transcode: { warm: 0, max: 0 }, subtitles },
    });
    demand = await new SpeechDemand(home).start();
  });
  after(async function () {
    this.timeout(UP_MS);
    await home?.remove();
  });

  const speech = () => home.pods('subtitles');
  const message = async (): Promise<string> =>
    (await home.status()).conditions?.find(({ type }) => type === 'SubtitlesReady')?.message ?? '';
  const wantsGpu = ({ spec }: KubeObject): boolean => JSON.stringify(spec).includes(GPU);
  const noPod = () => until('no pod', async () => (await speech()).length === 0);

  /** Puts a file into the bucket by a pod that has the credentials. */
  async function upload(name: string): Promise<void> {
    const [api] = await home.pods('api');
    const text = `const { connectObjects } = await import('/app/api/platform/objects.ts');
      await connectObjects(process.env.FOYER_OBJECTS_URL).put('foyer-models', 'base/${name}', process.stdin); process.exit(0);`;
    const words = [
      'exec',
      '-i',
      api?.metadata.name ?? '',
      '-n',
      home.namespace,
      '--',
      'node',
      '--input-type=module',
      '-e',
      text,
    ];
    await home.kubectl.run(words, readFileSync(`${model}/${name}`));
  }

  it('are none while nothing waits', async () => {
    await home.reaches('SubtitlesReady', 'True ScaledToZero');
    expect(await speech()).to.deep.equal([]);
    expect((await home.status()).subtitles).to.deep.include({ workers: 0, waiting: 0 });
  });

  it('report a file that is missing, and a wrong digest, each until it is mended', async () => {
    await demand.set(1);
    await home.reaches('SubtitlesReady', 'False ModelMissing');
    expect(await message()).to.contain('base/model.bin');
    for (const name of FILES) await upload(name);
    await home.reaches('SubtitlesReady', 'False ModelInvalid');
    expect(await message()).to.contain(sha256);
    expect(await home.condition('Ready')).to.equal('True AllReady');
    expect(await home.condition('Stalled'), 'the server is whole without them').to.equal('undefined undefined');
    await home.change({ subtitles: { modelObjects: { sha256 } } });
    await home.reaches('SubtitlesReady', 'True Running');
    expect(await message()).to.contain('model base on the CPU');
    expect((await home.status()).subtitles).to.deep.include({ model: 'base', device: 'cpu', workers: 1, waiting: 1 });
  });

  it('end once nothing has waited for idleSeconds', async () => {
    await demand.set(0);
    await noPod();
    await home.reaches('SubtitlesReady', 'True ScaledToZero');
  });

  it('fall back to the CPU where no GPU comes', async () => {
    await home.change({ subtitles: { accelerator: { resourceName: GPU, kind: 'nvenc' } } });
    await demand.set(1);
    const [first] = await until('a pod', async () => {
      const pods = await speech();
      return pods.length > 0 && pods;
    });
    expect(first && wantsGpu(first), 'the GPU is tried first').to.equal(true);
    await home.reaches('SubtitlesReady', 'True FellBackToCPU');
    expect((await speech()).some(wantsGpu)).to.equal(false);
    await demand.set(0);
    await noPod();
  });

  it('load the model from a claim', async () => {
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'models', namespace: home.namespace },
    };
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const files = Object.fromEntries(FILES.map((name) => [`base/${name}`, `${model}/${name}`]));
    await fillClaim(home.kubectl, { ...claim, spec }, files);
    const modelVolume = { persistentVolumeClaim: { claimName: 'models' } };
    await home.change({ subtitles: { accelerator: null, modelObjects: null, modelVolume } });
    await demand.set(1);
    await home.reaches('SubtitlesReady', 'True Running');
    await demand.set(0);
    await noPod();
  });

  it('report that their pod fits on no node, until one is there', async () => {
    const uncordon = await cordoned(home.kubectl);
    try {
      await demand.set(1);
      await home.reaches('SubtitlesReady', 'False Unschedulable');
      expect(await home.condition('Ready')).to.equal('True AllReady');
    } finally {
      await uncordon();
    }
    await home.reaches('SubtitlesReady', 'True Running');
    await demand.set(0);
    await noPod();
  });

  interface Heard {
    state: string;
    progress: number;
    heardMs: number;
    attempts: number;
    subtitle?: { file: string };
  }

  /** The requests of a film, and its calls. */
  async function speechOf(title: string) {
    const film = (await home.films(2)).find((one) => one.title === title);
    const call = async (path: string, method = 'GET') => {
      const headers = { ...home.headers, 'content-type': 'application/json' };
      const body = method === 'POST' ? '{}' : null;
      const answer = await fetch(`${home.url}/api/v1/items/${film?.id}/subtitles/${path}`, { method, headers, body });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return answer;
    };
    const first = async () => ((await (await call('generated')).json()) as { items: Heard[] }).items[0];
    return { call, first };
  }

  it('hear a film that is requested, and end', async () => {
    await demand.set('real');
    const { call, first } = await speechOf('Spoken');
    await call('generate', 'POST');
    await until('a pod', async () => (await speech()).length === 1);
    await until('its end', async () => (await first())?.state === 'finished');
    await noPod();
    await home.reaches('SubtitlesReady', 'True ScaledToZero');
  });

  it('go on in another pod where the one that was deleted had got to', async () => {
    const { call, first } = await speechOf('Spoken at length');
    await call('generate', 'POST');
    const before = await until('a stretch that is kept', async () => {
      const found = await first();
      return found !== undefined && found.heardMs > 0 && found;
    });
    expect(before.state).to.equal('running');
    const [old] = await speech();
    const name = old?.metadata.name ?? '';
    await home.kubectl.run(['delete', 'pod', name, '-n', home.namespace, '--grace-period=0', '--force']);
    const heard: number[] = [];
    const done = await until(
      'its end',
      async () => {
        const found = await first();
        heard.push(found?.heardMs ?? 0);
        return ['finished', 'failed'].includes(found?.state ?? '') && found;
      },
      200_000,
    );
    expect(done.state).to.equal('finished');
    expect(Math.min(...heard), 'nothing that was heard is lost').to.be.at.least(before.heardMs);
    expect((await speech()).map(({ metadata }) => metadata.name)).to.not.include(name);
    const text = await (await call(done.subtitle?.file ?? '')).text();
    for (const word of ['evening', 'garden', 'milk', 'London', 'window', 'river'])
      expect(text.split(word).length - 1, `${word} is heard four times`).to.equal(4);
    await noPod();
  });
});
