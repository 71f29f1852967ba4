// Subtitles from speech while processes are killed at random moments: each film gets the text of an undisturbed run.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { FAKE_CHILD, FakeModel, signal } from '#support/speech-worker.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { randomOf } from '#support/timed-texts.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { Machine, print } from './machine.ts';

const FILMS = 5;
const STRIKES = 20;
/** Seconds that a stretch takes to hear. */
const SLOW = 2;

describe('hearing speech through faults', function () {
  this.timeout(900_000);
  const machine = new Machine({ apis: 1, warm: 0 });
  const model = new FakeModel({ slow: SLOW });
  const random = randomOf(19);
  const films: string[] = [];
  const python = process.env['FOYER_SUBTITLES_PYTHON'];

  before(async () => {
    const { real } = await fixtures();
    const reading = join(real, 'speech/two_cities.wav');
    const sound = join(temporaryFolder('reading'), 'reading.mka');
    const loop = ['-v', 'error', '-stream_loop', '5', '-i', reading, '-ac', '1', '-ar', '16000'];
    execFileSync('ffmpeg', [...loop, '-c:a', 'flac', sound]);
    for (let n = 0; n < FILMS; n += 1) {
      const path = join(machine.films, `Reading ${'ABCDE'[n]} (200${n}).mkv`);
      copyFileSync(sound, path);
      appendFileSync(path, Buffer.concat([Buffer.from([0xec, 0x84]), Buffer.from(`own${n}`)])); // equal files are one
    }
    chmodSync(model.modelsDir, 0o755);
    process.env['FOYER_SUBTITLES_PYTHON'] = FAKE_CHILD;
    await machine.start();
    const place = `{ hostPath: { path: ${model.modelsDir} } }`;
    const library = `---
apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: films }
spec: { serverRef: { name: home }, type: movies, folders: [{ media: media, path: /films }] }
`;
    machine.declare(`  subtitles: { model: base, scaleToZero: false, modelVolume: ${place} }\n`, library);
    const items = await eventually(async () => {
      const [found] = (await machine.owner.listLibraries()).body;
      if (!found) return undefined;
      const { body } = await machine.owner.listLibraryItems({
        params: { id: found.id },
        query: { sort: 'title' },
      });
      return body.items?.length === FILMS && body.items;
    }, 180_000);
    films.push(...items.map(({ id }) => id));
    const ready = async (): Promise<boolean> =>
      (await machine.owner.getSubtitleCapabilities({})).body.model?.state === 'ready';
    await eventually(ready, 120_000).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${machine.log('speech-1')}`);
    });
  });
  after(async () => {
    if (python === undefined) delete process.env['FOYER_SUBTITLES_PYTHON'];
    else process.env['FOYER_SUBTITLES_PYTHON'] = python;
    await machine.stop();
  });

  const request = async (itemId: string): Promise<void> => {
    const { status, body } = await machine.owner.generateSubtitles({
      params: { id: itemId },
      body: { language: 'en' },
    });
    expect(status, JSON.stringify(body)).to.equal(202);
  };
  /** The text, once it is whole; undefined while it is heard, or while a store is unavailable. */
  async function textOf(itemId: string): Promise<string | undefined> {
    const path = `/api/v1/items/${itemId}/subtitles`;
    const listed = await fetch(`${machine.url}${path}/generated`, { headers: machine.headers }).catch(() => undefined);
    if (!listed?.ok) return undefined;
    const { items } = (await listed.json()) as {
      items: { state: string; subtitle?: { id: string }; error?: object }[];
    };
    const [one] = items;
    expect(one?.state, JSON.stringify(one)).to.not.equal('failed');
    if (one?.state !== 'finished') return undefined;
    const text = await fetch(`${machine.url}${path}/${one.subtitle?.id}.srt`, { headers: machine.headers }).catch(
      () => undefined,
    );
    return text?.ok ? text.text() : undefined;
  }

  /** Kills the process that holds the model, which the worker starts again. */
  function killChild(): void {
    const pid = machine.pidOf('speech-1');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    for (const child of children)
      if (child && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(FAKE_CHILD))
        signal(Number(child), 'SIGKILL');
  }
  const strikes: Record<string, () => Promise<unknown>> = {
    worker: async () => machine.strike('speech-1'),
    child: async () => killChild(),
    Postgres: async () => machine.strike('postgres'),
    Redis: async () => machine.strike('redis'),
  };

  it('gives each film the text of an undisturbed run, and hears no stretch twice but those in hand', async () => {
    const [first = '', ...others] = films;
    await request(first);
    const undisturbed = await eventually(() => textOf(first), 180_000);
    expect(undisturbed.split('\n\n').length).to.be.greaterThan(20);
    const stretches = new Set(model.heard).size;
    let done = 0;
    for (const [n, film] of others.entries()) {
      const before = model.heard.length;
      await request(film);
      const text = eventually(() => textOf(film), 300_000);
      let own = 0;
      while (own < Math.ceil(STRIKES / others.length) && !(await textOf(film))) {
        await sleep(300 + random() * SLOW * 1000);
        const [name, strike] = Object.entries(strikes)[(done + n) % 4] ?? ['worker', strikes['worker']];
        await strike?.();
        print(`${name} killed`);
        own += 1;
        done += 1;
      }
      expect(await text, `film ${n + 1}`).to.equal(undisturbed);
      const heard = model.heard.slice(before);
      expect(new Set(heard).size, model.log.join('\n')).to.equal(stretches);
      expect(heard.length - stretches, 'heard again').to.be.at.most(own);
    }
    print(`${done} kills`);
    expect(done).to.be.at.least(STRIKES / 2);
  });
});
