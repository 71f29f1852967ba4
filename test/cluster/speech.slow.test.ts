// The speech workers on a real cluster: none, one when a request waits, and none again; a model from the bucket and from a claim; a
// digest that is wrong, a file that is missing, and a GPU that is not there.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { images, node, UP_MS } from './support/cluster.ts';
import { fillClaim, type Home, startHome } from './support/home.ts';
import { SpeechDemand } from './support/speech-demand.ts';
import { until } from './support/until.ts';

const FILES = ['config.json', 'tokenizer.json', 'vocabulary.txt', 'model.bin'];
const GPU = 'nvidia.com/gpu';
const script = 'root=$PWD; . hack/install.sh; . hack/speech.sh; install_speech >&2; echo "$speech_home/models/base"';

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
    home = await startHome({
      name: 'speech',
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
});
