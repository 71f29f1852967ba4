// The init container of a speech pod, as the program that it runs, with a real S3 server.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectObjects, type Objects } from '#platform/objects.ts';
import { startS3 } from '../../support/s3.ts';
import { eventually, temporaryFolder } from '../../support/stores.ts';

const weights = Buffer.alloc(3_000_000, 'weights');
const sha256 = createHash('sha256').update(weights).digest('hex');

describe('the model of a speech pod', function () {
  this.timeout(60_000);
  let url: string;
  let objects: Objects;
  let dir: string;
  let children: ChildProcess[] = [];
  const log = () => join(dir, 'termination-log');
  const message = () => readFileSync(log(), 'utf8');

  before(async () => {
    url = await startS3();
    objects = connectObjects(url);
    await objects.prepare(['foyer-models']);
  });
  beforeEach(async () => {
    dir = temporaryFolder('models');
    await objects.removePrefix('foyer-models', 'base/');
    await put('config.json', '{}');
    await put('tokenizer.json', '{}');
    await put('vocabulary.txt', 'a');
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children = [];
  });

  const put = (name: string, body: Buffer | string) => objects.put('foyer-models', `base/${name}`, body);
  function start(digest = sha256, objectsUrl = url): ChildProcess {
    const env = {
      PATH: process.env.PATH,
      FOYER_OBJECTS_URL: objectsUrl,
      FOYER_SUBTITLES_MODEL: 'base',
      FOYER_SUBTITLES_MODEL_PREFIX: 'base',
      FOYER_SUBTITLES_MODEL_SHA256: digest,
      FOYER_MODELS_DIR: dir,
      FOYER_TERMINATION_LOG: log(),
      FOYER_LOG_LEVEL: 'silent',
    };
    const child = spawn(process.execPath, ['workers/subtitles/bring-model.ts'], { env, stdio: 'inherit' });
    children.push(child);
    return child;
  }
  const code = async (child: ChildProcess): Promise<unknown> => (await once(child, 'exit'))[0];
  const model = () => (existsSync(join(dir, 'base')) ? readdirSync(join(dir, 'base')).sort() : []);

  it('is brought whole, and is not brought again', async () => {
    await put('model.bin', weights);
    await put('deeper/other.bin', 'not of this model');
    expect(await code(start())).to.equal(0);
    expect(model()).to.deep.equal(['config.json', 'model.bin', 'tokenizer.json', 'vocabulary.txt']);
    expect(readFileSync(join(dir, 'base/model.bin')).equals(weights)).to.equal(true);
    await objects.removePrefix('foyer-models', 'base/');
    expect(await code(start()), 'a restart of the pod').to.equal(0);
  });

  it('that lacks a file is reported as missing, and the next run goes on once it is uploaded', async () => {
    expect(await code(start())).to.equal(1);
    expect(message()).to.equal('ModelMissing: the bucket foyer-models has no base/model.bin: upload it');
    rmSync(log());
    const second = start();
    const ended = code(second);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect([second.exitCode, existsSync(log())], 'it waits, and says nothing again').to.deep.equal([null, false]);
    await put('model.bin', weights);
    expect(await ended).to.equal(0);
    expect(model()).to.include('model.bin');
  });

  it('with another digest is invalid, never in its place, and right once it is replaced', async () => {
    await put('model.bin', 'something else');
    expect(await code(start())).to.equal(1);
    expect(message()).to.match(/^ModelInvalid: base\/model\.bin .* has the SHA-256 \w{64}, and .* is /);
    expect(model()).to.deep.equal([]);
    const ended = code(start());
    await put('model.bin', weights);
    expect(await ended).to.equal(0);
    expect(model()).to.include('model.bin');
  });

  it('of a store that does not answer is a fault of its own', async () => {
    const child = start(sha256, 's3://a:b@127.0.0.1:9/');
    await eventually(async () => existsSync(log()), 30_000);
    expect(await code(child)).to.equal(1);
    expect(message()).to.match(/^ObjectsUnreachable: /);
  });
});
